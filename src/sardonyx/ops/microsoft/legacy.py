"""Rules for what onnxruntime adds to ONNX's own domain: operators of the first drafts, copies, plugins of TensorRT."""

from __future__ import annotations

from sardonyx.ir.types import DType, TensorType
from sardonyx.ops.common.sizes import plus
from sardonyx.ops.common.wanted import fresh_dims
from sardonyx.ops.microsoft.documented import documented
from sardonyx.ops.onnx.tensor_parts import slice_by_inputs
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.ir.types import Type
    from sardonyx.ops.call import Call

rules = Rules("")


def same_as_first(call: Call) -> Type:
    """Return the type of the first input."""
    return call.any(0)


rules.table(
    same_as_first,
    dict.fromkeys(
        (
            "Affine", "DisentangledAttention_TRT", "GRUUnit", "MemcpyFromHost", "MemcpyToHost",
            "ParametricSoftplus", "Scale", "ScaledTanh",
        ),
        1,
    ),
)  # fmt: skip


@rules("ImageScaler")
def image_scaler(call: Call) -> TensorType:
    """Scale [N, C, H, W]; of more axes, which onnxruntime cuts off, nothing is said."""
    x = call.tensor(0)
    return x if x.shape is not None and len(x.shape) == 4 else x.with_shape(None)


rules.table(slice_by_inputs, {"DynamicSlice": 1})


@rules("Crop")
def crop(call: Call) -> TensorType:
    """Cut a border (left, top, right, bottom) off [N, C, H, W], or keep `scale` (height, width) inside it."""
    x = call.tensor(0)
    if x.shape is None:
        return x
    if len(x.shape) != 4:
        call.fail("rank-mismatch", f"the image has {len(x.shape)} dims, but must have 4")
    border: tuple[int, ...] = call.ints("border", (0, 0, 0, 0))
    scale: tuple[int, ...] = call.ints("scale", ())
    if len(scale) == 2 and min(scale) >= 0:
        return x.with_shape((*x.shape[:2], *scale))
    if scale or len(border) != 4:
        return x.with_shape((*x.shape[:2], *fresh_dims(call, 2)))
    left, top, right, bottom = border
    height, width = plus(call, x.shape[2], -top - bottom), plus(call, x.shape[3], -left - right)
    if any(isinstance(dim, int) and dim < 0 for dim in (height, width)):
        call.fail("bad-attribute", f"a border of {border} is wider than the image", attr="border")
    return x.with_shape((*x.shape[:2], height, width))


@rules("GivenTensorFill")
def given_tensor_fill(call: Call) -> TensorType:
    """Make a tensor of the shape that attributes give, or of one that an input gives in a way nobody runs any more."""
    shape: tuple[int, ...] | None = call.ints("shape", None)
    known = shape is not None and not call.has(0) and not call.ints("extra_shape", ()) and min(shape, default=0) >= 0
    return TensorType(DType.FLOAT, shape if known else None)


rules.table(
    documented(
        "1[b,_,_] -> int32[b,1] 0[b,@max_output_boxes,4] 0[b,@max_output_boxes] int32[b,@max_output_boxes]",
    ),
    {"EfficientNMS_TRT": 1},
)
rules.table(
    documented("0[b,n,_] 1[_,c,_,_] -> 0[b,n,c,@pooled_size,@pooled_size]"),
    {"MultilevelCropAndResize_TRT": 1, "PyramidROIAlign_TRT": 1},
)
