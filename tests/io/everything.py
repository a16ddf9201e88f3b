"""A model with something in every field of every message, and a way to put unknown fields into all of them."""

from __future__ import annotations

from random import Random

import numpy as np
from onnx import AttributeProto, ModelProto, TensorProto, helper, numpy_helper

from sardonyx.wire.messages import ModelProto as ModelMessage
from sardonyx.wire.pieces import pieces
from sardonyx.wire.schema import FIXED32, FIXED64, LENGTH, VARINT, Message
from tests.wire.bytes_of import fixed32, fixed64, number, payload


def annotate(*messages) -> None:
    """Give messages documentation and metadata, one key twice."""
    for message in messages:
        message.doc_string = f"about {message.name}"
        if hasattr(message, "metadata_props"):
            for key, value in (("k", "1"), ("other", ""), ("k", "2")):
                message.metadata_props.add(key=key, value=value)


def tensor(name: str, *values: float) -> TensorProto:
    made = numpy_helper.from_array(np.array(values, np.float32), name)
    annotate(made)
    return made


def sparse(name: str) -> object:
    indices = numpy_helper.from_array(np.array([1, 3], np.int64), name + "_indices")
    return helper.make_sparse_tensor(tensor(name, 5, 6), indices, [4])


def everything() -> ModelProto:
    """Return the model; loads, though no runtime would take it."""
    types = [
        helper.make_tensor_type_proto(TensorProto.FLOAT, ["n", 4, None]),
        helper.make_sparse_tensor_type_proto(TensorProto.FLOAT, [4]),
        helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.INT64, None)),
        helper.make_map_type_proto(TensorProto.STRING, helper.make_tensor_type_proto(TensorProto.FLOAT, [])),
        helper.make_optional_type_proto(helper.make_sequence_type_proto(helper.make_tensor_type_proto(1, [2]))),
    ]
    types[0].denotation = "TENSOR"
    types[0].tensor_type.shape.dim[0].denotation = "DATA_BATCH"
    types.append(type(types[0])())
    types[-1].opaque_type.domain, types[-1].opaque_type.name = "d", "o"

    inner = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["inner_y"], name="in the body")],
        "inner",
        [],
        [helper.make_tensor_value_info("inner_y", 1, ["n", 4, None])],
    )
    body = helper.make_graph(
        [
            helper.make_node("If", ["c"], ["body_y"], then_branch=inner, else_branch=inner),
            helper.make_node("Relu", ["w"], ["", "body_z"]),
        ],
        "body",
        [helper.make_value_info("c", helper.make_tensor_type_proto(TensorProto.BOOL, []))],
        [helper.make_tensor_value_info("body_y", 1, None)],
        [tensor("w", 1, 2)],
        sparse_initializer=[sparse("s")],
        value_info=[helper.make_tensor_value_info("body_z", 1, [2])],
    )
    values = {
        "f": 1.5, "i": -7, "s": b"\xff\x00", "t": tensor("t", 1), "g": body, "tp": types[0], "fs": [1.0, -0.0],
        "is": [1, -1], "ss": [b"a", b""], "ts": [tensor("t1", 1), tensor("t2")], "gs": [inner, body],
    }  # fmt: skip
    big = helper.make_node("Everything", ["x", "", "w"], ["y", "", "late"], "big", domain="my.domain", **values)
    for name, field, value in (("sp", "sparse_tensor", sparse("a")), ("tps", "type_protos", types)):
        made = big.attribute.add(name=name)
        if field == "sparse_tensor":
            made.sparse_tensor.CopyFrom(value)
            made.type = AttributeProto.SPARSE_TENSOR
        else:
            made.type_protos.extend(value)
            made.type = AttributeProto.TYPE_PROTOS
    made = big.attribute.add(name="sps", type=AttributeProto.SPARSE_TENSORS)
    made.sparse_tensors.extend([sparse("a"), sparse("b")])
    big.attribute.add(name="no type").i = 3
    big.overload = "o"
    configured = big.device_configurations.add(configuration_id="c0", pipeline_stage=1)
    configured.sharding_spec.add(tensor_name="x", device=[0, 1])
    for attribute in big.attribute:
        attribute.doc_string = "documented"
    node = helper.make_node("my_function", ["y"], ["z"], domain="my.domain")
    annotate(big, node)

    typed = TensorProto(name="typed", data_type=TensorProto.INT32, dims=[3], int32_data=[1, -1, 300])
    strings = TensorProto(name="strings", data_type=TensorProto.STRING, dims=[2], string_data=[b"\xff", b""])
    infos = [helper.make_value_info(f"of type {i}", kind) for i, kind in enumerate(types)]
    infos += [helper.make_tensor_value_info("y", 1, [None]), helper.make_tensor_value_info("y", 2, [9])]
    graph = helper.make_graph(
        [big, node],
        "main",
        [helper.make_tensor_value_info("x", 1, ["n", 4, -1]), helper.make_tensor_value_info("w", 1, [1])],
        [helper.make_tensor_value_info("z", 1, None), helper.make_tensor_value_info("x", 1, ["n", 4, None])],
        [tensor("w", 1), typed, strings],
        value_info=infos,
        sparse_initializer=[sparse("main_s")],
    )
    annotate(graph, body, inner, *graph.input, *graph.output, *infos)
    graph.quantization_annotation.add(tensor_name="y").quant_parameter_tensor_names.add(key="SCALE", value="w")

    formal = helper.make_node("Everything", ["a"], ["b"], domain="my.domain", name="formal", t=tensor("ft", 3))
    reference = formal.attribute.add(name="alpha", ref_attr_name="alpha", type=AttributeProto.FLOAT)
    reference.f = 2.0  # ignored beside a reference
    function = helper.make_function(
        "my.domain", "my_function", ["a"], ["b"], [formal], [helper.make_opsetid("my.domain", 1)], ["beta"],
        [helper.make_attribute("alpha", 1.0)], value_info=[helper.make_tensor_value_info("a", 1, ["k"])],
    )  # fmt: skip
    annotate(function, *function.value_info)
    model = helper.make_model(
        graph,
        functions=[function],
        opset_imports=[helper.make_opsetid(*one) for one in (("", 21), ("my.domain", 1), ("ai.onnx", 21))],
        ir_version=12,
        producer_name="p",
        producer_version="",
        domain="d",
        model_version=0,
        doc_string="about the model",
    )
    for key, value in (("k", "1"), ("k", "2")):
        model.metadata_props.add(key=key, value=value)
    info = model.training_info.add()
    info.algorithm.CopyFrom(inner)
    info.update_binding.add(key="a", value="b")
    model.configuration.add(name="c0", num_devices=2, device=["a", "b"])
    return model


def spice(data: bytes, random: Random, message: type[Message] = ModelMessage, share: float = 0.5) -> bytes:
    """Put fields that nobody knows into a message and those inside it: unknown numbers, and known with another wire."""
    out = []
    for found, wire, at, begin, end in pieces(data, 0, len(data)):
        if random.random() < share:
            out.append(oddity(random, message))
        known = message.by_number.get(found)
        if known is not None and known.kind == "message" and wire == LENGTH:
            out.append(payload(found, spice(data[begin:end], random, known.message, share)))
        else:
            out.append(data[at:end])
    if random.random() < share:
        out.append(oddity(random, message))
    return b"".join(out)


def oddity(random: Random, message: type[Message]) -> bytes:
    """Return one field that a reader of this message skips."""
    if random.random() < 0.5:
        known = random.choice(message.fields)
        wires = {VARINT, FIXED32, FIXED64, LENGTH} - {known.wire} - ({LENGTH} if known.repeated else set())
        field, wire = known.number, random.choice(sorted(wires))
    else:
        field, wire = random.choice([31, 200, 2**29 - 1]), random.choice([VARINT, FIXED32, FIXED64, LENGTH])
    if wire == VARINT:
        return number(field, random.getrandbits(64))
    if wire == LENGTH:
        return payload(field, random.randbytes(random.randrange(9)))
    return fixed32(field, random.randbytes(4)) if wire == FIXED32 else fixed64(field, random.randbytes(8))


def ordered(data: bytes, message: type[Message] = ModelMessage) -> bytes:
    """Sort the fields of a message by key, inside too; fields of one key keep their order, which has a meaning."""
    out = []
    for found, wire, at, begin, end in sorted(pieces(data, 0, len(data)), key=lambda piece: piece[:2]):
        known = message.by_number.get(found)
        if known is not None and known.kind == "message" and wire == LENGTH:
            out.append(payload(found, ordered(data[begin:end], known.message)))
        else:
            out.append(data[at:end])
    return b"".join(out)
