"""Records: slotted, printed by their fields, derived by `replace`, and really frozen on demand."""

from __future__ import annotations

import subprocess
import sys

import pytest

from sardonyx.records import FROZEN, FrozenError, record, replace


@record
class Point:
    x: int
    y: int = 2
    _length: float | None = None


@record
class Point3(Point):
    z: int = 3


@record
class Same:
    key: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.key == self.key

    def __hash__(self) -> int:
        return hash(self.key)


def test_fields_are_taken_in_order_or_by_name() -> None:
    assert (Point(1).x, Point(1).y) == (1, 2)
    assert (Point(y=5, x=4).x, Point(4, 5).y) == (4, 5)
    with pytest.raises(TypeError):
        Point()


def test_inherited_fields_come_first() -> None:
    assert repr(Point3(1, 5, z=7)) == "Point3(x=1, y=5, z=7)"


def test_a_record_has_no_room_for_other_fields() -> None:
    with pytest.raises(AttributeError):
        Point(1).other = 3
    assert not hasattr(Point(1), "__dict__")


def test_records_are_equal_only_to_themselves_unless_they_say_otherwise() -> None:
    one = Point(1)
    assert one == one
    assert one != Point(1)
    assert Same("a") == Same("a")


def test_replace_changes_what_is_named_and_starts_caches_empty() -> None:
    one = Point(1, 2)
    one._length = 2.2
    other = replace(one, y=9)
    assert (other.x, other.y, other._length) == (1, 9, None)
    assert (one.y, one._length) == (2, 2.2)
    with pytest.raises(TypeError):
        replace(one, w=1)


def test_records_match_by_position() -> None:
    match Point3(1, 2, z=3):
        case Point3(x, y):
            assert (x, y) == (1, 2)


@pytest.mark.skipif(FROZEN, reason="the suite is running frozen already")
def test_with_the_switch_a_record_refuses_assignment_but_for_caches() -> None:
    code = (
        "from sardonyx.records import record, FrozenError\n"
        "@record\n"
        "class Point:\n"
        "    x: int\n"
        "    _cache: int | None = None\n"
        "point = Point(1)\n"
        "point._cache = 5\n"
        "try:\n"
        "    point.x = 2\n"
        "except FrozenError as refused:\n"
        "    print(point.x, point._cache, refused)\n"
    )
    shown = subprocess.run(
        [sys.executable, "-c", "from __future__ import annotations\n" + code],
        env={"SARDONYX_FROZEN": "1", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert shown == "1 5 Point.x cannot be assigned: records never change\n"


def test_a_frozen_error_is_an_attribute_error() -> None:
    assert issubclass(FrozenError, AttributeError)
