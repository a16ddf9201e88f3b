"""Rules for Fourier transforms and what goes with them."""

from __future__ import annotations

from sardonyx.dims import Expr
from sardonyx.ir.types import DType, TensorType
from sardonyx.ops.common.sizes import attempt
from sardonyx.ops.common.wanted import fresh_dims, same, size_of
from sardonyx.ops.common.windows import fits
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.dims import Dim
    from sardonyx.ops.call import Call

rules = Rules("")


def window(call: Call) -> TensorType:
    """Make a window function of `size` samples."""
    return TensorType(call.dtype("output_datatype", DType.FLOAT), (length(call, 0, "size"),))


rules.table(window, {"HannWindow": 17, "HammingWindow": 17, "BlackmanWindow": 17})


def length(call: Call, at: int, name: str) -> Dim:
    """Return an integer scalar as a size."""
    return size_of(call, call.scalar(at), name)


@rules("MelWeightMatrix", since=17)
def mel_weight_matrix(call: Call) -> TensorType:
    """Map the bins of a one-sided spectrum to bands: [dft_length//2 + 1, num_mel_bins]."""
    bands, size = length(call, 0, "num_mel_bins"), length(call, 1, "dft_length")
    return TensorType(call.dtype("output_datatype", DType.FLOAT), (one_sided(call, size), bands))


def one_sided(call: Call, size: Dim) -> Dim:
    """Return how many bins of a spectrum of `size` bins differ when the signal is real."""
    return attempt(call, lambda: call.scope.floordiv(size, 2) + 1)


@rules("DFT", since=17)
def dft_17(call: Call) -> TensorType:
    """Transform along the attribute `axis`; the last axis holds real and imaginary parts."""
    return transformed(call, call.int("axis", 1))


@rules("DFT", since=20)
def dft(call: Call) -> TensorType:
    """Transform along the input `axis`; the last axis holds real and imaginary parts."""
    if not call.has(2):
        return transformed(call, -2)
    axis = call.scalar(2)
    return transformed(call, axis if isinstance(axis, int) else None)


def transformed(call: Call, axis: int | None) -> TensorType:
    """Return the type of a Fourier transform along an axis, which may be unknown."""
    x = call.tensor(0)
    if x.shape is None:
        return x
    rank = len(x.shape)
    if rank < 2:
        call.fail("rank-mismatch", f"the input has {rank} dims, but needs at least 2")
    half, inverse = call.int("onesided", 0) != 0, call.int("inverse", 0) != 0
    last = 1 if half and inverse else 2
    if axis is None:
        kept = not half and not call.has(1)
        return x.with_shape((*(x.shape[:-1] if kept else fresh_dims(call, rank - 1)), last))
    axis = call.axis(axis, rank)
    if axis == rank - 1:
        call.fail("axis-out-of-range", "the last axis holds real and imaginary parts and cannot be transformed")
    size = x.shape[axis]
    if call.has(1):
        size = length(call, 1, "dft_length")
    elif half and inverse:
        bins = size
        size = attempt(call, lambda: 2 * bins - 2)
        if isinstance(size, int) and size < 0:
            call.fail("bad-input", "a one-sided spectrum has at least one bin")
    if half and not inverse:
        size = one_sided(call, size)
    return x.with_shape((*x.shape[:axis], size, *x.shape[axis + 1 : -1], last))


@rules("STFT", since=17)
def stft(call: Call) -> TensorType:
    """Transform frames of a signal[batch, length, 1 or 2]: [batch, frames, bins, 2].

    Exporters write real signals as [batch, length], too, which onnxruntime takes.
    """
    signal, taper = call.tensor(0), call.peek(2)
    if signal.shape is not None and len(signal.shape) not in (2, 3):
        call.fail("rank-mismatch", f"the signal has {len(signal.shape)} dims, but must have 3")
    batch, samples = (call.fresh(), call.fresh()) if signal.shape is None else signal.shape[:2]
    frame: Dim | None = length(call, 3, "frame_length") if call.has(3) else None
    if isinstance(taper, TensorType) and taper.shape is not None and len(taper.shape) == 1:
        frame = taper.shape[0] if frame is None else same(call, frame, taper.shape[0], "frame_length and the window")
    elif frame is None:
        frame = call.fresh() if call.has(2) else samples
    bins = one_sided(call, frame) if call.int("onesided", 1) else frame
    return TensorType(signal.dtype, (batch, frames(call, samples, frame), bins, 2))


def frames(call: Call, samples: Dim, frame: Dim) -> Dim:
    """Return how many frames fit into a signal when each begins a step after the one before."""
    step = call.scalar(1)
    if not isinstance(step, (int, Expr)) or isinstance(step, bool):
        return call.fresh()
    if isinstance(step, int) and step < 1:
        call.fail("bad-input", f"frame_step is {step}, but must be at least 1")
    if not fits(call, samples, frame):
        return call.fresh()
    if isinstance(step, Expr) and not call.scope.is_positive(step):
        if call.scope.at_least(step, 0) is not True:  # an element of unknown sign
            return call.fresh()
        call.assume("divisor-not-zero", step)
    return attempt(call, lambda: call.scope.floordiv(samples - frame, step) + 1)
