"""List the messages of ONNX, one table each, as onnx.proto (IR version 14) defines them.

Attributes are named as there, except `TensorProtoSegment.end_`. An absent field reads as its default: see
`schema.field` for what each `held` means.
"""

from __future__ import annotations

from sardonyx.wire.schema import Message, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sardonyx.wire.schema import Runs

    Span = tuple[int, int]

ENTRY = "StringStringEntryProto"


class StringStringEntryProto(Message):
    key: str = field(1, "string")
    value: str = field(2, "string")


class OperatorSetIdProto(Message):
    domain: str = field(1, "string")
    version: int = field(2, "int64")


class Dimension(Message):
    dim_value: int = field(1, "int64", oneof="value")
    dim_param: str = field(2, "string", oneof="value")
    denotation: str = field(3, "string")


class TensorShapeProto(Message):
    dim: Sequence[Dimension] = field(1, "message", "Dimension", repeated=True)


class TypeProtoTensor(Message):
    elem_type: int = field(1, "int32")
    shape: TensorShapeProto | None = field(2, "message", "TensorShapeProto")


class TypeProtoSequence(Message):
    elem_type: TypeProto | None = field(1, "message", "TypeProto", held="shared")


class TypeProtoMap(Message):
    key_type: int = field(1, "int32")
    value_type: TypeProto | None = field(2, "message", "TypeProto", held="shared")


class TypeProtoOptional(Message):
    elem_type: TypeProto | None = field(1, "message", "TypeProto", held="shared")


class TypeProtoSparseTensor(Message):
    elem_type: int = field(1, "int32")
    shape: TensorShapeProto | None = field(2, "message", "TensorShapeProto")


class TypeProtoOpaque(Message):
    domain: str = field(1, "string")
    name: str = field(2, "string")


class TypeProto(Message):
    tensor_type: TypeProtoTensor | None = field(1, "message", "TypeProtoTensor", oneof="value")
    sequence_type: TypeProtoSequence | None = field(4, "message", "TypeProtoSequence", oneof="value")
    map_type: TypeProtoMap | None = field(5, "message", "TypeProtoMap", oneof="value")
    denotation: str = field(6, "string")
    opaque_type: TypeProtoOpaque | None = field(7, "message", "TypeProtoOpaque", oneof="value")
    sparse_tensor_type: TypeProtoSparseTensor | None = field(8, "message", "TypeProtoSparseTensor", oneof="value")
    optional_type: TypeProtoOptional | None = field(9, "message", "TypeProtoOptional", oneof="value")


class TensorProtoSegment(Message):
    begin: int = field(1, "int64")
    end_: int = field(2, "int64")
    """Named `end` in onnx.proto; `end` is where the message ends."""


class TensorProto(Message):
    dims: Sequence[int] = field(1, "int64", repeated=True)
    data_type: int = field(2, "int32")
    segment: TensorProtoSegment | None = field(3, "message", "TensorProtoSegment")
    float_data: Runs | None = field(4, "float", repeated=True, packed=True, held="runs")
    int32_data: Runs | None = field(5, "int32", repeated=True, packed=True, held="runs")
    string_data: Sequence[Span] = field(6, "bytes", repeated=True, held="span")
    int64_data: Runs | None = field(7, "int64", repeated=True, packed=True, held="runs")
    name: str = field(8, "string")
    raw_data: Span | None = field(9, "bytes", held="span")
    double_data: Runs | None = field(10, "double", repeated=True, packed=True, held="runs")
    uint64_data: Runs | None = field(11, "uint64", repeated=True, packed=True, held="runs")
    doc_string: Span | None = field(12, "string", held="checked")
    external_data: Sequence[StringStringEntryProto] = field(13, "message", ENTRY, repeated=True, held="shared")
    data_location: int = field(14, "enum")
    metadata_props: int = field(16, "message", ENTRY, repeated=True, held="checked")


class SparseTensorProto(Message):
    values: TensorProto | None = field(1, "message", "TensorProto")
    indices: TensorProto | None = field(2, "message", "TensorProto")
    dims: Sequence[int] = field(3, "int64", repeated=True)


class AttributeProto(Message):
    name: str = field(1, "string")
    f: float = field(2, "float")
    i: int = field(3, "int64")
    s: Span | None = field(4, "bytes", held="span")
    t: TensorProto | None = field(5, "message", "TensorProto")
    g: GraphProto | None = field(6, "message", "GraphProto")
    floats: Sequence[float] = field(7, "float", repeated=True)
    ints: Sequence[int] = field(8, "int64", repeated=True)
    strings: Sequence[bytes] = field(9, "bytes", repeated=True)
    tensors: Sequence[TensorProto] = field(10, "message", "TensorProto", repeated=True)
    graphs: Sequence[GraphProto] = field(11, "message", "GraphProto", repeated=True)
    doc_string: Span | None = field(13, "string", held="checked")
    tp: TypeProto | None = field(14, "message", "TypeProto", held="shared")
    type_protos: Sequence[TypeProto] = field(15, "message", "TypeProto", repeated=True, held="shared")
    type: int = field(20, "enum")
    ref_attr_name: str = field(21, "string")
    sparse_tensor: SparseTensorProto | None = field(22, "message", "SparseTensorProto")
    sparse_tensors: Sequence[SparseTensorProto] = field(23, "message", "SparseTensorProto", repeated=True)


class ValueInfoProto(Message):
    name: str = field(1, "string")
    type: TypeProto | None = field(2, "message", "TypeProto", held="shared")
    doc_string: Span | None = field(3, "string", held="checked")
    metadata_props: int = field(4, "message", ENTRY, repeated=True, held="checked")


class IntIntListEntryProto(Message):
    key: int = field(1, "int64")
    value: Sequence[int] = field(2, "int64", repeated=True)


class SimpleShardedDimProto(Message):
    dim_value: int = field(1, "int64", oneof="dim")
    dim_param: str = field(2, "string", oneof="dim")
    num_shards: int = field(3, "int64")


class ShardedDimProto(Message):
    axis: int = field(1, "int64")
    simple_sharding: Sequence[SimpleShardedDimProto] = field(2, "message", "SimpleShardedDimProto", repeated=True)


class ShardingSpecProto(Message):
    tensor_name: str = field(1, "string")
    device: Sequence[int] = field(2, "int64", repeated=True)
    index_to_device_group_map: Sequence[IntIntListEntryProto] = field(
        3, "message", "IntIntListEntryProto", repeated=True
    )
    sharded_dim: Sequence[ShardedDimProto] = field(4, "message", "ShardedDimProto", repeated=True)


class NodeDeviceConfigurationProto(Message):
    configuration_id: str = field(1, "string")
    sharding_spec: Sequence[ShardingSpecProto] = field(2, "message", "ShardingSpecProto", repeated=True)
    pipeline_stage: int = field(3, "int32")


class NodeProto(Message):
    input: Sequence[str] = field(1, "string", repeated=True)
    output: Sequence[str] = field(2, "string", repeated=True)
    name: str = field(3, "string")
    op_type: str = field(4, "string")
    attribute: Sequence[AttributeProto] = field(5, "message", "AttributeProto", repeated=True, held="shared")
    doc_string: Span | None = field(6, "string", held="checked")
    domain: str = field(7, "string")
    overload: str = field(8, "string")
    metadata_props: int = field(9, "message", ENTRY, repeated=True, held="checked")
    device_configurations: Sequence[NodeDeviceConfigurationProto] = field(
        10, "message", "NodeDeviceConfigurationProto", repeated=True
    )


class TensorAnnotation(Message):
    tensor_name: str = field(1, "string")
    quant_parameter_tensor_names: Sequence[StringStringEntryProto] = field(2, "message", ENTRY, repeated=True)


class GraphProto(Message):
    node: Sequence[NodeProto] = field(1, "message", "NodeProto", repeated=True)
    name: str = field(2, "string")
    initializer: Sequence[TensorProto] = field(5, "message", "TensorProto", repeated=True)
    doc_string: Span | None = field(10, "string", held="checked")
    input: Sequence[ValueInfoProto] = field(11, "message", "ValueInfoProto", repeated=True)
    output: Sequence[ValueInfoProto] = field(12, "message", "ValueInfoProto", repeated=True)
    value_info: Sequence[ValueInfoProto] = field(13, "message", "ValueInfoProto", repeated=True)
    quantization_annotation: Sequence[TensorAnnotation] = field(14, "message", "TensorAnnotation", repeated=True)
    sparse_initializer: Sequence[SparseTensorProto] = field(15, "message", "SparseTensorProto", repeated=True)
    metadata_props: int = field(16, "message", ENTRY, repeated=True, held="checked")


class FunctionProto(Message):
    name: str = field(1, "string")
    input: Sequence[str] = field(4, "string", repeated=True)
    output: Sequence[str] = field(5, "string", repeated=True)
    attribute: Sequence[str] = field(6, "string", repeated=True)
    node: Sequence[NodeProto] = field(7, "message", "NodeProto", repeated=True)
    doc_string: Span | None = field(8, "string", held="checked")
    opset_import: Sequence[OperatorSetIdProto] = field(9, "message", "OperatorSetIdProto", repeated=True)
    domain: str = field(10, "string")
    attribute_proto: Sequence[AttributeProto] = field(11, "message", "AttributeProto", repeated=True, held="shared")
    value_info: Sequence[ValueInfoProto] = field(12, "message", "ValueInfoProto", repeated=True)
    overload: str = field(13, "string")
    metadata_props: int = field(14, "message", ENTRY, repeated=True, held="checked")


class TrainingInfoProto(Message):
    initialization: GraphProto | None = field(1, "message", "GraphProto")
    algorithm: GraphProto | None = field(2, "message", "GraphProto")
    initialization_binding: Sequence[StringStringEntryProto] = field(3, "message", ENTRY, repeated=True)
    update_binding: Sequence[StringStringEntryProto] = field(4, "message", ENTRY, repeated=True)


class DeviceConfigurationProto(Message):
    name: str = field(1, "string")
    num_devices: int = field(2, "int32")
    device: Sequence[str] = field(3, "string", repeated=True)


class ModelProto(Message):
    ir_version: int = field(1, "int64")
    producer_name: str = field(2, "string")
    producer_version: str = field(3, "string")
    domain: str = field(4, "string")
    model_version: int = field(5, "int64")
    doc_string: Span | None = field(6, "string", held="checked")
    graph: GraphProto | None = field(7, "message", "GraphProto")
    opset_import: Sequence[OperatorSetIdProto] = field(8, "message", "OperatorSetIdProto", repeated=True)
    metadata_props: int = field(14, "message", ENTRY, repeated=True, held="checked")
    training_info: Sequence[TrainingInfoProto] = field(20, "message", "TrainingInfoProto", repeated=True)
    functions: Sequence[FunctionProto] = field(25, "message", "FunctionProto", repeated=True)
    configuration: Sequence[DeviceConfigurationProto] = field(26, "message", "DeviceConfigurationProto", repeated=True)
