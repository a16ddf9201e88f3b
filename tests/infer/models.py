"""Write small models for tests of inference, and read what was inferred of them."""

from __future__ import annotations

from sardonyx.infer.inference import Inference, infer_shapes
from sardonyx.ir.text import parse_model

HEAD = '<ir_version: 10, opset_import: ["" : 21, "my" : 1]>\n'


def model(text, head=HEAD):
    """Return the model that a text stands for; `head` is put before it unless it has one of its own."""
    return parse_model(text if text.lstrip().startswith("<") else head + text)


def infer(text, **options) -> Inference:
    """Infer the types of a model in text form."""
    return infer_shapes(model(text), **options)


def types(inference, *steps):
    """Return the types of a frame as text, by name."""
    return {name: str(kind) for name, kind in inference.frame(*steps).types.items()}


def shown(text, *names, **options):
    """Return the inferred types of some values of the main graph as text."""
    found = types(infer(text, **options))
    wanted = [found.get(name) for name in names]
    return wanted[0] if len(wanted) == 1 else wanted


def codes(inference):
    """Return the codes of the issues."""
    return [issue.code for issue in inference.issues]
