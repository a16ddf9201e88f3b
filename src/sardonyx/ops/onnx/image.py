"""Rules for resizing, sampling and decoding images."""

from __future__ import annotations

from sardonyx.ir.types import DType, TensorType
from sardonyx.ops.common.axes import as_rank
from sardonyx.ops.common.sizes import attempt, product
from sardonyx.ops.common.wanted import fresh_dims, same, share, sizes_of
from sardonyx.ops.common.windows import per_axis
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.dims import Dim
    from sardonyx.ops.call import Call, Content

rules = Rules("")


@rules("GridSample", since=16)
def grid_sample(call: Call) -> TensorType:
    """Sample X[N, C, ...] at the places of grid[N, ..., r]."""
    x, grid = call.tensor(0), call.tensor(1)
    known = grid.shape if x.shape is None else x.shape
    if known is None:
        return TensorType(x.dtype, None)
    rank = len(known)
    if rank < 3:
        call.fail("rank-mismatch", f"the image has {rank} dims, but must have at least 3")
    channels = call.fresh() if x.shape is None else x.shape[1]
    if grid.shape is None:
        return TensorType(x.dtype, (known[0], channels, *fresh_dims(call, rank - 2)))
    if len(grid.shape) != rank:
        call.fail("rank-mismatch", f"X has {rank} dims, but grid has {len(grid.shape)}")
    batch = same(call, known[0], grid.shape[0], "batch sizes of X and grid")
    return TensorType(x.dtype, (batch, channels, *grid.shape[1:-1]))


@rules("AffineGrid", since=20)
def affine_grid(call: Call) -> TensorType:
    """Make a grid for an image of shape `size`, (N, C, H, W) or (N, C, D, H, W)."""
    theta, size = call.tensor(0), call.content(1)
    batch: Dim | None = None
    axes: int | None = None
    if theta.shape is not None:
        if len(theta.shape) != 3:
            call.fail("rank-mismatch", f"theta has {len(theta.shape)} dims, but must have 3")
        batch = theta.shape[0]
        axes = as_rank(theta.shape[1])
    if size is None:
        given = call.peek(1)
        if axes is None and isinstance(given, TensorType) and given.shape is not None and len(given.shape) == 1:
            axes = as_rank(given.shape[0] - 2)
        if axes is None or axes < 0:
            return TensorType(theta.dtype, None)
        return TensorType(theta.dtype, (call.fresh() if batch is None else batch, *fresh_dims(call, axes), axes))
    if len(size) not in (4, 5) or (axes is not None and axes != len(size) - 2):
        call.fail("bad-input", f"size has {len(size)} elements, which does not go with theta")
    wanted = sizes_of(call, size, "an element of size")
    batch = wanted[0] if batch is None else same(call, batch, wanted[0], "batch sizes of theta and size")
    return TensorType(theta.dtype, (batch, *wanted[2:], len(size) - 2))


@rules("ImageDecoder", since=20)
def image_decoder(call: Call) -> TensorType:
    """Decode a file to [height, width, channels]; the file says how high and wide."""
    channels = {"Grayscale": 1, "RGB": 3, "BGR": 3}.get(call.str("pixel_format", "RGB"))
    if channels is None:
        call.fail("bad-attribute", f"{call.str('pixel_format')!r} is no pixel format", attr="pixel_format")
    return TensorType(DType.UINT8, (call.fresh("height"), call.fresh("width"), channels))


@rules("Col2Im", since=18)
def col2im(call: Call) -> TensorType:
    """Put blocks back into an image: [N, C*prod(block), L] becomes [N, C, *image_shape]."""
    x, image, block = call.tensor(0), call.content(1), call.content(2)
    if x.shape is not None and len(x.shape) != 3:
        call.fail("rank-mismatch", f"the input has {len(x.shape)} dims, but must have 3")
    if image is not None and block is not None and len(image) != len(block):
        call.fail("bad-input", f"image_shape has {len(image)} elements, but block_shape has {len(block)}")
    axes = axes_of(call, image if image is not None else block)
    if axes is None:
        return TensorType(x.dtype, None)
    per_axis(call, "strides", axes, 1, 1)
    per_axis(call, "dilations", axes, 1, 1)
    per_axis(call, "pads", 2 * axes, 0, 0)
    spatial = fresh_dims(call, axes) if image is None else sizes_of(call, image, "an element of image_shape")
    channels: Dim = call.fresh()
    if block is not None and x.shape is not None:
        columns, size = x.shape[1], product(call, sizes_of(call, block, "an element of block_shape"))
        if isinstance(size, int):
            channels = share(call, columns, size, "the second dim of the input")
        else:
            channels = attempt(call, lambda: call.scope.exact_div(columns, size))
    return TensorType(x.dtype, (call.fresh() if x.shape is None else x.shape[0], channels, *spatial))


def axes_of(call: Call, known: Content | None) -> int | None:
    """Return how many axes an image has: as many as its shape has elements, or an attribute speaks of."""
    if known is not None:
        return len(known)
    for name, per in (("strides", 1), ("dilations", 1), ("pads", 2)):
        given = call.ints(name, default=None)
        if given is not None:
            return len(given) // per
    return None
