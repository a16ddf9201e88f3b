"""Whether a node means the same under another opset."""

from __future__ import annotations

from itertools import pairwise

import pytest

from sardonyx.ir.attrs import Attr, AttrKind, AttrRef
from sardonyx.ir.graph import Node, Value
from sardonyx.ops import compatible, difference, domains, latest_opset, operators, same_schema, versions
from sardonyx.ops.changes import CHANGES, REVIEWED, structural
from sardonyx.ops.signatures import signature


@pytest.mark.parametrize(
    ("op_type", "a", "b", "same"),
    [
        ("Mul", 14, 18, True),  # the case of a function at 14 in a model at 18
        ("Sqrt", 14, 18, True),
        ("Relu", 13, 14, False),
        ("Relu", 14, 13, False),
        ("Relu", 14, 28, True),
        ("Gelu", 19, 20, False),  # not there yet at 19
        ("Gelu", 18, 19, False),
        ("Nonsense", 18, 18, False),
        ("Relu", 28, 29, False),  # 29 may have a version of its own
        ("Relu", 29, 29, True),
    ],
)
def test_the_schema_is_the_same_when_the_same_version_is_in_force(op_type: str, a: int, b: int, same: bool) -> None:
    assert same_schema("", op_type, a, b) is same
    assert same_schema("ai.onnx", op_type, a, b) is same


@pytest.mark.parametrize(
    ("op_type", "a", "b"),
    [
        ("Add", 13, 14),  # more types
        ("Relu", 13, 14),
        ("Identity", 13, 25),
        ("Reshape", 13, 14),  # a new attribute whose default keeps the meaning
        ("Cast", 13, 19),
        ("Shape", 13, 15),
        ("Add", 7, 14),  # over more than one version
        ("Max", 6, 8),  # broadcasting, where equal shapes were needed before
        ("Concat", 4, 11),  # negative axes
        ("Pad", 13, 18),  # a new optional input at the end
        ("Gemm", 9, 11),  # an input that may now be absent
        ("Constant", 9, 11),  # an attribute that need no longer be there
        ("Loop", 1, 11),  # fewer inputs are enough
        ("BatchNormalization", 14, 15),  # inputs whose types may now differ, the output's still decided by X
        ("Pow", 7, 12),
        ("MaxPool", 1, 8),  # a new optional output
        ("Mul", 14, 18),
    ],
)
def test_a_version_that_allows_more_is_compatible(op_type: str, a: int, b: int) -> None:
    assert difference("", op_type, a, b) is None
    assert compatible("", op_type, a, b)


@pytest.mark.parametrize(
    ("op_type", "a", "b", "reason"),
    [
        ("ReduceMean", 13, 18, "attribute axes is gone"),
        ("Squeeze", 11, 13, "attribute axes is gone"),
        ("Unsqueeze", 11, 13, "input axes is new and single"),
        ("Softmax", 11, 13, "the default of attribute axis was 1 and is -1"),
        ("GridSample", 16, 20, "the default of attribute mode was b'bilinear' and is b'linear'"),
        ("Cast", 1, 6, "attribute to was STRING and is INT"),
        ("Concat", 1, 4, "attribute axis is now required"),
        ("Pad", 1, 2, "attribute paddings is gone"),
        ("Tile", 1, 6, "input axis is gone"),
        ("Resize", 10, 11, "input scales became roi"),
        ("Dropout", 7, 10, "output mask no longer allows tensor(double), tensor(float), tensor(float16)"),
        ("QuantizeLinear", 13, 19, "x and y_scale must now have one type"),
        ("QuantizeLinear", 10, 23, "x and y_scale must now have one type"),  # at 19 only, but nobody read further
        ("DequantizeLinear", 21, 23, "output y need no longer have the type of x_scale"),
        ("Upsample", 9, 10, "it is withdrawn from opset 10 on"),
        ("RoiAlign", 10, 16, "boxes are shifted by half a pixel unless the node asks for output_half_pixel"),
        ("OneHot", 9, 28, "a negative index counts from the end; it gave off_value everywhere before"),
        ("Relu", 14, 13, "opset 13 has version 13, which is older than 14"),
        ("Gelu", 19, 20, "opset 19 has no such operator"),
        ("Gelu", 20, 19, "opset 19 has no such operator"),
        ("Nonsense", 1, 1, "no version of it is known"),
        ("Relu", 28, 29, "opset 29 is newer than 28, the newest one known"),
    ],
)
def test_the_difference_says_what_changed(op_type: str, a: int, b: int, reason: str) -> None:
    assert difference("", op_type, a, b) == reason
    assert not compatible("", op_type, a, b)


def test_an_unknown_domain_is_never_compatible() -> None:
    assert difference("my.domain", "Relu", 1, 2) == "no version of it is known"


def test_a_version_that_nobody_has_compared_is_not_compatible(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(REVIEWED, "", 13)
    assert difference("", "Relu", 13, 14) == "version 14 has not been compared with the one before it"
    assert difference("", "Relu", 6, 13) is None


def node(op_type: str, inputs: int = 1, **attrs: Attr | AttrRef) -> Node:
    return Node(op_type, tuple(Value(f"x{i}") for i in range(inputs)), (Value("y"),), attrs)


def integer(name: str, value: int) -> Attr:
    return Attr(name, AttrKind.INT, value)


def text(name: str, value: bytes) -> Attr:
    return Attr(name, AttrKind.STRING, value)


CONCERNED = [
    (node("Attention", 4), 23, 24),
    (node("AveragePool", ceil_mode=integer("ceil_mode", 1)), 19, 22),
    (node("AveragePool", ceil_mode=AttrRef("ceil_mode", AttrKind.INT, "mode")), 19, 22),
    (node("MaxPool", ceil_mode=integer("ceil_mode", 1)), 12, 22),
    (node("Cast", to=integer("to", 18)), 19, 24),
    (node("CastLike", 2), 19, 24),
    (node("ConvTranspose", 2, output_shape=Attr("output_shape", AttrKind.INTS, (4, 4))), 1, 11),
    (node("ConvTranspose", 2, auto_pad=text("auto_pad", b"SAME_LOWER")), 1, 11),
    (Node("Dropout", (Value("x"), None, Value("training")), (Value("y"),)), 13, 22),
    (node("Resize", 4), 11, 13),
    (
        node(
            "Resize",
            3,
            coordinate_transformation_mode=text("coordinate_transformation_mode", b"tf_half_pixel_for_nn"),
        ),
        11,
        13,
    ),
    (node("Split"), 13, 18),
    (node("PRelu", 2), 6, 7),
]

UNCONCERNED = [
    (node("Attention", 3), 23, 24),
    (Node("Attention", (*map(Value, "qkv"), None, Value("past")), (Value("y"),)), 23, 24),
    (node("AveragePool", ceil_mode=integer("ceil_mode", 0)), 19, 22),
    (node("AveragePool"), 19, 22),
    (node("MaxPool"), 12, 22),
    (node("Cast", to=integer("to", 1)), 19, 24),
    (node("ConvTranspose", 2, auto_pad=text("auto_pad", b"VALID")), 1, 11),
    (node("Dropout", 3), 13, 22),
    (node("Resize", 3, coordinate_transformation_mode=text("coordinate_transformation_mode", b"asymmetric")), 11, 13),
    (node("Split", 2), 13, 18),
]


@pytest.mark.parametrize(("subject", "a", "b"), CONCERNED)
def test_a_change_that_concerns_the_node_is_found_with_it_and_without(subject: Node, a: int, b: int) -> None:
    assert not compatible("", subject.op_type, a, b)
    assert not compatible("", subject.op_type, a, b, subject)


@pytest.mark.parametrize(("subject", "a", "b"), UNCONCERNED)
def test_a_change_that_does_not_concern_the_node_is_no_obstacle_to_it(subject: Node, a: int, b: int) -> None:
    assert not compatible("", subject.op_type, a, b)
    assert compatible("", subject.op_type, a, b, subject)


def test_float_keys_of_a_label_encoder_are_compared_otherwise_from_version_4_on() -> None:
    floats = node("LabelEncoder", keys_floats=Attr("keys_floats", AttrKind.FLOATS, (1.0,)))
    strings = node("LabelEncoder", keys_strings=Attr("keys_strings", AttrKind.STRINGS, (b"a",)))
    assert not compatible("ai.onnx.ml", "LabelEncoder", 2, 4, floats)
    assert compatible("ai.onnx.ml", "LabelEncoder", 2, 4, strings)


def test_every_recorded_change_says_something_that_the_signatures_do_not() -> None:
    for change in CHANGES:
        known = versions(change.domain, change.op_type)
        before = known[known.index(change.since) - 1]
        old = signature(change.domain, change.op_type, before)
        new = signature(change.domain, change.op_type, change.since)
        assert old is not None
        assert new is not None
        assert structural(old, new) is None, change


def test_every_step_between_versions_was_reviewed() -> None:
    steps = {domain for domain in domains() for op in operators(domain) if len(versions(domain, op)) > 1}
    assert {domain: latest_opset(domain) for domain in steps} == REVIEWED


def test_a_way_is_compatible_when_every_step_on_it_is() -> None:
    for domain in domains():
        for op_type in operators(domain):
            known = versions(domain, op_type)
            steps = [compatible(domain, op_type, a, b) for a, b in pairwise(known)]
            for start in range(len(known)):
                for stop in range(start + 1, len(known)):
                    way = compatible(domain, op_type, known[start], known[stop])
                    assert way == all(steps[start:stop]), (op_type, known[start], known[stop])
