"""Rules for the com.microsoft operators that onnxruntime registers."""

from importlib import import_module

MODULES: tuple[str, ...] = ()
"""The rule files; each names its table `rules`."""

TABLES = tuple(import_module(f"sardonyx.ops.microsoft.{name}").rules for name in MODULES)
