"""Rules for the operators of ONNX's own domains, one file per category."""

from importlib import import_module

MODULES = ("math",)
"""The rule files; each names its table `rules`."""

TABLES = tuple(import_module(f"sardonyx.ops.onnx.{name}").rules for name in MODULES)
