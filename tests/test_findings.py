"""What the fuzzer found: each input once broke a claim of fuzz/README.md."""

from __future__ import annotations

import gc

import pytest

import sardonyx as sx
from tests.hostile.generate import attribute, block, model, node, number, relu, tensor, value
from tests.rich import tensor_type


def test_values_without_a_name_in_a_graph_and_in_its_body_are_both_reported() -> None:
    body = node("Relu", ["x"], ["inner"]) + block(2, "body") + value(11, "") + value(12, "inner")
    graph = relu(node("Op", ["x"], ["z"], attribute("body", number(20, 5), block(6, body))), value(11, ""))
    codes = [issue.code for issue in sx.check(model(graph))]
    assert codes.count("input-unnamed") == 2


def test_what_a_body_says_of_a_captured_output_is_no_fact_about_the_value() -> None:
    told = block(12, block(1, "x"), block(2, tensor_type(3, 9)))
    body = node("Relu", ["x"], ["r"]) + block(2, "body") + told
    graph = sx.load(model(relu(node("If", ["x"], ["z"], attribute("g", block(6, body)))))).graph
    assert str(graph.type(graph.inputs[0])) == "tensor(float)[2]"


def test_two_defaults_for_one_attribute_of_a_function_are_a_fault_of_the_function() -> None:
    default = block(11, block(1, "k"), number(20, 2), number(3, 1))
    data = model(relu()) + block(25, block(1, "F"), block(10, "org"), default, default)
    (function,) = sx.load(data).functions.values()
    with pytest.raises(sx.OnnxError) as caught:
        _ = function.graph
    assert caught.value.code == "attribute-twice"


def test_dims_whose_product_has_thousands_of_digits_are_refused_like_any_that_are_too_large() -> None:
    dims = (2**62,) * 1000
    with pytest.raises(sx.OnnxError) as caught:
        sx.load(model(relu(tensor(dims=dims))))
    assert caught.value.code == "too-many-elements"
    (empty,) = sx.load(model(relu(tensor(dims=(*dims, 0))))).graph.initializers.values()
    assert empty.size == 0


@pytest.mark.parametrize("data_type", [1, 8, 22])
@pytest.mark.parametrize("dims", [(2**62, 2**62, 0), (1,) * 65 + (0,)], ids=["huge", "many"])
def test_a_shape_that_numpy_cannot_hold_is_unsupported_and_no_surprise(dims: tuple[int, ...], data_type: int) -> None:
    (empty,) = sx.load(model(relu(tensor(dims=dims, data_type=data_type)))).graph.initializers.values()
    with pytest.raises(sx.OnnxError) as caught:
        empty.numpy()
    assert (caught.value.code, caught.value.place.value) == ("array-shape", "w")


def test_a_bool_scalar_of_2_is_an_array_of_true() -> None:
    (two,) = sx.load(model(relu(tensor(block(9, b"\x02"), dims=(), data_type=9)))).graph.initializers.values()
    array = two.numpy()
    assert (array.shape, array.dtype.name, bool(array)) == ((), "bool", True)


def test_checking_one_model_again_and_again_keeps_nothing() -> None:
    untyped = model(relu(node("Unknown", ["x"], ["u"]), node("Relu", ["u"], ["z"]), block(13, block(1, "u"))))

    def objects_after(rounds: int) -> int:
        for _ in range(rounds):
            sx.check(untyped)
        gc.collect()
        return len(gc.get_objects())

    before = objects_after(20)
    assert objects_after(200) < before + 100


@pytest.mark.parametrize(
    ("op_type", "inputs", "attributes"),
    [
        ("Unsqueeze", ["x", "axes"], b""),
        ("Squeeze", ["x", "axes"], b""),
        ("ReduceSum", ["x", "axes"], attribute("keepdims", number(20, 2), number(3, 0))),
        ("Resize", ["any", "", "scales"], b""),
        ("AffineGrid", ["any", "axes"], b""),
        ("AffineGrid", ["theta", "any"], b""),
        ("Upsample", ["any", "scales"], b""),
        ("Reshape", ["x", "axes"], b""),
        ("Expand", ["x", "axes"], b""),
        ("Tile", ["x", "axes"], b""),
        ("Pad", ["any", "axes"], b""),
        ("ConstantOfShape", ["axes"], b""),
        ("Slice", ["any", "axes", "axes"], b""),
    ],
)
def test_a_length_of_two_thousand_million_is_no_rank(op_type: str, inputs: list[str], attributes: bytes) -> None:
    most = 2**31 - 1
    given = {
        "axes": tensor_type(7, most),
        "scales": tensor_type(1, most),
        "theta": tensor_type(1, 2, most, 3),
        "any": b"",
    }
    declared = [block(11, block(1, name), block(2, known)) for name, known in given.items()]
    data = model(relu(node(op_type, inputs, ["z"], attributes), *declared), opset=9 if op_type == "Upsample" else 21)
    graph = sx.infer_shapes(sx.load(data)).model.graph
    (made,) = graph.nodes[1].outputs
    shape = getattr(graph.type(made), "shape", None)
    assert shape is None or len(shape) < 100
