"""Rules for the ai.onnx.ml operators."""

from __future__ import annotations

from sardonyx.ops.rules import Rules

rules = Rules("ai.onnx.ml")
TABLES = (rules,)
