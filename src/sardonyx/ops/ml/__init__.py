"""Rules for the operators of ai.onnx.ml, what classical machine learning needs."""

from importlib import import_module

MODULES: tuple[str, ...] = ("features", "maps", "predictors")
"""The rule files; each names its table `rules`."""

TABLES = tuple(import_module(f"sardonyx.ops.ml.{name}").rules for name in MODULES)
