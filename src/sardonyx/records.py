"""Declare the small classes that hold facts: slotted, quick to build, never changed after construction.

The type checker sees every record as frozen. At run time a record is an ordinary slotted class, since a truly frozen
one costs three to four times as much to build; with SARDONYX_FROZEN=1 in the environment the classes really refuse
assignment, and the whole test suite runs that way once. `dataclasses` would do the same job but takes longer to import
than a small model takes to load.
"""

from __future__ import annotations

import os
from types import MappingProxyType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from typing_extensions import dataclass_transform

    T = TypeVar("T")

    @dataclass_transform(frozen_default=True, eq_default=False)
    def record(cls: type[T]) -> type[T]: ...


FROZEN = os.environ.get("SARDONYX_FROZEN") == "1"


class FrozenError(AttributeError):
    """Raised under SARDONYX_FROZEN=1 when code assigns to a field of a record."""


def refuse_assignment(self: object, name: str, value: object) -> None:
    """Stand in for `__setattr__` of a record that is being frozen."""
    if name.startswith("_"):  # a cache: derived, never part of what the record says
        object.__setattr__(self, name, value)
        return
    raise FrozenError(f"{type(self).__name__}.{name} cannot be assigned: records never change")


def sealed(value: Any) -> Any:
    """Return a read-only view of a dictionary; anything else as it is."""
    return MappingProxyType(value) if type(value) is dict else value


def describe(self: Any) -> str:
    """Stand in for `__repr__`: the class name and every public field."""
    fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in type(self).__fields__ if not name.startswith("_"))
    return f"{type(self).__name__}({fields})"


def replace(self: Any, **changes: Any) -> Any:
    """Return a record like this one with some fields changed; caches start empty.

    An `origin` that is taken over says so from then on: the bytes it points at are no longer what the record says.
    """
    cls = type(self)
    origin = None if "origin" in changes else getattr(self, "origin", None)
    for name in cls.__public__:
        if name not in changes:
            changes[name] = getattr(self, name)
    if origin is not None:
        changes["origin"] = origin.changed()
    return cls(**changes)


def initializer(cls: type, fields: list[str], defaults: dict[str, Any]) -> Callable[..., None]:
    """Write and compile `__init__` for the given fields, in order."""
    arguments = ", ".join(f"{name}=default_{name}" if name in defaults else name for name in fields)
    if FROZEN:
        body = [f"    put(self, {name!r}, sealed({name}))" for name in fields]
    else:
        body = [f"    self.{name} = {name}" for name in fields]
    space: dict[str, Any] = {f"default_{name}": value for name, value in defaults.items()}
    space["put"], space["sealed"] = object.__setattr__, sealed
    exec(
        f"def __init__(self, {arguments}):\n" + "\n".join(body or ["    pass"]), space
    )  # our own field names, never input
    made: Callable[..., None] = space["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made


if not TYPE_CHECKING:

    def record(cls):
        """Turn an annotated class into a slotted record with `__init__`, `__repr__` and `replace`.

        Fields are the annotations in order, inherited ones first; a class attribute of the same name is the default.
        A field whose name starts with an underscore is a cache: it may be assigned, is not printed, and `replace`
        does not carry it over. Identity is equality unless the class defines `__eq__` itself.
        """
        fields, defaults = [], {}
        for base in reversed(cls.__mro__[1:]):
            for name in base.__dict__.get("__own_fields__", ()):
                fields.append(name)
                if name in base.__field_defaults__:
                    defaults[name] = base.__field_defaults__[name]
        own = [name for name in cls.__dict__.get("__annotations__", {}) if name not in fields]  # noqa: RUF063
        space = dict(cls.__dict__)
        for name in own:
            if name in space:
                defaults[name] = space.pop(name)
        fields += own
        for name in ("__dict__", "__weakref__"):
            space.pop(name, None)
        space["__slots__"] = tuple(own) + (("__weakref__",) if space.pop("__weakly__", False) else ())
        space["__own_fields__"] = tuple(own)
        space["__fields__"] = tuple(fields)
        space["__public__"] = tuple(name for name in fields if not name.startswith("_"))
        space["__match_args__"] = tuple(fields)
        space["__field_defaults__"] = defaults
        made = type(cls)(cls.__name__, cls.__bases__, space)
        made.__qualname__ = cls.__qualname__
        if "__init__" not in space:
            made.__init__ = initializer(cls, fields, defaults)
        if "__repr__" not in space:
            made.__repr__ = describe
        if "replace" not in space:
            made.replace = replace
        if FROZEN:
            made.__setattr__ = refuse_assignment
        return made
