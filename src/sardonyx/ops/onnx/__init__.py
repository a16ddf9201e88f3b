"""Rules for the operators of ONNX's own domains, one file per category."""

from importlib import import_module

MODULES: tuple[str, ...] = (
    "activations",
    "attention",
    "casting",
    "controlflow",
    "convolution",
    "generator",
    "image",
    "logical",
    "losses",
    "math",
    "normalization",
    "optional",
    "pooling",
    "preview",
    "products",
    "quantization",
    "reduction",
    "resize",
    "rnn",
    "scan",
    "scatter",
    "sequence",
    "signal",
    "tensor_index",
    "tensor_parts",
    "tensor_shape",
    "text",
    "training",
)
"""The rule files; each names its table `rules`."""

TABLES = tuple(import_module(f"sardonyx.ops.onnx.{name}").rules for name in MODULES)
