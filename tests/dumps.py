"""Compare the dump of sardonyx with the one made from the onnx package alone, line by line."""

from __future__ import annotations

import difflib
import json
import math
import re
from fractions import Fraction
from pathlib import Path

import onnx

import sardonyx as sx
from tests import onnx_dump

QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')


def same_line(ours: str, theirs: str) -> bool:
    """Whether two lines say the same; dims that are arithmetic may be written in another order."""
    if ours == theirs:
        return True
    left, right = QUOTED.findall(ours), QUOTED.findall(theirs)
    if QUOTED.sub("*", ours) != QUOTED.sub("*", theirs):
        return False
    return all(one == other or same_dim(one, other) for one, other in zip(left, right, strict=True))


def same_dim(ours: str, theirs: str) -> bool:
    """Whether two quoted texts are arithmetic that comes to the same."""
    return values(ours) is not None and values(ours) == values(theirs)


def values(quoted: str) -> list[Fraction] | None:
    """What an arithmetic dim comes to for a few sizes of its symbols, or None when it is not arithmetic."""
    text = json.loads(quoted)
    if not re.fullmatch(r"[\w\s+*/%(),-]+", text):
        return None
    names = sorted(set(re.findall(r"[A-Za-z_]\w*", text)) - {*FUNCTIONS})
    exact = re.sub(r"\b\d+\b", r"Fraction(\g<0>)", text)  # exporters write halves as 1/2
    found = []
    for seed in (3, 11, 28):
        sizes = {name: Fraction(seed * (at + 2) + at) for at, name in enumerate(names)}
        try:
            found.append(Fraction(eval(exact, {"__builtins__": {}, "Fraction": Fraction, **FUNCTIONS}, sizes)))
        except (SyntaxError, NameError, TypeError, ValueError, ZeroDivisionError):
            return None
    return found


FUNCTIONS = {"floor": math.floor, "ceiling": math.ceil, "Max": max, "Min": min, "max": max, "min": min}
"""What exporters call in dims."""


def differences(ours: str, theirs: str) -> list[str]:
    """The lines in which two dumps differ, at most ten, as a diff shows them."""
    left, right = ours.splitlines(), theirs.splitlines()
    if len(left) == len(right):
        pairs = [(one, other) for one, other in zip(left, right, strict=True) if not same_line(one, other)]
        return [line for one, other in pairs[:5] for line in (f"sardonyx: {one}", f"onnx:     {other}")]
    return list(difflib.unified_diff(left[:5000], right[:5000], "sardonyx", "onnx", lineterm="", n=0))[:10]


def faults(source: Path | bytes, *, external: bool = True) -> list[str]:
    """What is wrong with how sardonyx reads and writes a model, as sentences; empty when nothing is.

    It loads; its dump is the one that the onnx package gives; it saves; what was saved loads with an equal dump; and
    onnx reads what was saved as it reads the original. `external` says that data files are there.
    """
    folder = source.parent if isinstance(source, Path) else None
    data = source.read_bytes() if isinstance(source, Path) else source
    proto = onnx.load_model_from_string(data)
    with sx.load(source, external_data="strict" if external else "lazy") as model:
        ours = sx.dump(model)
        found = differences(ours, onnx_dump.dump(proto, folder))
        if found:
            return ["the dumps differ", *found]
        saved = sx.to_bytes(model)
    with sx.load(saved, external_data="lazy", external_data_dir=folder) as again:
        if sx.dump(again) != ours:
            return ["the saved model dumps otherwise", *differences(sx.dump(again), ours)]
    back = onnx.load_model_from_string(saved)
    if back != proto:
        return ["onnx reads the saved model otherwise than the original", *message_differences(proto, back)]
    return []


def message_differences(before: onnx.ModelProto, after: onnx.ModelProto) -> list[str]:
    """The lines in which two messages differ as text, at most ten."""
    left, right = str(before).splitlines()[:20000], str(after).splitlines()[:20000]
    lines = difflib.unified_diff(left, right, "original", "saved", lineterm="", n=1)
    return [line[:200] for _, line in zip(range(10), lines, strict=False)]
