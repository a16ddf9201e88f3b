"""Rules for losses."""

from __future__ import annotations

from sardonyx.ir.types import TensorType
from sardonyx.ops.common.wanted import same
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.ir.types import Shape
    from sardonyx.ops.call import Call
    from sardonyx.ops.rules import Answer

rules = Rules("")


@rules("NegativeLogLikelihoodLoss", since=12)
def negative_log_likelihood_loss(call: Call) -> TensorType:
    """Look up the loss of each target: scores are [N, C, ...], targets [N, ...]."""
    return loss(call)


@rules("SoftmaxCrossEntropyLoss", since=12)
def softmax_cross_entropy_loss(call: Call) -> tuple[Answer, ...]:
    """Look up the loss of each label after a softmax; also give the logarithms of the probabilities."""
    return loss(call), call.tensor(0)


def loss(call: Call) -> TensorType:
    """Return the type of a loss: one for each target, or a scalar when they are summed or averaged."""
    scores = call.tensor(0)
    reduction: str = call.str("reduction", "mean")
    if reduction not in ("none", "sum", "mean"):
        call.fail("bad-attribute", f"{reduction!r} is no reduction", attr="reduction")
    if scores.shape is not None and len(scores.shape) < 2:
        call.fail("rank-mismatch", f"scores has {len(scores.shape)} dims, but must be [N, C, ...]")
    if reduction != "none":
        return TensorType(scores.dtype, ())
    targets = call.peek(1)
    known = targets.shape if isinstance(targets, TensorType) else None
    mine: Shape | None = None if scores.shape is None else (scores.shape[0], *scores.shape[2:])
    if known is None or mine is None:
        return TensorType(scores.dtype, known if mine is None else mine)
    if len(known) != len(mine):
        call.fail("rank-mismatch", f"targets have {len(known)} dims, but scores {len(mine) + 1}")
    dims = tuple(same(call, a, b, "dims of scores and targets") for a, b in zip(mine, known, strict=True))
    return TensorType(scores.dtype, dims)
