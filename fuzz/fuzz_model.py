"""Fuzz the model reader: any bytes load or are refused with OnnxError, and what loads survives save and load."""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(include=["sardonyx"]):
    import sardonyx as sx

    EMPTY = sx.load(b"\x08\x08\x3a\x00")  # used here once, since modules are imported when they are first needed
    sx.check(EMPTY), sx.dump(EMPTY), sx.to_bytes(EMPTY), sx.check(b"\x00")

from mutate import mutate


def one_input(data: bytes) -> None:
    try:
        model = sx.load(data, external_data="lazy")
    except sx.OnnxError as problem:
        if not 0 <= (problem.offset or 0) <= len(data):
            raise AssertionError(f"offset {problem.offset} is outside the input") from problem
        if not sx.check(data, external_data="lazy"):
            raise AssertionError("load refuses what check finds clean") from problem
        return
    before = sx.dump(model)
    sx.check(model)
    saved = sx.to_bytes(model)
    after = sx.dump(sx.load(saved, external_data="lazy"))
    if before != after:
        raise AssertionError(f"the dump changed over save and load:\n{before}\n{after}")


def change(data: bytes, max_size: int, seed: int) -> bytes:
    return mutate(data, max_size, seed, lambda part, limit: atheris.Mutate(part, limit))


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input, custom_mutator=change)
    atheris.Fuzz()
