"""`sardonyx where`."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from tests.cli.runs import sardonyx


def test_a_number_is_shown_with_its_field(small: Path) -> None:
    ran = sardonyx("where", small, 1)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (
        "byte 1 (0x1) is 0x09\n"
        "  path     ModelProto.ir_version\n"
        "  what     the value of a field\n"
        "  message  ModelProto\n"
        "  field    ir_version, number 1\n"
        "  type     int64\n"
        "  span     bytes 0 to 2, content from 1 (1 byte)\n"
        "  value    9\n"
    )


def test_a_name_deep_inside_is_found_from_its_offset(small: Path) -> None:
    offset = small.read_bytes().index(b"Add")
    ran = sardonyx("where", small, offset, "--json")
    assert ran.json["path"] == "ModelProto.graph.node[0].op_type"
    assert ran.json["part"] == "payload"
    assert ran.json["value"] == "'Add'"
    assert (ran.json["start"], ran.json["payload"], ran.json["end"]) == (offset - 2, offset, offset + 3)


def test_an_offset_may_be_hexadecimal(small: Path) -> None:
    assert sardonyx("where", small, "0x1") == sardonyx("where", small, "1")


def test_the_file_may_come_from_standard_input(small: Path) -> None:
    ran = sardonyx("where", "-", 1, stdin=small.read_bytes())
    assert (ran.code, ran.err, ran.out) == (0, "", sardonyx("where", small, 1).out)


def test_a_damaged_file_is_read_up_to_the_damage(cut_short: Path) -> None:
    ran = sardonyx("where", cut_short, 4990)
    assert ran.code == 0
    assert "  path     ModelProto.graph.initializer[6].raw_data\n" in ran.out
    assert "  damage   the length of this field cannot be read\n" in ran.out


@pytest.mark.parametrize("offset", ["abc", "1.5", "-1"])
def test_what_is_no_offset_is_wrong_usage(small: Path, offset: str) -> None:
    assert sardonyx("where", small, "--", offset).code == 2


def test_an_offset_past_the_end_is_wrong_usage_and_says_how_long_the_file_is(small: Path) -> None:
    size = small.stat().st_size
    ran = sardonyx("where", small, size)
    assert ran.code == 2
    assert f"{size} bytes" in ran.err


def test_an_empty_file_has_no_bytes(tmp_path: Path) -> None:
    path = tmp_path / "empty.onnx"
    path.write_bytes(b"")
    assert sardonyx("where", path, 0).code == 2


def test_a_missing_file_gives_status_3(tmp_path: Path) -> None:
    ran = sardonyx("where", tmp_path / "nowhere.onnx", 0, "--json")
    assert ran.code == 3
    assert ran.json["error"]["kind"] == "Io"


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "-1"),  # ir_version
        (b"\x12\x04caf\xe9", "'caf\\\\xe9'"),  # producer_name, not UTF-8
        (b"\x12\x28" + b"x" * 40, "'" + "x" * 32 + "...'"),
        (b"\xc5\x3e" + struct.pack("<f", 1.5), "0x3fc00000"),  # unknown field 1000, four bytes
        (b"\xc2\x3e\x02\x01\x02", "01 02"),  # unknown field 1000, two bytes
    ],
)
def test_values_are_previewed_on_one_line(tmp_path: Path, data: bytes, value: str) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(data)
    assert sardonyx("where", path, len(data) - 1, "--json").json["value"] == value
