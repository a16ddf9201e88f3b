"""Let a careful service bound what one model may cost; every refusal names the limit that it met."""

from __future__ import annotations

from sardonyx.errors import error
from sardonyx.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@record
class Limits:
    """Upper bounds; None is no bound. Nesting has an argument of its own: `max_nesting`."""

    max_file_bytes: int | None = None
    """Size of the model file; 2^31-1 always holds, as protobuf cannot express more."""
    max_tensor_bytes: int | None = None
    """Bytes of one tensor, decided from its dims before any data is looked at."""
    max_nodes: int | None = None
    """Nodes of the main graph and all bodies, functions not counted."""
    max_attribute_bytes: int | None = None
    """Bytes of one attribute's message."""
    max_inlined_nodes: int | None = 10_000_000
    """Nodes after inlining of functions, bodies counted; decided before anything is built."""
    max_frames: int | None = 100_000
    """Activations of bodies and functions that inference keeps."""

    def check(self, name: str, amount: int, what: str, **place: Any) -> None:
        """Refuse `amount` when it is over the limit called `name`.

        Raises:
            OnnxError: Unsupported, code `limit-exceeded`; the hint names the limit.
        """
        limit = getattr(self, name)
        if limit is not None and amount > limit:
            raise error(
                "limit-exceeded",
                f"{what} is {amount}, more than the limit of {limit}",
                hint=f"raise Limits({name}=...) if you trust this model",
                **place,
            )


UNBOUNDED = Limits(None, None, None, None, None, None)
DEFAULT = Limits()
