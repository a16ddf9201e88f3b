"""Rules for operators that generate text: they run a decoder, a body, until a text is long enough.

Sizes come from the prompt and from scalars: most are 1-element tensors in which exporters put constants. The bodies run
many times with inputs that the runtime makes after their declared types, whose names mean another size in every run.
"""

from __future__ import annotations

from sardonyx.dims import Expr
from sardonyx.ir.attrs import AttrKind
from sardonyx.ir.types import DType, TensorType
from sardonyx.ops.common.sizes import plus
from sardonyx.ops.microsoft.documented import dtype_of, shape_of
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.dims import Dim, Symbol
    from sardonyx.ir.graph import Graph
    from sardonyx.ir.types import Type
    from sardonyx.ops.call import Call
    from sardonyx.ops.rules import Answer

rules = Rules("com.microsoft")


def number(call: Call, at: int) -> Dim:
    """Return what a 1-element input says."""
    found = call.scalar(at)
    return found if isinstance(found, (int, Expr)) and not (isinstance(found, int) and found < 0) else call.fresh()


def prompt(call: Call) -> tuple[Dim, Dim]:
    """Return the batch size and the length of the prompt, [batch, sequence, ...]."""
    shape = shape_of(call, 0)
    return (call.fresh(), call.fresh()) if shape is None or len(shape) < 2 else shape[:2]  # type: ignore[return-value]


def vocabulary(call: Call) -> Dim:
    """Infer the bodies, and return the number of words: the node says it, or the last axis of the decoder's scores."""
    words: Dim | None = None
    for name in ("encoder", "init_decoder", "decoder"):
        body: Graph | None = call.attr(name, AttrKind.GRAPH, None)
        if body is None:
            continue
        facts = call.run_body(body, given_to(call, body), varied=frozenset(range(len(body.inputs))))
        scores = facts[0].type if facts and facts[0] is not None else None
        if name == "decoder" and isinstance(scores, TensorType) and scores.shape:
            words = scores.shape[-1]
    size: int = call.int("vocab_size", -1)
    if size > 0:
        return size
    return words if isinstance(words, int) else call.fresh("words")


def given_to(call: Call, body: Graph) -> list[Type | None]:
    """Return the types of a body's inputs in one run: as declared, with a size of its own for each name."""
    sizes: dict[Symbol, Dim] = {}
    found: list[Type | None] = []
    types = {declared.value: declared.type for declared in body.declared}
    for value in body.inputs:
        kind = types.get(value)
        if isinstance(kind, TensorType) and kind.shape is not None:
            dims: list[Dim] = []
            for dim in kind.shape:
                if isinstance(dim, int):
                    dims.append(dim)
                else:
                    for symbol in dim.symbols:
                        sizes.setdefault(symbol, call.fresh(symbol.given))
                    dims.append(call.scope.substitute(dim, sizes))
            kind = kind.with_shape(dims)
        found.append(kind if isinstance(kind, TensorType) else None)
    return found


def beam_search(call: Call) -> tuple[Answer, ...]:
    """Return texts [batch, returned, longest], their scores, and the scores of every word at every step."""
    batch, length = prompt(call)
    longest, beams, returned = number(call, 1), number(call, 3), number(call, 4)
    dtype = dtype_of(call, "5") if call.has(5) else DType.FLOAT
    steps: Dim = call.fresh("steps")
    if call.int("model_type", 0) == 0 and not call.has(10):
        steps = plus(call, longest, -length)
    return (
        TensorType(DType.INT32, (batch, returned, longest)),
        TensorType(dtype, (batch, returned)),
        TensorType(dtype, (steps, batch, beams, vocabulary(call))),
    )


rules.table(beam_search, {"BeamSearch": 1})


@rules("WhisperBeamSearch")
def whisper_beam_search(call: Call) -> tuple[Answer, ...]:
    """Return what BeamSearch returns; what follows is of sizes that the decoder and the data decide."""
    batch, _ = prompt(call)
    longest, beams, returned = number(call, 1), number(call, 3), number(call, 4)
    return (
        TensorType(DType.INT32, (batch, returned, longest)),
        TensorType(None, (batch, returned)),
        TensorType(None, (call.fresh("steps"), batch, beams, vocabulary(call))),
        TensorType(None, tuple(call.fresh() for _ in range(5))),
        TensorType(None, (batch,)),
    )


@rules("GreedySearch")
def greedy_search(call: Call) -> TensorType:
    """Return texts [batch, longest]."""
    batch, _ = prompt(call)
    vocabulary(call)
    return TensorType(DType.INT32, (batch, number(call, 1)))


@rules("Sampling")
def sampling(call: Call) -> tuple[Answer, ...]:
    """Return texts [batch, longest], and the scores of the words that were drawn from."""
    batch, _ = prompt(call)
    dtype = dtype_of(call, "3") if call.has(3) else DType.FLOAT
    return TensorType(DType.INT32, (batch, number(call, 1))), TensorType(dtype, (batch, vocabulary(call)))
