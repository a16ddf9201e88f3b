"""Rules for pooling over windows, over whole images, and over regions."""

from __future__ import annotations

from sardonyx.ir.types import DType, TensorType
from sardonyx.ops.common.sizes import product
from sardonyx.ops.common.wanted import fresh_dims, same, sizes_of
from sardonyx.ops.common.windows import read_windows, slide, spread_windows
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sardonyx.dims import Dim
    from sardonyx.ir.types import Shape
    from sardonyx.ops.call import Call
    from sardonyx.ops.rules import Answer

rules = Rules("")


def pool(call: Call) -> Answer | tuple[Answer, ...]:
    """Reduce every window of X[N, C, ...] to one element; MaxPool also says where in X each maximum is."""
    x = call.tensor(0)
    shape = pooled(call, x.shape)
    if call.outputs == 1:
        return TensorType(x.dtype, shape)
    return TensorType(x.dtype, shape), TensorType(DType.INT64, shape)


rules.table(pool, {"AveragePool": 1, "MaxPool": 1, "LpPool": 2})


@rules("LpPool", since=1)
def lp_pool_1(call: Call) -> TensorType:
    """Reduce every window; `kernel_shape` was optional then, and without it the sizes are not known."""
    x = call.tensor(0)
    if not call.ints("kernel_shape", None):
        return x.with_shape(None if x.shape is None else (*x.shape[:2], *fresh_dims(call, len(x.shape) - 2)))
    return TensorType(x.dtype, pooled(call, x.shape))


def pooled(call: Call, x: Shape | None) -> Shape:
    """Return the shape after pooling; the kernel says the rank where X does not."""
    kernel: tuple[int, ...] = call.ints("kernel_shape")
    check_rank(call, x, kernel)
    sizes: Sequence[Dim | None] = [None] * len(kernel) if x is None else x[2:]
    windows = read_windows(call, kernel)
    ceil = call.opset >= 10 and call.int("ceil_mode", 0) != 0
    front = fresh_dims(call, 2) if x is None else x[:2]
    return (*front, *slide(call, sizes, windows, ceil=ceil, pool=True))


def check_rank(call: Call, x: Shape | None, kernel: tuple[int, ...]) -> None:
    """Refuse a kernel that has not one entry for each spatial axis."""
    if not kernel or min(kernel) < 1:
        call.fail("bad-attribute", f"kernel_shape is {kernel}, but needs sizes of at least 1", attr="kernel_shape")
    if x is not None and len(x) != len(kernel) + 2:
        call.fail("rank-mismatch", f"X has {len(x)} dims, but kernel_shape has {len(kernel)} entries for spatial axes")


def global_pool(call: Call) -> TensorType:
    """Reduce every spatial axis to size 1."""
    x = call.tensor(0)
    return x if x.shape is None else x.with_shape((*x.shape[:2], *[1] * len(x.shape[2:])))


rules.table(global_pool, {"GlobalAveragePool": 1, "GlobalMaxPool": 1, "GlobalLpPool": 1})


@rules("MaxUnpool", since=9)
def max_unpool(call: Call) -> TensorType:
    """Put maxima back where MaxPool found them; `output_shape` decides between the sizes that MaxPool maps to one."""
    x = call.tensor(0)
    kernel: tuple[int, ...] = call.ints("kernel_shape")
    check_rank(call, x.shape, kernel)
    rank = len(kernel) + 2
    if call.has(2):
        wanted = call.content(2)
        if wanted is None:
            return x.with_shape(fresh_dims(call, rank))
        if len(wanted) != rank:
            call.fail("bad-input", f"output_shape has {len(wanted)} elements, but X has {rank} dims")
        return x.with_shape(sizes_of(call, wanted, "an element of output_shape"))
    if x.shape is None:
        return x.with_shape(fresh_dims(call, rank))
    windows = read_windows(call, kernel)
    return x.with_shape((*x.shape[:2], *spread_windows(call, x.shape[2:], windows, (0,) * len(kernel))))


@rules("MaxRoiPool")
def max_roi_pool(call: Call) -> TensorType:
    """Take the maximum of every cell of a grid laid over each region; `rois` is [regions, 5]."""
    x, rois = call.tensor(0), call.tensor(1)
    grid: tuple[int, ...] = call.ints("pooled_shape")
    if len(grid) != 2 or min(grid) < 1:
        call.fail("bad-attribute", f"pooled_shape is {grid}, but must be two sizes of at least 1", attr="pooled_shape")
    regions, channels = regions_and_channels(call, x.shape, rois.shape)
    return TensorType(x.dtype, (regions, channels, *grid))


@rules("RoiAlign", since=10)
def roi_align(call: Call) -> TensorType:
    """Sample a grid laid over each region; `rois` is [regions, 4], `batch_indices` is [regions]."""
    x, rois, images = call.tensor(0), call.tensor(1), call.peek(2)
    regions, channels = regions_and_channels(call, x.shape, rois.shape)
    if isinstance(images, TensorType) and images.shape is not None and len(images.shape) == 1:
        regions = same(call, regions, images.shape[0], "the first dims of rois and batch_indices")
    grid = []
    for name in ("output_height", "output_width"):
        size: int = call.int(name, 1)
        if size < 1:
            call.fail("bad-attribute", f"{name} is {size}, but must be at least 1", attr=name)
        grid.append(size)
    return TensorType(x.dtype, (regions, channels, *grid))


def regions_and_channels(call: Call, x: Shape | None, rois: Shape | None) -> tuple[Dim, Dim]:
    """Return the number of regions and of channels; X is an image [N, C, H, W]."""
    if x is not None and len(x) != 4:
        call.fail("rank-mismatch", f"X has {len(x)} dims, but must have 4")
    if rois is not None and len(rois) != 2:
        call.fail("rank-mismatch", f"rois has {len(rois)} dims, but must have 2")
    return (call.fresh() if rois is None else rois[0]), (call.fresh() if x is None else x[1])


@rules("NonMaxSuppression", since=10)
def non_max_suppression(call: Call) -> TensorType:
    """Select boxes; how many is decided by the data, at most `max_output_boxes_per_class` per batch and class."""
    boxes, scores = call.peek(0), call.peek(1)
    most = call.scalar(2) if call.has(2) else 0
    if isinstance(most, int) and most <= 0:
        return TensorType(DType.INT64, (0, 3))
    count = call.fresh("selected")
    if isinstance(scores, TensorType) and scores.shape is not None:
        if len(scores.shape) != 3:
            call.fail("rank-mismatch", f"scores has {len(scores.shape)} dims, but must be [batch, classes, boxes]")
        batch, classes, spatial = scores.shape
        each = call.scope.minimum(most, spatial) if isinstance(most, int) else spatial
        call.scope.assume_at_least(product(call, (batch, classes, each)), count)
    if isinstance(boxes, TensorType) and boxes.shape is not None and len(boxes.shape) != 3:
        call.fail("rank-mismatch", f"boxes has {len(boxes.shape)} dims, but must be [batch, boxes, 4]")
    return TensorType(DType.INT64, (count, 3))
