"""Real exported graphs: everything about every value is known, and true of every run."""

from __future__ import annotations

import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from sardonyx.dims import Expr, evaluate
from tests.infer import corpus, truth
from tests.infer.corpus import ASSUMED, entries, input_symbols, read_assumed, traces_or_skip

ENTRIES = {entry["name"]: entry for entry in entries()}

UNKNOWN = {
    "functions_nested": {
        "Loop: a cond that the body computes may end it early": "iterate_5:fn/means iterate_6 means",
    },
    "sequence_ops": {
        "SplitToSequence: pieces of 2 from n, of which the last may be shorter": (
            "splittosequence_21 pair0 pairs_out if_61:then_branch/t_seq"
        ),
        "If: flag decides which sequence is returned": "if_61 optional_63 optionalgetelement_67",
        "SequenceInsert: the list grows from trip to trip": "loop_56:body/acc_in loop_56:body/acc_out",
    },
    "shape_gym": {
        "NonZero: how many elements are not zero": "nonzero_569 transpose_571 out61",
        "Unique: how many elements are different": "unique_574 unique_575 unique_577 out62",
        "Compress: how many elements of condition are true": "compress_589 out64",
    },
    "skl_tfidf_text": {"Tokenizer: the most words in one text": "tokenized flattened1"},
    "ssd_detector_nms": {
        "NonMaxSuppression: boxes and scores": (
            "nonmaxsuppression_301 gather_305 gathernd_307 gathernd_309 topk_323 topk_324 gather_326 slice_334 "
            "squeeze_338 gather_340 roialign_342 roi_features greater_347 boxes scores"
        ),
        "NonZero: how many scores are over the threshold": "nonzero_349 confident",
    },
    "ts_greedy_loop": {
        "Loop: keys and values grow from trip to trip, and it may end early": (
            "keys /Loop_output_3 /Loop_output_4 tokens \\Loop_output_0:body/keys.15 \\Loop_output_0:body/vals.13 "
            "\\Loop_output_0:body/89 \\Loop_output_0:body//cell_1/Concat_output_0 "
            "\\Loop_output_0:body//cell_1/Concat_1_output_0 \\Loop_output_0:body//cell_1/Transpose_output_0 "
            "\\Loop_output_0:body//cell_1/MatMul_3_output_0 \\Loop_output_0:body//cell_1/Div_output_0 "
            "\\Loop_output_0:body//cell_1/Softmax_output_0 \\Loop_output_0:body//SequenceInsert_output_0"
        ),
    },
}
"""Model to values some size of which the data decides, by the operator that decides and the datum."""

NOT_OBSERVED = {
    "functions_nested": {
        # a branch that the attribute of the call rules out
        "denseact_1:fn/y:then_branch: dt_y",
        "denseact_1:fn/y:then_branch/dt_y:fn: x",
        "denseact_1:fn/y:then_branch/dt_y:fn: y",
        "iterate_5:fn/y:body/itb_denseact_1:fn/y:else_branch: de_y",
        "iterate_5:fn/y:body/itb_denseact_1:fn/y:else_branch/de_y:fn: x",
        "iterate_5:fn/y:body/itb_denseact_1:fn/y:else_branch/de_y:fn: y",
        "iterate_5:fn/y:body/itb_denseact_1:fn/y:else_branch/de_y:fn: l_constant_3",
        "iterate_5:fn/y:body/itb_denseact_1:fn/y:else_branch/de_y:fn: l_softmax_1",
    },
}
"""Values that no run shows."""


@pytest.fixture(scope="module")
def inferred():
    """Each model's inference, made when it is asked for."""
    found = {}

    def get(name):
        if name not in found:
            found[name] = corpus.infer(name)
        return found[name]

    return get


def test_there_is_a_corpus(shared) -> None:
    assert len(ENTRIES) >= 30
    assert {*UNKNOWN, *NOT_OBSERVED, *corpus.MORE_SIZES, *corpus.OTHER_VALUES} <= set(ENTRIES)


@pytest.mark.parametrize("name", ENTRIES)
def test_every_value_is_known_but_for_sizes_that_the_data_decides(name: str, inferred) -> None:
    inference = inferred(name)
    gaps = list(truth.gaps(inference, input_symbols(inference)))
    assert {what for _, _, what in gaps if not what.startswith(("dim ", "length"))} == set()
    listed = {value for values in UNKNOWN.get(name, {}).values() for value in values.split()}
    assert {where for where, _, _ in gaps} == listed
    operators = {node.op_type for frame, _ in truth.scopes_of(inference) for node in frame.graph.nodes}
    assert {decider.partition(":")[0] for decider in UNKNOWN.get(name, {})} <= operators


@pytest.mark.parametrize("name", ENTRIES)
def test_nothing_is_refused_in_a_model_that_runs(name: str, inferred) -> None:
    assert [str(issue) for issue in inferred(name).issues] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ENTRIES)
def test_what_is_inferred_is_what_runs_show(name: str, inferred) -> None:
    inference, seen = inferred(name), []
    for trace in traces_or_skip(ENTRIES[name]):
        found = truth.compare(inference, trace)
        assert found.wrong == [], f"with {trace.sizes}"
        assert trace.notes == []
        assert found.values > 0
        if name not in UNKNOWN:
            assert found.open_dims == 0
        seen.append(set(found.unobserved))
    assert len(seen) >= 3 or name in FEW_SIZES
    assert set.intersection(*seen) == NOT_OBSERVED.get(name, set())


@pytest.mark.slow
@pytest.mark.parametrize("name", ENTRIES)
def test_with_less_known_of_the_inputs_what_is_inferred_is_still_what_runs_show(name: str) -> None:
    trace = traces_or_skip(ENTRIES[name])[0]
    for less in (corpus.unnamed(name), corpus.infer(name, bind=sizes_of(name, trace))):
        found = truth.compare(less, trace)
        assert found.wrong == []
        assert found.values > 0


def sizes_of(name, trace):
    """Return the sizes of those symbols of a trace that an input declares as they stand."""
    named = {symbol.name for symbol in input_symbols(corpus.infer(name)) if not symbol.anonymous}
    return {symbol: size for symbol, size in trace.sizes.items() if symbol in named}


FEW_SIZES = {
    # slow ones, with the two sizes of the manifest
    "hybrid_gdn_prefill_l24", "hybrid_gdn_prefill_l24_fn", "qwen2_24l_dynamo_raw", "unet_dyn_hw_ts", "unet_dynamo_opt",
    # no size to choose
    "skl_dictvectorizer", "skl_forest_zipmap", "skl_tfidf_text",
}  # fmt: skip


@pytest.mark.parametrize("name", ENTRIES)
def test_what_is_assumed_is_listed(name: str, inferred) -> None:
    assumed = [corpus.assumption_text(one) for one in inferred(name).assumptions]
    assert assumed == read_assumed().get(name, []), (
        f"`python tests/infer/corpus.py --write` lists anew in {ASSUMED.name}"
    )


@pytest.mark.parametrize("name", ENTRIES)
def test_what_is_assumed_holds_for_every_size_of_the_manifest(name: str, inferred) -> None:
    for sizes in ENTRIES[name]["sizes"] or [{}]:
        for one in inferred(name).assumptions:
            a, b = number(one.a, sizes), number(one.b, sizes)
            if a is not None and b is not None:
                assert HOLDS[one.kind](a, b), f"{one} with {sizes}"


HOLDS = {
    "window-fits": lambda a, b: a >= b,
    "joined-dims": lambda a, b: a == b,
    "reshape-zero": lambda a, b: a != 0 or a == b,
    "divisor-not-zero": lambda a, b: a != 0,
}


def number(dim, sizes):
    """Evaluate a dim; None where it has a symbol that no input names."""
    if not isinstance(dim, Expr):
        return dim
    return None if any(symbol.name not in sizes for symbol in dim.symbols) else evaluate(dim, sizes)
