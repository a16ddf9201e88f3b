"""Rules for recurrent layers, and for attention and convolution that carry a state."""

from __future__ import annotations

from sardonyx.ir.types import DType, TensorType
from sardonyx.ops.common.sizes import attempt, plus, times
from sardonyx.ops.common.wanted import fresh_dims, share
from sardonyx.ops.microsoft.attention import heads_of, with_rank
from sardonyx.ops.microsoft.documented import dtype_of, shape_of
from sardonyx.ops.onnx.rnn import DIRECTIONS
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.dims import Dim
    from sardonyx.ir.types import Shape
    from sardonyx.ops.call import Call
    from sardonyx.ops.rules import Answer

rules = Rules("com.microsoft")


def lstm(call: Call) -> tuple[Answer, ...]:
    """Run over X[seq, batch, input]; give all states, the last, and its cell."""
    x = with_rank(call, 0, "X", 3)
    directions = DIRECTIONS.get(call.str("direction", "forward").lower())
    if directions is None:
        call.fail("bad-attribute", f"{call.str('direction')!r} is no direction", attr="direction")
    length, batch = fresh_dims(call, 2) if x is None else x[:2]
    hidden: Dim = call.int("hidden_size", 0)
    recurrence = shape_of(call, 2)
    if hidden == 0:
        if recurrence is None or len(recurrence) != 3:
            hidden = call.fresh()
        else:  # AttnLSTM has [directions, 4*hidden, hidden], DynamicQuantizeLSTM [directions, hidden, 4*hidden]
            hidden = recurrence[2 if call.node.op_type == "AttnLSTM" else 1]
    dtype = dtype_of(call, "0")
    state = TensorType(dtype, (directions, batch, hidden))
    return TensorType(dtype, (length, directions, batch, hidden)), state, state


rules.table(lstm, {"AttnLSTM": 1, "DynamicQuantizeLSTM": 1})


@rules("CausalConvWithState")
def causal_conv_with_state(call: Call) -> tuple[Answer, ...]:
    """Convolve each channel with its past; the state holds what the kernel reaches back to."""
    data, weights = call.tensor(0), shape_of(call, 1)
    shape = data.shape
    if shape is None:
        return None, None
    if not shape:
        call.fail("rank-mismatch", "the input is a scalar; it needs a batch, channels and positions")
    last = call.int("channels_last", 0) != 0
    reach: Dim = call.int("state_length", 0) or call.fresh()
    if not call.int("state_length", 0) and weights is not None and len(weights) >= 3:
        reach = back(call, weights[-1])
    width: int = call.int("input_channels", 0)
    if width:  # a slice of the channels, which lie last
        shape = (*shape[:-1], width)
    behind: int = call.int("state_channels_last", -1)
    window: int = call.int("state_window", 0)
    front: Shape = (window,) if window > 0 else ()
    state: Shape | None
    if call.int("ndim", 1) != 1 or len(shape) < 3:
        state = shape_of(call, 3)
    elif behind in (-1, int(last)):
        state = (*front, shape[0], reach, *shape[2:]) if last else (*front, *shape[:2], reach)
    elif len(shape) == 3:
        channels = shape[2] if last else shape[1]
        state = (*front, shape[0], reach, channels) if behind else (*front, shape[0], channels, reach)
    else:
        state = None
    captured = call.int("state_update_capacity", 0)
    update = data.with_shape((shape[0], captured, shape[-1])) if captured > 0 else data.with_shape(None)
    return data.with_shape(shape), data.with_shape(state), update


def back(call: Call, kernel: Dim) -> Dim:
    """Return how many positions before the current one a kernel reaches."""
    return times(call, plus(call, kernel, -1), max(call.int("dilation", 1), 1))


@rules("VarlenCausalConvWithState")
def varlen_causal_conv_with_state(call: Call) -> tuple[Answer, ...]:
    """Convolve packed tokens [tokens, channels]; the state is [batch, channels, reach]."""
    data, state = call.tensor(0), call.peek(4)
    held = state.shape if isinstance(state, TensorType) else None
    batch = held[0] if held else call.fresh()
    channels = data.shape[-1] if data.shape else call.fresh()
    return data, state, data.with_shape((batch, max(call.int("state_update_capacity", 0), 0), channels))


@rules("LinearAttention")
def linear_attention(call: Call) -> tuple[Answer, ...]:
    """Attend by a recurrent state [batch, kv_heads, key size, value size]; inputs are [batch, length, heads*size]."""
    heads, groups = heads_of(call, "q_num_heads"), heads_of(call, "kv_num_heads")
    query, value = with_rank(call, 0, "query", 3), with_rank(call, 2, "value", 3)
    batch, length = fresh_dims(call, 2) if query is None else query[:2]
    key_size: Dim = call.fresh() if query is None else share(call, query[2], heads, "the last dim of query")
    size: Dim = call.fresh() if value is None else share(call, value[2], groups, "the last dim of value")
    window: int = call.int("state_window", 0)
    state = (*((window,) if window > 0 else ()), batch, groups, key_size, size)
    output = TensorType(dtype_of(call, "0"), (batch, length, times(call, max(heads, groups), size)))
    dtype = dtype_of(call, "3") if call.has(3) else dtype_of(call, "0")
    return output, TensorType(dtype, state)


@rules("GatedDeltaNet")
def gated_delta_net(call: Call) -> tuple[Answer, ...]:
    """Attend by a recurrent state [batch, v_heads, v_size, qk_size] over packed tokens [tokens, heads, size]."""
    query, value, state = call.tensor(0), shape_of(call, 2), shape_of(call, 6)
    front = None if query.shape is None else query.shape[:-2] if call.has(2) else query.shape[:-1]
    q = query.shape
    heads: Dim | None = None
    size: Dim | None = None
    if value is not None and len(value) >= 3:
        heads, size = value[-2], value[-1]
    elif state is not None and len(state) == 4:
        heads, size = state[1], state[2]
    output: Shape | None = None
    if front is not None:
        output = (*front, call.fresh() if heads is None else heads, call.fresh() if size is None else size)
    kept: Shape
    if state is not None and len(state) == 4:
        kept = state
    else:
        offsets = shape_of(call, 3)
        batch: Dim = plus(call, offsets[0], -1) if offsets else call.fresh()
        reach = q[-1] if q is not None and len(q) >= 3 and call.has(2) else call.fresh()
        kept = (batch, output[-2] if output else call.fresh(), output[-1] if output else call.fresh(), reach)
    return (
        query.with_shape(output),
        TensorType(DType.FLOAT, kept),
        TensorType(DType.FLOAT, (kept[0], captured_factors(call, kept, q))),
    )


def captured_factors(call: Call, state: Shape, query: Shape | None) -> Dim:
    """Return how many numbers a captured transition takes: decays, keys, and deltas, one after the other."""
    capacity: int = call.int("state_update_capacity", 0)
    decay = shape_of(call, 4)
    if not call.has(1) or query is None or decay is None or len(query) not in (3, 4):
        return call.fresh()
    heads, size, reach = state[1:]
    decays = times(call, heads, reach) if len(decay) == len(query) else heads
    keys = times(call, query[-2], query[-1])
    return attempt(call, lambda: capacity * (decays + keys + times(call, heads, size)))


@rules("Mamba2Verify")
def mamba2_verify(call: Call) -> tuple[Answer, ...]:
    """Run rows [R, width] through convolution, recurrence and normalization; snapshots keep their sizes."""
    rows = shape_of(call, 0)
    count = rows[0] if rows else call.fresh()
    inner: int = call.int("heads") * call.int("head_dim", 64)
    channels = inner + 2 * call.int("n_groups") * call.int("d_state", 128)
    dtype = dtype_of(call, "0")
    return (
        TensorType(dtype, (count, inner)),
        call.peek(1),
        call.peek(2),
        TensorType(dtype, (count, channels)),
        TensorType(DType.FLOAT, (count, inner)),
    )
