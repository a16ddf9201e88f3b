"""Every node test of ONNX, inferred from its inputs alone; see node_tests.py for the four ways."""

from __future__ import annotations

import pytest

pytest.importorskip("onnx")

from tests.infer.node_tests import KINDS, LIST, RUNS, collect, gaps_of, infer, read_list

DATA_DECIDES = {
    "ImageDecoder": "the encoded picture",
    "NonMaxSuppression": "boxes and scores",
    "OneHot": "depth, given as a float",
    "Range": "start, limit and delta, given as floats",
    "Resize": "scales, given as floats that are not exact",
    "StringNormalizer": "which words are stopwords",
    "StringSplit": "how many words each string has",
    "Unique": "how many elements are different",
    "Upsample": "scales, given as floats",
}
"""Operators whose output size depends on floats or on values, so that it stays unknown with all other inputs known."""


@pytest.fixture(scope="module")
def verdicts():
    """Each case with each run and its verdict."""
    return [(case, run, infer(case, run)) for case in collect() for run in RUNS]


def test_nothing_that_is_inferred_is_wrong(verdicts) -> None:
    assert len(verdicts) >= 4 * 1800
    wrong = [f"{case.name} [{run}] {line}" for case, run, verdict in verdicts for line in verdict.wrong]
    assert wrong == []


def test_with_every_other_input_known_only_floats_and_values_leave_a_size_open(verdicts) -> None:
    unknown = {
        case.operator.removesuffix(" (expanded)")
        for case, run, verdict in verdicts
        if run == "data" and verdict.unknown
    }
    assert unknown - set(DATA_DECIDES) - set(SEQUENCE_INPUTS) == set()


SEQUENCE_INPUTS = {
    "Identity": "the sequence that is passed in",
    "Loop": "the sequence that grows from trip to trip",
    "OptionalGetElement": "the sequence that is passed in",
    "SequenceInsert": "the length of the sequence that is passed in",
    "SequenceMap": "the length of the sequence that is passed in",
}
"""Operators whose tests pass sequences, of whose lengths and elements a declaration says nothing."""


def test_what_is_unknown_is_what_the_list_says(verdicts) -> None:
    found, listed = gaps_of(verdicts), read_list()
    grown, shrunk = [], []
    for key in {*found, *listed}:
        counts = found.get(key, (0, 0, 0))
        allowed = listed[key].counts if key in listed else (0, 0, 0)
        for kind, count, most in zip(KINDS, counts, allowed, strict=True):
            if count > most:
                grown.append(f"{key[1]} [{key[0]}]: {count} of kind {kind} unknown, at most {most} are listed")
            elif count < most:
                shrunk.append(f"{key[1]} [{key[0]}]: {count} of kind {kind} unknown, {most} are listed")
    assert sorted(grown) == []
    assert sorted(shrunk) == [], "well done: count anew with `python tests/infer/node_tests.py --write`"


def test_every_line_of_the_list_names_the_datum_that_decides() -> None:
    assert [key for key, gap in read_list().items() if len(gap.datum) < 3] == []
    assert LIST.read_text().count("|") > 100


def test_element_types_are_always_known(verdicts) -> None:
    unknown = {case.name for case, _, verdict in verdicts if any(kind == "type" for kind, _ in verdict.unknown)}
    assert unknown - WITHOUT_A_TYPE == set()


WITHOUT_A_TYPE = {"test_loop16_seq_none"}
"""An optional sequence is replaced by a sequence inside a loop: a type that ONNX's own rules do not allow."""
