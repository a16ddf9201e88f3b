"""Rules for normalizations: most give the type of their input, some also the statistics they used."""

from __future__ import annotations

from sardonyx.ir.types import DTYPES, DType, TensorType
from sardonyx.ops.common.wanted import same
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.ir.types import Shape
    from sardonyx.ops.call import Call
    from sardonyx.ops.rules import Answer

rules = Rules("")


def same_as_first(call: Call) -> TensorType:
    """Return the type of the first input."""
    return call.tensor(0)


rules.table(same_as_first, {"LRN": 1, "MeanVarianceNormalization": 1})


@rules("LpNormalization")
def lp_normalization(call: Call) -> TensorType:
    """Divide by the norm along `axis`."""
    x = call.tensor(0)
    if x.shape is not None:
        call.axis(call.int("axis", -1), len(x.shape), attr="axis")
    return x


def channelwise(call: Call) -> TensorType:
    """Normalize X[N, C, ...] with one scale for each channel."""
    x, scale = call.tensor(0), call.peek(1)
    return x.with_shape(with_channels(call, x.shape, scale))


rules.table(channelwise, {"InstanceNormalization": 1, "GroupNormalization": 21})


@rules("GroupNormalization", since=18)
def group_normalization_18(call: Call) -> TensorType:
    """Normalize groups of channels; scale and bias had one entry for each group then."""
    return call.tensor(0)


def with_channels(call: Call, x: Shape | None, scale: object) -> Shape | None:
    """Return a shape whose second dim is joined with the length of a per-channel tensor."""
    if x is None or len(x) < 2 or not isinstance(scale, TensorType) or scale.shape is None or len(scale.shape) != 1:
        return x
    channels = same(call, x[1], scale.shape[0], "channels of X and the length of scale")
    return x if channels is x[1] else (x[0], channels, *x[2:])


def batch_normalization(call: Call) -> Answer | tuple[Answer, ...]:
    """Normalize each channel; the statistics have the types of those given."""
    x, scale = call.tensor(0), call.peek(1)
    if call.opset < 9 and call.int("spatial", 1) == 0:  # one scale for each position
        y = x
    else:
        y = x.with_shape(with_channels(call, x.shape, scale))
    if call.outputs == 1:
        return y
    mean, variance = call.peek(3), call.peek(4)
    return y, mean, variance, mean, variance


@rules("BatchNormalization", since=14)
def batch_normalization_14(call: Call) -> Answer | tuple[Answer, ...]:
    """Normalize each channel; only training gives the running statistics."""
    training = call.int("training_mode", 0) != 0
    if not training and (call.wants(1) or call.wants(2)):
        call.fail("bad-attribute", "statistics are given only with training_mode=1", attr="training_mode")
    return batch_normalization(call)


rules.add("BatchNormalization", 1, batch_normalization)


@rules("LayerNormalization")
def layer_normalization(call: Call) -> Answer | tuple[Answer, ...]:
    """Normalize over all axes from `axis` on; mean and deviation keep those with size 1.

    Before opset 17 only onnxruntime has it, and there Y has the element type of the scale.
    """
    x = call.tensor(0)
    y = x if call.opset >= 17 else typed_as(x, call.peek(1))
    if len(call.node.outputs) == 1:
        if x.shape is not None:
            call.axis(call.int("axis", -1), len(x.shape), attr="axis")
        return y
    statistics = reduced(call, x.shape)
    return y, statistics, statistics


@rules("SimplifiedLayerNormalization")
def simplified_layer_normalization(call: Call) -> tuple[Answer, ...]:
    """Normalize by the root mean square (onnxruntime's form of RMSNormalization)."""
    x = call.tensor(0)
    return typed_as(x, call.peek(1)), reduced(call, x.shape)


@rules("RMSNormalization", since=23)
def rms_normalization(call: Call) -> TensorType:
    """Normalize by the root mean square over all axes from `axis` on; the scale gives the element type."""
    x = call.tensor(0)
    if x.shape is not None:
        call.axis(call.int("axis", -1), len(x.shape), attr="axis")
    return typed_as(x, call.peek(1))


def typed_as(x: TensorType, other: object) -> TensorType:
    """Return the shape of one tensor with the element type of another."""
    dtype = other.dtype if isinstance(other, TensorType) else None
    return x if dtype is x.dtype else TensorType(dtype, x.shape)


def reduced(call: Call, x: Shape | None) -> TensorType:
    """Return the type of statistics over all axes from `axis` on, in the precision that `stash_type` names."""
    code: int = call.int("stash_type", 1)
    dtype = DTYPES[code] if 0 < code < len(DTYPES) else None
    if x is None:
        return TensorType(dtype, None)
    axis = call.axis(call.int("axis", -1), len(x), attr="axis")
    return TensorType(dtype, (*x[:axis], *[1] * (len(x) - axis)))


@rules("Dropout")
def dropout(call: Call) -> Answer | tuple[Answer, ...]:
    """Drop elements when training; the mask was of the data's type before opset 10."""
    data = call.tensor(0)
    if call.outputs == 1:
        return data
    return data, data if call.opset < 10 else TensorType(DType.BOOL, data.shape)
