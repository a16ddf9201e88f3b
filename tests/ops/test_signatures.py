"""The signatures of operators: which one is in force, and what it says."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import pytest

from sardonyx.ir.attrs import AttrKind
from sardonyx.ir.types import DType
from sardonyx.ops import domains, latest_opset, operators, signature, versions
from sardonyx.ops.signature_table import ONNX_VERSION, ONNXRUNTIME_VERSION
from sardonyx.ops.signatures import AttributeSignature, Formal, Signature, attribute, formal


def found(domain: str, op_type: str, opset: int) -> Signature:
    known = signature(domain, op_type, opset)
    assert known is not None
    return known


@pytest.mark.parametrize(
    ("opset", "since"), [(1, 1), (5, 1), (6, 6), (10, 6), (11, 11), (12, 12), (13, 13), (28, 13), (99, 13)]
)
def test_the_version_in_force_is_the_newest_one_that_is_not_newer_than_the_opset(opset: int, since: int) -> None:
    assert found("", "Clip", opset).since_version == since


@pytest.mark.parametrize(
    ("domain", "op_type", "opset"),
    [("", "Gelu", 19), ("", "Clip", 0), ("", "Nonsense", 28), ("my.domain", "Clip", 13), ("ai.onnx.ml", "Clip", 5)],
)
def test_an_operator_that_an_opset_lacks_has_no_signature(domain: str, op_type: str, opset: int) -> None:
    assert signature(domain, op_type, opset) is None


def test_the_two_spellings_of_the_default_domain_are_one() -> None:
    assert signature("ai.onnx", "Clip", 13) is signature("", "Clip", 13)
    assert versions("ai.onnx", "Clip") == versions("", "Clip") == (1, 6, 11, 12, 13)
    assert operators("ai.onnx") == operators("")
    assert latest_opset("ai.onnx") == latest_opset("") == 28


def test_domains_and_their_newest_opsets() -> None:
    assert {domain: latest_opset(domain) for domain in domains()} == {
        "": 28,
        "ai.onnx.ml": 5,
        "ai.onnx.preview": 1,
        "ai.onnx.preview.training": 1,
        "com.microsoft": 1,
        "com.microsoft.nchwc": 1,
    }
    assert latest_opset("my.domain") is None
    assert operators("my.domain") == ()
    assert versions("", "Nonsense") == ()


def test_parameters_keep_their_order_names_options_and_types() -> None:
    conv = found("", "Conv", 11)
    floats = frozenset({"tensor(float16)", "tensor(float)", "tensor(double)"})
    assert [(f.name, f.option, f.type_str, f.types) for f in conv.inputs] == [
        ("X", "single", "T", floats),
        ("W", "single", "T", floats),
        ("B", "optional", "T", floats),
    ]
    assert [(f.name, f.option) for f in conv.outputs] == [("Y", "single")]
    assert conv.type_constraints == {"T": floats}
    assert (conv.min_inputs, conv.max_inputs, conv.min_outputs, conv.max_outputs) == (2, 3, 1, 1)


def test_a_parameter_may_have_a_type_of_its_own() -> None:
    shape = found("", "Reshape", 14).inputs[1]
    assert (shape.type_str, shape.types) == ("tensor(int64)", frozenset({"tensor(int64)"}))


def test_a_variadic_parameter_repeats_without_end() -> None:
    loop = found("", "Loop", 11)
    assert [(f.name, f.option, f.homogeneous, f.min_arity) for f in loop.inputs] == [
        ("M", "optional", True, 1),
        ("cond", "optional", True, 1),
        ("v_initial", "variadic", False, 0),
    ]
    assert (loop.min_inputs, loop.max_inputs, loop.min_outputs, loop.max_outputs) == (2, None, 1, None)
    assert loop.input(0) is loop.inputs[0]
    assert loop.input(2) is loop.input(40) is loop.inputs[2]
    assert loop.output(7) is loop.outputs[0]


def test_there_is_no_parameter_beyond_the_last_one_that_does_not_repeat() -> None:
    conv = found("", "Conv", 11)
    assert conv.input(2) is conv.inputs[2]
    assert conv.input(3) is None
    assert conv.output(1) is None
    assert found("", "Constant", 13).input(0) is None


def test_attributes_have_the_value_that_a_file_would_hold_as_default() -> None:
    pool = found("", "AveragePool", 22).attributes
    assert describe(pool["auto_pad"]) == ("auto_pad", AttrKind.STRING, False, b"NOTSET")
    assert describe(pool["ceil_mode"]) == ("ceil_mode", AttrKind.INT, False, 0)
    assert describe(pool["kernel_shape"]) == ("kernel_shape", AttrKind.INTS, True, None)
    assert describe(pool["pads"]) == ("pads", AttrKind.INTS, False, None)
    assert found("", "LayerNormalization", 17).attributes["epsilon"].default == 9.999999747378752e-06  # 1e-5 in float32
    assert found("", "RNN", 14).attributes["activations"].default == (b"Tanh", b"Tanh")
    assert found("", "MeanVarianceNormalization", 13).attributes["axes"].default == (0, 2, 3)
    assert found("", "If", 13).attributes["then_branch"].kind is AttrKind.GRAPH


def describe(known: AttributeSignature) -> tuple[object, ...]:
    return known.name, known.kind, known.required, known.default


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("X:T", ("X", "single", "T", True, 1)),
        ("X:T1?", ("X", "optional", "T1", True, 1)),
        ("X:T1*", ("X", "variadic", "T1", True, 1)),
        ("X:T1~2", ("X", "variadic", "T1", False, 2)),
        ("X:tensor(int64)*0", ("X", "variadic", "tensor(int64)", True, 0)),
    ],
)
def test_a_parameter_reads_as_it_is_written(text: str, expected: tuple[object, ...]) -> None:
    known: Formal = formal(text, {})
    assert (known.name, known.option, known.type_str, known.homogeneous, known.min_arity) == expected


def test_an_attribute_reads_as_it_is_written() -> None:
    assert describe(attribute("alphas:FLOATS=0.5,-0.0")) == ("alphas", AttrKind.FLOATS, False, (0.5, -0.0))
    assert describe(attribute("body:GRAPH!")) == ("body", AttrKind.GRAPH, True, None)
    assert describe(attribute("mode:STRING=")) == ("mode", AttrKind.STRING, False, b"")


def test_withdrawn_operators_say_so_from_their_last_version_on() -> None:
    assert not found("", "Upsample", 9).deprecated
    assert found("", "Upsample", 10).deprecated
    assert found("", "Upsample", 28).deprecated


def test_operators_that_functions_define_say_how() -> None:
    assert found("", "LayerNormalization", 17).function == "by-node"
    assert found("", "HardSwish", 14).function == "fixed"
    assert found("", "Conv", 11).function == ""


def test_contrib_operators_of_onnxruntime_are_known() -> None:
    attention = found("com.microsoft", "MultiHeadAttention", 1)
    assert not attention.standard
    assert attention.attributes["num_heads"].required
    assert len(operators("com.microsoft")) >= 150
    assert versions("com.microsoft", "MultiHeadAttention") == (1,)


def test_what_only_onnxruntime_puts_into_the_default_domain_is_found_but_not_listed() -> None:
    assert not found("", "SimplifiedLayerNormalization", 14).standard
    assert "SimplifiedLayerNormalization" not in operators("")
    assert "SimplifiedLayerNormalization" in operators("", standard=False)
    assert versions("", "SimplifiedLayerNormalization") == ()
    assert not found("", "LayerNormalization", 16).standard
    assert found("", "LayerNormalization", 17).standard
    assert versions("", "LayerNormalization") == (17,)
    assert versions("", "LayerNormalization", standard=False) == (1, 17)


def test_mappings_of_a_signature_cannot_be_written() -> None:
    with pytest.raises(TypeError):
        found("", "Conv", 11).attributes["x"] = AttributeSignature("x", AttrKind.INT)  # type: ignore[index]


def test_types_are_spelled_as_the_types_of_the_graph_are() -> None:
    elements = {kind.text for kind in DType} - {"undefined"}
    pattern = re.compile(r"(?:seq|optional|tensor|sparse_tensor|map)\(|[a-z0-9_]+|[,)]")
    spelled = set()
    for known in every():
        for kind in {kind for f in (*known.inputs, *known.outputs) for kind in f.types}:
            words = pattern.findall(kind)
            assert "".join(words) == kind
            spelled |= {word for word in words if word[-1] not in "(,)"}
    assert spelled <= elements
    assert found("ai.onnx.ml", "CastMap", 1).inputs[0].types >= {"map(int64,tensor(float))"}  # as MapType.type_str
    assert {"float", "bfloat16", "float8e4m3fnuz", "int4", "float6e2m3"} <= spelled


def every() -> list[Signature]:
    return [
        found(domain, op_type, since)
        for domain in domains()
        for op_type in operators(domain, standard=False)
        for since in versions(domain, op_type, standard=False)
    ]


def test_the_table_is_not_read_before_it_is_asked() -> None:
    code = "import sys, sardonyx, sardonyx.ops; print('sardonyx.ops.signature_table' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"


# The packages themselves, read independently of the generator.


def test_every_signature_says_what_onnx_says() -> None:
    onnx = pytest.importorskip("onnx")
    if onnx.__version__ != ONNX_VERSION:
        pytest.skip(f"the table is from onnx {ONNX_VERSION}, installed is {onnx.__version__}")
    for schema in onnx.defs.get_all_schemas_with_history():
        known = found(schema.domain, schema.name, schema.since_version)
        assert known.standard
        assert (
            known.function
            == {(True, False): "fixed", (False, True): "by-node", (False, False): ""}[
                schema.has_function, schema.has_context_dependent_function
            ]
        )
        compare(known, schema)
        stated = [*schema.inputs, *schema.outputs]
        for mine, theirs in zip((*known.inputs, *known.outputs), stated, strict=True):
            assert (mine.homogeneous, mine.min_arity) == (theirs.is_homogeneous, theirs.min_arity)
            if theirs.type_str in known.type_constraints:
                assert mine.type_str == theirs.type_str
            else:
                assert mine.types == {mine.type_str}
        assert {name: describe(value) for name, value in known.attributes.items()} == {
            name: (name, AttrKind[value.type.name], value.required, default(onnx, value.default_value))
            for name, value in schema.attributes.items()
        }
    assert {
        (domain, op) for domain in domains() if domain.startswith("ai.") or not domain for op in operators(domain)
    } == {(schema.domain, schema.name) for schema in onnx.defs.get_all_schemas_with_history()}


def test_every_contrib_signature_says_what_onnxruntime_says() -> None:
    onnx = pytest.importorskip("onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    if onnxruntime.__version__ != ONNXRUNTIME_VERSION:
        pytest.skip(f"the table is from onnxruntime {ONNXRUNTIME_VERSION}, installed is {onnxruntime.__version__}")
    from onnxruntime.capi.onnxruntime_pybind11_state import get_all_operator_schema

    seen = set()
    for schema in get_all_operator_schema():
        if not schema.domain.startswith("com.microsoft"):
            continue
        seen.add((schema.domain, schema.name))
        known = found(schema.domain, schema.name, schema.since_version)
        compare(known, schema)
        assert {name: describe(value) for name, value in known.attributes.items()} == {
            name: (
                name,
                AttrKind(int(value.type)),
                value.required,
                default(onnx, onnx.AttributeProto.FromString(value._default_value)),
            )
            for name, value in schema.attributes.items()
        }
    assert seen == {(d, op) for d in domains() if d.startswith("com.microsoft") for op in operators(d)}


def compare(known: Signature, schema: Any) -> None:
    endless = 2**31 - 1
    assert known.since_version == schema.since_version
    assert known.deprecated == schema.deprecated
    assert (known.min_inputs, known.max_inputs or (endless if known.max_inputs is None else 0)) == (
        schema.min_input,
        schema.max_input,
    )
    assert (known.min_outputs, known.max_outputs or (endless if known.max_outputs is None else 0)) == (
        schema.min_output,
        schema.max_output,
    )
    for mine, theirs in zip((*known.inputs, *known.outputs), [*schema.inputs, *schema.outputs], strict=True):
        assert (mine.name, mine.option) == (theirs.name, ("single", "optional", "variadic")[int(theirs.option)])
        assert mine.types == set(theirs.types)
    assert {name: len(types) for name, types in known.type_constraints.items()} == {
        c.type_param_str: len(set(c.allowed_type_strs)) for c in schema.type_constraints
    }


def default(onnx: Any, proto: Any) -> object:
    if not proto.type:
        return None
    value = onnx.helper.get_attribute_value(proto)
    return tuple(value) if isinstance(value, list) else value
