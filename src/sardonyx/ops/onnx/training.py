"""Rules for gradients and optimizers, of the domain ai.onnx.preview.training."""

from __future__ import annotations

from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.ops.call import Call
    from sardonyx.ops.rules import Answer, Rule

rules = Rules("ai.onnx.preview.training")


@rules("Gradient")
def gradient(call: Call) -> tuple[Answer, ...]:
    """Give the derivative by each of `xs`, of its own type; `zs` follow among the inputs."""
    return tuple(call.peek(at) for at in range(len(call.strings("xs"))))


def optimizer(groups: int, kept: tuple[int, ...]) -> Rule:
    """Return the rule of an optimizer: after rate and count come `groups` tensors of each kind, the kinds of which it
    gives back those in `kept`, updated.
    """

    def update(call: Call) -> tuple[Answer, ...]:
        """Give back updated tensors, of the types that they had."""
        count, rest = divmod(call.count - 2, groups)
        if rest or count < 1:
            call.fail("bad-input", f"{call.count - 2} tensors cannot be told apart in {groups} kinds")
        return tuple(call.peek(2 + kind * count + at) for kind in kept for at in range(count))

    return update


# Tensors, gradients, then what the algorithm carries on: it gives back the tensors and what it carries.
rules.add("Adagrad", 1, optimizer(3, (0, 2)))
rules.add("Momentum", 1, optimizer(3, (0, 2)))
rules.add("Adam", 1, optimizer(4, (0, 2, 3)))
