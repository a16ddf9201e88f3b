"""Check rules for layers that carry a state, against onnxruntime where it is installed."""

from __future__ import annotations

from functools import partial

from tests.ops import cases
from tests.ops.runtime import ran

case = partial(cases.case, domain="com.microsoft")
fails = partial(cases.fails, domain="com.microsoft")


def test_lstm():
    memory = "f32[1,4,5] f32[1,6,5] f32[1,5] f32[b,7,6] i32[b]"
    ran("AttnLSTM", f"f32[s,b,3] f32[1,16,9] f32[1,16,4] - - - - - {memory}", "f32[s,1,b,4] f32[1,b,4] f32[1,b,4]",
        feed={12: lambda sizes: (6, (sizes["b"],), [7] * sizes["b"])}, hidden_size=4)  # fmt: skip
    scales = "f32[2] u8[2] f32[2] u8[2]"
    ran("DynamicQuantizeLSTM", f"f32[s,b,3] u8[2,3,16] u8[2,4,16] - - - - - {scales}",
        "f32[s,2,b,4] f32[2,b,4] f32[2,b,4]", hidden_size=4, direction="bidirectional")  # fmt: skip
    case("AttnLSTM", "f32[s,b,3] f32[1,16,9] f32[1,16,4]", "f32[s,1,b,4]")
    case("DynamicQuantizeLSTM", "f32[s,b,3] u8[1,3,16] u8[1,4,16]", "f32[s,1,b,4]")
    fails("AttnLSTM", "f32[2,3,4] f32[1,16,9] f32[1,16,4]", "bad-attribute", direction="sideways")


def test_convolution_with_a_past():
    name = "CausalConvWithState"
    ran(name, "f32[b,4,l] f32[4,1,3]", "f32[b,4,l] f32[b,4,2]")
    ran(name, "f32[b,4,l] f32[4,1,3] f32[4] f32[b,4,4]", "f32[b,4,l] f32[b,4,4]", dilation=2, activation="silu")
    ran(name, "f32[b,l,4] f32[4,1,3]", "f32[b,l,4] f32[b,2,4]", channels_last=1)
    ran(name, "f32[b,l,2,2] f32[4,1,3]", "f32[b,l,2,2] f32[b,2,2,2]", channels_last=1)
    case(name, "f32[b,4,l] f32[4,1,3] - f32[3,b,4,2]", "f32[b,4,l] f32[3,b,4,2]", state_window=3)
    case(name, "f16[b,l,8] f16[4,1,3]", "f16[b,l,4] f16[b,2,4] f16[b,2,4]", channels_last=1, input_channels=4,
         state_update_capacity=2)  # fmt: skip
    case(name, "f16[b,l,4] f16[4,1,3]", "f16[b,l,4] f16[b,4,2]", channels_last=1, state_channels_last=0)
    packed = "f32[t,4] f32[4,1,3] i32[2]=[0,t] - f32[1,4,2]"
    ran("VarlenCausalConvWithState", packed, "f32[t,4] f32[1,4,2]")
    ran("VarlenCausalConvWithState", f"{packed} i32[1]=[1]", "f32[t,4] f32[1,4,2] f32[1,3,4]",
        state_update_capacity=3)  # fmt: skip
    fails(name, "f32[] f32[4,1,3]", "rank-mismatch", outputs=2)


def test_linear_attention():
    heads = {"q_num_heads": 2, "kv_num_heads": 2}
    inputs = "f32[b,t,8] f32[b,t,8] f32[b,t,6]"
    ran("LinearAttention", inputs, "f32[b,t,6] f32[b,2,4,3]", update_rule="linear", **heads)
    ran("LinearAttention", f"{inputs} f32[b,2,4,3] f32[b,t,2] f32[b,t,2]", "f32[b,t,6] f32[b,2,4,3]", **heads)
    ran("LinearAttention", "f32[b,t,16] f32[b,t,8] f32[b,t,6]", "f32[b,t,12] f32[b,2,4,3]", update_rule="linear",
        q_num_heads=4, kv_num_heads=2)  # fmt: skip
    ran("LinearAttention", "f32[b,t,8] f32[b,t,16] f32[b,t,12]", "f32[b,t,12] f32[b,4,4,3]", update_rule="linear",
        q_num_heads=2, kv_num_heads=4)  # fmt: skip
    case("LinearAttention", inputs, "f32[b,t,6] f32[3,b,2,4,3]", update_rule="linear", state_window=3, **heads)


def test_gated_delta_nets():
    name, state = "GatedDeltaNet", "f32[1,4,3,8]"
    gates = "i32[2]=[0,t] f32[t,4] f32[t,4]"
    ran(name, f"f32[t,2,8] f32[t,2,8] f32[t,4,3] {gates} {state}", "f32[t,4,3] f32[1,4,3,8]", qk_l2_norm=1)
    ran(name, "f32[t,2,8] f32[t,2,8] f32[t,4,3] i32[2]=[0,t]", "f32[t,4,3] f32[1,4,3,8]", update_rule="linear")
    ran(name, f"f32[t,44] - - {gates} {state}", "f32[t,4,3] f32[1,4,3,8]", qk_l2_norm=1)
    ran(name, f"f32[1,t,2,8] f32[1,t,2,8] f32[1,t,4,3] - f32[1,t,4] f32[1,t,4] {state}",
        "f32[1,t,4,3] f32[1,4,3,8]", qk_l2_norm=1)  # fmt: skip
    ran(name, f"f32[t,2,8] f32[t,2,8] f32[t,4,3] {gates} {state} - - i32[1]=[1]",
        "f32[t,4,3] f32[1,4,3,8] f32[1,64]", state_update_capacity=2, qk_l2_norm=1)  # fmt: skip
    ran(name, f"f32[t,2,8] f32[t,2,8] f32[t,4,3] i32[2]=[0,t] f32[t,4,8] f32[t,4] {state} - - i32[1]=[1]",
        "f32[t,4,3] f32[1,4,3,8] f32[1,120]", state_update_capacity=2, qk_l2_norm=1)  # fmt: skip


def test_mamba():
    case("Mamba2Verify", "bf16[r,514] bf16[s,384,3] f32[s,2,128,64]",
         "bf16[r,128] bf16[s,384,3] f32[s,2,128,64] bf16[r,384] f32[r,128]", heads=2, n_groups=1)  # fmt: skip
