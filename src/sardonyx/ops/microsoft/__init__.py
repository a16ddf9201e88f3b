"""Rules for the operators that onnxruntime registers: com.microsoft, com.microsoft.nchwc, and its own in ONNX's domain.

What these operators do is known from their documentation and from running them. Those that the runtime cannot run on
a CPU follow the documentation alone; `WITHOUT_KERNEL` in tests/ops/test_coverage.py lists them.
"""

from importlib import import_module

MODULES: tuple[str, ...] = (
    "attention",
    "caches",
    "elementwise",
    "hashing",
    "indexers",
    "legacy",
    "moe",
    "nchwc",
    "norm",
    "opaque",
    "packed",
    "products",
    "quant",
    "recurrent",
    "search",
    "tensors",
    "windows",
)
"""The rule files; each names its table `rules`."""

TABLES = tuple(import_module(f"sardonyx.ops.microsoft.{name}").rules for name in MODULES)
