"""Slide windows over axes, as convolution and pooling do, and count the places where they stop.

A window of `kernel` elements, `dilation` apart, reaches over `(kernel - 1)*dilation + 1` elements; it moves by
`stride` over an axis padded on both sides. Results hold where the window fits, which is recorded as an assumption.
Where runtimes give different answers to what the specification leaves open, the size is unknown.
"""

from __future__ import annotations

from sardonyx.ops.common.sizes import attempt
from sardonyx.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sardonyx.dims import Dim
    from sardonyx.ops.call import Call

NONE, VALID, SAME = "NOTSET", "VALID", "SAME"
AUTO_PADS = {"": NONE, "NOTSET": NONE, "VALID": VALID, "SAME_UPPER": SAME, "SAME_LOWER": SAME}


@record
class Windows:
    """The attributes of a window operator, one entry for each spatial axis."""

    kernel: Sequence[Dim | None]
    strides: Sequence[int]
    dilations: Sequence[int]
    begins: Sequence[int]
    ends: Sequence[int]
    auto_pad: str
    """`NONE`, `VALID` or `SAME`; the two forms of SAME give one size."""

    def reach(self, axis: int) -> Dim | None:
        """Return how many elements a window spans along an axis."""
        kernel = self.kernel[axis]
        return None if kernel is None else (kernel - 1) * self.dilations[axis] + 1

    @property
    def padded_twice(self) -> bool:
        """Whether `pads` are given beside `auto_pad`, which the specification forbids and runtimes read differently."""
        return self.auto_pad != NONE and any((*self.begins, *self.ends))


def read_windows(call: Call, kernel: Sequence[Dim | None]) -> Windows:
    """Read `strides`, `dilations`, `pads` and `auto_pad` for windows of this kernel."""
    count = len(kernel)
    auto_pad = AUTO_PADS.get(call.str("auto_pad", NONE))
    if auto_pad is None:
        call.fail("bad-attribute", f"{call.str('auto_pad')!r} is no way to pad", attr="auto_pad")
    pads = per_axis(call, "pads", 2 * count, 0, 0)
    return Windows(
        kernel,
        per_axis(call, "strides", count, 1, 1),
        per_axis(call, "dilations", count, 1, 1),
        pads[:count],
        pads[count:],
        auto_pad,
    )


def per_axis(call: Call, name: str, count: int, default: int, least: int) -> tuple[int, ...]:
    """Return an INTS attribute that has `count` entries, none below `least`; absent or empty, all are `default`."""
    found: tuple[int, ...] = call.ints(name, None)
    if not found:
        return (default,) * count
    if len(found) != count:
        call.fail("bad-attribute", f"{name} has {len(found)} entries, but {count} are needed", attr=name)
    if min(found) < least:
        call.fail("bad-attribute", f"{name} has the entry {min(found)}, but none may be below {least}", attr=name)
    return found


def slide(
    call: Call, sizes: Sequence[Dim | None], windows: Windows, *, ceil: bool = False, pool: bool = False
) -> list[Dim]:
    """Return how many places windows take along each axis (ONNX, Conv and MaxPool); None is an unknown size.

    `ceil` counts a last window that hangs over the end, unless it would start beyond the axis and its padding in front.
    """
    found: list[Dim] = []
    plain = windows.auto_pad == NONE and not ceil
    for axis, size in enumerate(sizes):
        kernel = windows.kernel[axis]
        if plain and type(size) is int and type(kernel) is int:  # most often, and then without asking anybody
            room = size + windows.begins[axis] + windows.ends[axis] - (kernel - 1) * windows.dilations[axis] - 1
            if room >= 0:
                found.append(room // windows.strides[axis] + 1)
                continue
        found.append(attempt(call, lambda size=size, axis=axis: stops(call, size, windows, axis, ceil, pool)))  # type: ignore[misc]
    return found


def stops(call: Call, size: Dim | None, windows: Windows, axis: int, ceil: bool, pool: bool) -> Dim:
    """Return how many places a window takes along one axis."""
    reach, stride = windows.reach(axis), windows.strides[axis]
    begin, end = windows.begins[axis], windows.ends[axis]
    if size is None or windows.padded_twice:
        return call.fresh()
    if windows.auto_pad == SAME:
        # With dilations, onnxruntime's pools do not give the size that the specification asks for.
        return call.fresh() if pool and windows.dilations[axis] != 1 else call.scope.ceildiv(size, stride)
    if reach is None:
        return call.fresh()
    ceil = ceil and stride > 1
    if ceil and windows.auto_pad == VALID:
        # The specification rounds down here, onnxruntime up.
        if isinstance(size, int) and isinstance(reach, int) and size >= reach and (size - reach) % stride == 0:
            return (size - reach) // stride + 1
        return call.fresh()
    padded = size + (begin + end)
    if not fits(call, padded + (stride - 1 if ceil else 0), reach):
        return call.fresh()
    if not ceil:
        return call.scope.floordiv(padded - reach, stride) + 1
    if not isinstance(reach, int) or end > reach:
        return call.fresh()
    count = call.scope.ceildiv(padded - reach, stride) + 1
    if stride + end <= reach:  # the last window always starts before the padding at the end
        return count
    return call.scope.minimum(count, call.scope.ceildiv(size + begin, stride))


def fits(call: Call, room: Dim, reach: Dim) -> bool:
    """Return False where a window is known to be larger than its room; record that it fits where that is not known.

    A window over one element always counts right: it stops nowhere on an empty axis.
    """
    if isinstance(reach, int) and reach <= 1:
        return True
    known = call.scope.at_least(room, reach)
    if known is None:
        call.assume("window-fits", room, reach)
    elif not known:
        call.warn("window-too-large", f"a window over {reach} elements slides over {room}")
        return False
    return True


def spread_windows(
    call: Call, sizes: Sequence[Dim | None], windows: Windows, output_padding: Sequence[int]
) -> list[Dim]:
    """Return the size along each axis over which windows that take `sizes` places slide (ONNX, ConvTranspose)."""
    return [
        attempt(call, lambda size=size, axis=axis: spread(call, size, windows, axis, output_padding[axis]))  # type: ignore[misc]
        for axis, size in enumerate(sizes)
    ]


def spread(call: Call, size: Dim | None, windows: Windows, axis: int, extra: int) -> Dim:
    """Return the size of one axis."""
    reach, stride = windows.reach(axis), windows.strides[axis]
    if size is None or reach is None or windows.padded_twice:
        return call.fresh()
    if windows.auto_pad == SAME:
        # A window shorter than the stride leaves gaps that no padding removes; runtimes differ.
        closed = call.scope.at_least(reach + extra, stride)
        if closed is None:
            call.assume("window-fits", reach + extra, stride)
        return call.fresh() if closed is False else size * stride
    whole, pads = stride * (size - 1) + extra + reach, windows.begins[axis] + windows.ends[axis]
    return whole - pads if fits(call, whole, pads) else call.fresh()
