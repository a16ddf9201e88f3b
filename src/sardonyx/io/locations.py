"""Read the entries of external_data: which file, where in it, how much of it. No file is touched here."""

from __future__ import annotations

import os
from functools import lru_cache

from sardonyx.errors import OnnxError, error
from sardonyx.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from sardonyx.wire.messages import StringStringEntryProto

KNOWN_KEYS = ("location", "offset", "length", "checksum")
"""The keys that onnx.proto names."""

LONGEST_PATH = 4096
"""Characters; no system opens a longer path, and to look at its folders one by one would take long."""

LARGEST_DIGITS = len(str(2**63 - 1))


@record
class Location:
    """What the entries of one tensor say."""

    path: str
    """The location as written."""
    parts: tuple[str, ...]
    """Its segments, without the empty ones and `.`; two spellings of one path have the same parts."""
    offset: int
    """Byte at which the values start."""
    length: int | None
    """Number of bytes, when the entries say it."""
    unknown: tuple[str, ...]
    """Keys that mean nothing, each once."""


def read_location(entries: Iterable[StringStringEntryProto]) -> Location:
    """Check the text of external_data entries (import document, section 5, 1 and 3).

    Raises:
        OnnxError: ExternalData, with code `external-key`, `external-location` or `external-number`.
    """
    found: dict[str, str] = {}
    unknown: dict[str, None] = {}
    for entry in entries:
        key = entry.key
        if key not in KNOWN_KEYS:
            unknown[key] = None
        elif key in found:
            raise error(
                "external-key",
                f"external_data gives {key!r} twice, {found[key]!r} and {entry.value!r}",
                hint="keep one of them",
            )
        else:
            found[key] = entry.value
    if "location" not in found:
        raise error("external-key", "external_data has no 'location', so no file to read from")
    path = found["location"]
    return Location(
        path,
        split_location(path),
        number(found.get("offset", "0"), "offset"),
        number(found["length"], "length") if "length" in found else None,
        tuple(unknown),
    )


@lru_cache(64)  # the tensors of a model name the same few files
def split_location(path: str) -> tuple[str, ...]:
    """Return the segments of a location, once it is known to be relative and to climb nowhere.

    The rules are the same on every platform, so that a model that loads here loads there.

    Raises:
        OnnxError: ExternalData, code `external-location`.
    """
    if not path:
        raise refused(path, "is empty")
    if len(path) > LONGEST_PATH:
        raise refused(f"{path[:100]}...", f"has {len(path):,} characters")
    if "\0" in path:
        raise refused(path, "contains a NUL character")
    if path[0] in "/\\":
        raise refused(path, "starts at the root of the file system")
    if path[1:2] == ":" and path[0].isascii() and path[0].isalpha():
        raise refused(path, "starts with a drive letter")
    if os.name == "nt" and (os.path.isabs(path) or os.path.splitdrive(path)[0]):
        raise refused(path, "is absolute on this platform")
    if ".." in path.replace("\\", "/").split("/"):
        raise refused(path, "climbs out of a folder with '..'")
    segments = path.replace(os.sep, "/").split("/")
    if segments[-1] in ("", "."):
        raise refused(path, "names a folder")
    return tuple(segment for segment in segments if segment not in ("", "."))


def refused(path: str, why: str) -> OnnxError:
    """Build the error for a location that may not be followed."""
    return error(
        "external-location",
        f"the location {path!r} {why}; it must be a path relative to the model's folder",
        hint="keep the data file beside the model and refer to it by its name",
    )


def number(text: str, key: str) -> int:
    """Read a non-negative decimal integer below 2^63.

    `int` alone would take signs, spaces, underscores and the digits of every script.

    Raises:
        OnnxError: ExternalData, code `external-number`.
    """
    if len(text) < LARGEST_DIGITS and text.isascii() and text.isdigit():
        return int(text)
    if not (text.isascii() and text.isdigit()):
        raise error("external-number", f"the {key} {text!r} of external_data is not a non-negative decimal integer")
    digits = text.lstrip("0") or "0"
    if len(digits) > LARGEST_DIGITS or int(digits) >= 1 << 63:
        raise error("external-number", f"the {key} {text!r} of external_data does not fit in 63 bits")
    return int(digits)
