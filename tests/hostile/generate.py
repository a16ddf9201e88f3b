"""Build the hostile files, byte for byte: one file per way in which a model can be wrong.

A file's name is `<kind>-<case>.onnx`; the kind is what it must be refused with. Nothing here uses sardonyx or protobuf.

    python tests/hostile/generate.py            write tests/hostile/data anew
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from pathlib import Path

DATA = Path(__file__).resolve().parent / "data"

# Protobuf by hand


def varint(number: int) -> bytes:
    """Encode an integer, negative ones as 64-bit two's complement."""
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def key(field: int, wire: int) -> bytes:
    return varint(field << 3 | wire)


def number(field: int, value: int) -> bytes:
    return key(field, 0) + varint(value)


def block(field: int, *parts: bytes | str) -> bytes:
    """Encode a length-delimited field: a message, a string, bytes, a packed run."""
    payload = b"".join(part.encode() if isinstance(part, str) else part for part in parts)
    return key(field, 2) + varint(len(payload)) + payload


# The messages of ONNX, as far as they are needed; numbers are those of onnx.proto


def model(graph: bytes | None, ir_version: int | None = 8, opset: int = 18) -> bytes:
    parts = b"" if ir_version is None else number(1, ir_version)
    parts += b"" if graph is None else block(7, graph)
    return parts + block(8, number(2, opset))


def value(field: int, name: str) -> bytes:
    """A graph input (field 11) or output (field 12): float[2]."""
    return block(field, block(1, name), block(2, block(1, number(1, 1), block(2, block(1, number(1, 2))))))


def node(op_type: str, inputs: list[str], outputs: list[str], *rest: bytes) -> bytes:
    return block(
        1, *[block(1, name) for name in inputs], *[block(2, name) for name in outputs], block(4, op_type), *rest
    )


def relu(*rest: bytes, before: bytes = b"") -> bytes:
    """A graph that computes y = Relu(x), and whatever else is given."""
    return before + node("Relu", ["x"], ["y"]) + block(2, "g") + value(11, "x") + value(12, "y") + b"".join(rest)


def tensor(*rest: bytes, dims: tuple[int, ...] = (2,), data_type: int | None = 1, name: str = "w") -> bytes:
    """An initializer of the graph."""
    head = b"".join(number(1, dim) for dim in dims) + (b"" if data_type is None else number(2, data_type))
    return block(5, head, block(8, name), *rest)


def with_tensor(*rest: bytes, dims: tuple[int, ...] = (2,), data_type: int = 1) -> bytes:
    return model(relu(tensor(*rest, dims=dims, data_type=data_type)))


def attribute(name: str, *rest: bytes) -> bytes:
    return block(5, block(1, name), *rest)


def with_attribute(*rest: bytes) -> bytes:
    return model(relu(node("Op", ["x"], ["z"], attribute("a", *rest))))


def floats(*values: float) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


RAW = block(9, floats(1, 2))
VALID = model(relu())

# Malformed: the bytes are not protobuf


def malformed() -> dict[str, bytes]:
    nine = b"\xff" * 9
    return {
        "key-cut": VALID + b"\x80",
        "key-over-32-bits": VALID + varint(1 << 32) + b"\x00",
        "field-zero": VALID + b"\x02\x00",
        "group-open": VALID + key(100, 3),
        "group-close": VALID + key(100, 4),
        "group-balanced": VALID + key(100, 3) + number(1, 5) + key(100, 4),
        "wire-6": VALID + key(100, 6),
        "wire-7": VALID + key(100, 7),
        "varint-cut": VALID + key(100, 0) + b"\x80",
        "varint-tenth-byte-2": VALID + key(5, 0) + nine + b"\x02",
        "varint-eleven-bytes": VALID + key(5, 0) + b"\x80" * 10 + b"\x00",
        "fixed32-cut": VALID + key(100, 5) + b"\x00" * 3,
        "fixed64-cut": VALID + key(100, 1) + b"\x00" * 7,
        "length-past-end": VALID + key(2, 2) + varint(5) + b"abcd",
        "length-past-parent": model(relu() + key(10, 2) + varint(3) + b"ab"),
        "length-2p63": VALID + key(2, 2) + varint(1 << 63) + b"abcd",
        "length-max": VALID + key(2, 2) + varint((1 << 64) - 1) + b"abcd",
        "utf8-name": model(relu(block(2, b"caf\xe9"))),
        "utf8-surrogate": model(relu(node("Relu", ["x"], ["z"], block(3, b"\xed\xa0\x80")))),
        "packed-float-ragged": with_attribute(number(20, 6), block(7, floats(1) + b"\x00")),
        "packed-varint-cut": with_tensor(block(7, b"\x01\x80"), data_type=7),
        "trailing-byte": VALID + b"\x00",
    }


# InvalidModel: protobuf, but not a model


def invalid_model() -> dict[str, bytes]:
    external = number(14, 1) + block(13, block(1, "location"), block(2, "w.bin"))
    body = node("Relu", ["z"], ["inner"]) + block(2, "body") + value(12, "inner")
    stray = node("Relu", ["nowhere"], ["inner"]) + block(2, "body") + value(12, "inner")
    return {
        "empty": b"",
        "no-ir-version": model(relu(), ir_version=None),
        "ir-version-2": model(relu(), ir_version=2),
        "no-graph": model(None),
        "attr-no-type-no-value": with_attribute(),
        "attr-tensor-missing": with_attribute(number(20, 4)),
        "attr-graph-missing": with_attribute(number(20, 5)),
        "dim-negative": with_tensor(block(9), dims=(-1, 0)),
        "count-over-2p60": with_tensor(dims=(1 << 31, 1 << 30)),
        "raw-short": with_tensor(block(9, floats(1, 2)[:-1])),
        "raw-long": with_tensor(block(9, floats(1, 2) + b"\x00")),
        "raw-and-typed": with_tensor(RAW, block(4, floats(1, 2))),
        "two-typed": with_tensor(block(4, floats(1, 2)), block(7, b"\x01\x02")),
        "external-and-raw": with_tensor(RAW, external),
        "no-source": with_tensor(),
        "field-for-other-type": with_tensor(block(4, floats(1, 2)), data_type=10),
        "int32-count-odd": with_tensor(block(5, b"\x01\x02\x03"), data_type=6),
        "complex-odd": with_tensor(block(4, floats(1, 2, 3)), data_type=14),
        "string-count": with_tensor(block(6, "only one"), data_type=8),
        "string-raw": with_tensor(RAW, data_type=8),
        "input-unnamed": model(relu(value(11, ""))),
        "input-twice": model(relu(value(11, "x"))),
        "initializer-twice": model(relu(tensor(RAW), tensor(RAW))),
        "output-redefines-input": model(relu(node("Relu", ["y"], ["x"]))),
        "output-twice": model(relu(node("Abs", ["x"], ["y"]))),
        "input-undefined": model(relu(node("Relu", ["nowhere"], ["z"]))),
        "graph-output-undefined": model(relu(value(12, "nowhere"))),
        "domain-not-imported": model(relu(node("Relu", ["x"], ["z"], block(7, "com.example")))),
        "cycle-two": model(relu(node("Relu", ["b"], ["a"]), node("Relu", ["a"], ["b"]))),
        "cycle-self": model(relu(node("Relu", ["a"], ["a"]))),
        "cycle-through-subgraph": model(
            relu(node("If", ["x"], ["z"], attribute("then_branch", number(20, 5), block(6, body))))
        ),
        "subgraph-undefined-capture": model(
            relu(node("If", ["x"], ["z"], attribute("then_branch", number(20, 5), block(6, stray))))
        ),
    }


# Unsupported: a model, but beyond what is read


def nested(levels: int) -> bytes:
    """A graph with this many graphs inside each other."""
    graph = node("Relu", ["x"], ["y"]) + block(2, "innermost")
    for _ in range(levels):
        graph = node("If", ["x"], ["y"], attribute("then_branch", number(20, 5), block(6, graph)))
    return graph + value(11, "x")


def unsupported() -> dict[str, bytes]:
    return {
        "nesting-over-limit": model(nested(43)),
        "segment": with_tensor(RAW, block(3, number(1, 0), number(2, 2))),
        "tensor-over-2gib": with_tensor(dims=(1 << 29,)),
        "type-code-29": with_tensor(RAW, data_type=29),
    }


# ExternalData: a model whose weights are not where, or what, it says


def entries(**given: str) -> bytes:
    """A float[2] tensor whose data is in another file."""
    pairs = [block(13, block(1, name), block(2, text)) for name, text in given.items()]
    return with_tensor(number(14, 1), *pairs)


def external_data() -> dict[str, bytes]:
    return {
        "no-location": entries(offset="0"),
        "empty": entries(location=""),
        "nul": entries(location="w.bin\x00"),
        "absolute": entries(location="/w.bin"),
        "backslash": entries(location="\\w.bin"),
        "drive": entries(location="C:w.bin"),
        "dotdot": entries(location="sub/../../w.bin"),
        "dotdot-backslash": entries(location="sub\\..\\..\\w.bin"),
        "link-out": entries(location="link.bin"),
        "link-dir-out": entries(location="link/w.bin"),
        "folder": entries(location="folder"),
        "fifo": entries(location="fifo"),
        "missing": entries(location="missing.bin"),
        "offset-negative": entries(location="w.bin", offset="-1"),
        "offset-text": entries(location="w.bin", offset="0x4"),
        "offset-overflow": entries(location="w.bin", offset=str(1 << 63)),
        "length-mismatch": entries(location="w.bin", length="4"),
        "past-end": entries(location="w.bin", offset="12"),
        "no-directory": entries(location="w.bin"),
    }


def lay_out(folder: Path) -> None:
    """Put beside a model in `folder` all that the files of kind ExternalData may point at.

    `w.bin` (16 bytes) lies in the folder, beside it and in `outside`, so that a reader that follows a forbidden way
    finds a file there and does not fail for the wrong reason.
    """
    outside = folder.parent / "outside"
    for place in (folder, folder.parent, outside, folder / "sub"):
        place.mkdir(exist_ok=True)
        (place / "w.bin").write_bytes(bytes(16))
    (folder / "folder").mkdir()
    for odd in ("\\w.bin", "C:w.bin", "sub\\..\\..\\w.bin"):
        if os.name == "posix":  # there these are ordinary names of files in the folder
            (folder / odd).write_bytes(bytes(16))
    (folder / "link.bin").symlink_to(outside / "w.bin")
    (folder / "link").symlink_to(outside, target_is_directory=True)
    if hasattr(os, "mkfifo"):
        os.mkfifo(folder / "fifo")


KINDS: dict[str, Callable[[], dict[str, bytes]]] = {
    "malformed": malformed,
    "invalidmodel": invalid_model,
    "unsupported": unsupported,
    "externaldata": external_data,
}


def files() -> dict[str, bytes]:
    """Every hostile file: name to bytes."""
    return {f"{kind}-{case}.onnx": content for kind, cases in KINDS.items() for case, content in cases().items()}


def main() -> None:
    DATA.mkdir(exist_ok=True)
    for old in DATA.glob("*.onnx"):
        old.unlink()
    for name, content in files().items():
        (DATA / name).write_bytes(content)


if __name__ == "__main__":
    main()
