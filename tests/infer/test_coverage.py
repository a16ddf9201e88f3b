"""How much is known of values, by what they are made of."""

from __future__ import annotations

import pytest

from tests.infer.models import infer


def counted(text):
    """Return the coverage of a model, and the names of the values that are not expressed."""
    coverage = infer(text).coverage()
    return coverage, [name for name, _ in coverage.unknown]


def test_a_sequence_counts_by_its_elements_and_its_length():
    coverage, unknown = counted(
        """g (float[a, 2] x, float[b] z, int64 at, seq(float[a, 3]) given) => (one) {
            one = SequenceConstruct (x, x)
            two = SequenceConstruct (x, z)
            cut = SplitToSequence <axis = 0> (x)
            part = SplitToSequence <axis = 0> (x, at)
            found = NonZero (x)
            data = SequenceConstruct (found, found)
            none = SequenceEmpty ()
        }"""
    )
    assert unknown == ["given", "part", "found", "data"]
    # x 2, z 1, at 0, given 2 + 1, one 2 * 2, two 2 + 1, cut 2 + 1, part 2 + 1, found 2, data 2 * 2, none 0
    assert (coverage.typed, coverage.ranked, coverage.dims) == (11, 11, 25)
    assert coverage.known == 25 - 1 - 2 - 1 - 2


def test_a_sequence_of_unknown_ranks_is_not_ranked():
    coverage, unknown = counted("g (seq(float[]) given, float[a] x) => (y) { y = Relu (x) }")
    assert (coverage.typed, coverage.ranked, coverage.expressed) == (3, 2, 2)
    assert unknown == ["given"]


@pytest.mark.parametrize(
    ("kind", "typed", "ranked", "expressed"),
    [
        ("optional(float[a])", 3, 3, 3),
        ("optional(float[?])", 3, 3, 2),
        ("optional(float[])", 3, 2, 2),
        ("optional(seq(float[a]))", 3, 3, 2),  # its length is not known
        ("map(string, float[a])", 3, 3, 3),
        ("map(string, float[?])", 3, 3, 2),
        ("map(string, seq(float[a]))", 3, 3, 2),
        ("map(int64, float[])", 3, 2, 2),
    ],
)
def test_an_optional_or_a_map_counts_by_what_it_holds(kind, typed, ranked, expressed):
    coverage, _ = counted(f"g ({kind} given, float[a] x) => (y) {{ y = Relu (x) }}")
    assert (coverage.typed, coverage.ranked, coverage.expressed) == (typed, ranked, expressed)


def test_an_optional_that_is_empty_has_no_shape_to_know():
    from sardonyx.dims import Scope
    from sardonyx.infer.inference import infer_shapes
    from sardonyx.ir.attrs import Attr, AttrKind
    from sardonyx.ir.graph import Graph, Model, Node, Value
    from sardonyx.ir.types import DType, SequenceType, TensorType

    empty = Value("o")
    kind = Attr("type", AttrKind.TYPE_PROTO, SequenceType(TensorType(DType.FLOAT, None)))
    model = Model(Graph("g", (), (empty,), (Node("Optional", (), (empty,), {"type": kind}),)), {"": 18}, scope=Scope())
    coverage = infer_shapes(model).coverage()
    assert (coverage.values, coverage.expressed, coverage.unknown) == (1, 1, ())


def test_what_holds_nothing_that_is_known_is_not_typed():
    coverage, unknown = counted(
        "g (float[a] x) => (o) { u = my.Strange (x)  s = SequenceConstruct (u)  o = Optional (s) }"
    )
    assert unknown == ["u", "s", "o"]
    assert (coverage.typed, coverage.expressed) == (1, 1)
