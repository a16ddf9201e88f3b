"""Check that every operator has a rule, and that what was never run is listed by name."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from sardonyx.ops import rules, signatures

FOLDERS = ("microsoft", "ml")
WITHOUT_RULE: tuple[tuple[str, str, int], ...] = ()
"""(domain, operator, version) that nothing is known of; the list only shrinks."""
WITHOUT_KERNEL = frozenset((
    "BiasAdd", "BiasDropout", "BiasSoftmax", "BiasSplitGelu", "BitmaskBiasDropout", "BitmaskDropout",
    "ComplexMul", "ComplexMulConj", "ConvStateReplay", "DecoderAttention", "DecoderMaskedSelfAttention",
    "DequantizeBFP", "DequantizeWithOrder", "DynamicSparseAttention", "EPContext", "FusedMatMulActivation",
    "GatedDeltaNetStateReplay", "GatedRelativePositionBias", "GemmFastGelu", "GemmFloat8", "GemmaRotaryEmbedding",
    "GroupNorm", "HyperConnectionLowRankMix", "Irfft", "IsAllFinite", "LongformerAttention", "Mamba2Verify",
    "MatMulBlockQuantizedFp4Weight", "MatMulBlockQuantizedFp8Weight", "MatMulNBitsMlp", "MatMulNBitsQLoRA",
    "MatMulNBitsQkv", "MatMulPacked", "MoEPacked", "MulInteger", "NhwcConv", "NhwcFusedConv", "PackedAttention",
    "PackedMultiHeadAttention", "PackedSparseAttentionIndexer", "PackedSparseAttentionIndexerMerge",
    "PagedAttention", "QLinearReduceMean", "QOrderedAttention", "QOrderedGelu", "QOrderedLayerNormalization",
    "QOrderedLongformerAttention", "QOrderedMatMul", "QuantizeBFP", "QuantizeWithOrder", "RMSNormRotary",
    "ReduceSumInteger", "RelativePositionBias", "RemovePadding", "RestorePadding", "Rfft", "RouterGateUpProj",
    "SkipGroupNorm", "Snpe", "SparseAttentionIndexer", "SparsePagedAttention", "SpeculativePrefixCommit",
    "SwiGLU", "TorchEmbedding",
))  # fmt: skip
"""Operators of com.microsoft without a CPU kernel: their rules follow the documentation alone."""
UNTRIED = frozenset(("MatMulFpQ4", "WhisperBeamSearch"))
"""Operators with a CPU kernel that no test runs: one needs newer hardware, the other two decoders."""


def words(functions):
    """Return every text that calls of some functions are given in the tests, or that a name for them is given."""
    found = set()
    for folder in FOLDERS:
        for path in (Path(__file__).parent / folder).glob("test_*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, (ast.Assign, ast.For)):
                    value = node.value if isinstance(node, ast.Assign) else node.iter
                    found.update(one.value for one in ast.walk(value) if isinstance(one, ast.Constant))
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in functions:
                    found.update(one.value for one in ast.walk(node) if isinstance(one, ast.Constant))
    return found


@pytest.mark.parametrize("domain", signatures.domains())
def test_every_version_of_every_operator_has_a_rule(domain):
    missing = [
        (domain, name, since)
        for name in signatures.operators(domain, standard=False)
        for since in signatures.versions(domain, name, standard=False)
        if rules.find_rule(domain, name, since) is None
    ]
    assert missing == [entry for entry in WITHOUT_RULE if entry[0] == domain]


def test_operators_with_a_kernel_are_run():
    run = words(("ran", "run_case", "blocks"))
    names = signatures.operators("com.microsoft") + signatures.operators("ai.onnx.ml")
    assert {name for name in names if name not in run} == WITHOUT_KERNEL | UNTRIED


def test_operators_without_a_kernel_are_at_least_checked():
    checked = words(("case", "ran"))
    assert not {name for name in WITHOUT_KERNEL | UNTRIED if name not in checked}


def test_the_runtime_has_no_kernel_for_what_is_not_run():
    state = pytest.importorskip("onnxruntime.capi.onnxruntime_pybind11_state")
    kernels = {kernel.op_name for kernel in state.get_all_opkernel_def() if kernel.domain == "com.microsoft"}
    assert not WITHOUT_KERNEL & kernels
