"""Check rules for recurrent layers."""

from __future__ import annotations

import pytest

from tests.ops.cases import case, fails


@pytest.mark.parametrize(("op_type", "gates"), [("RNN", 1), ("GRU", 3), ("LSTM", 4)])
def test_states_come_by_step_and_direction(op_type, gates):
    inputs = f"f32[s,b,3] f32[1,{4 * gates},3] f32[1,{4 * gates},4]"
    case(op_type, inputs, "f32[s,1,b,4] f32[1,b,4]", hidden_size=4)
    case(op_type, inputs, "f32[s,1,b,4] f32[1,b,4]", opset=1, direction="reverse")
    both = f"f32[s,b,3] f32[2,{4 * gates},3] f32[2,{4 * gates},4]"
    case(op_type, both, "f32[s,2,b,4] f32[2,b,4]", direction="bidirectional")


def test_batches_can_come_first():
    case("LSTM", "f32[b,s,3] f32[1,16,3] f32[1,16,4]", "f32[b,s,1,4] f32[b,1,4] f32[b,1,4]", layout=1)


def test_the_hidden_size_may_come_from_anywhere():
    case("LSTM", "f32[s,b,3] f32[1,16,3] f32", "f32[s,1,b,4] f32[1,b,4] f32[1,b,4]")
    case("LSTM", "f32[s,b,3] f32 f32", "f32[s,1,b,4] f32[1,b,4]", hidden_size=4)
    case("LSTM", "f32[s,b,3] f32 f32[1,4*h,h]", "f32[s,1,b,h] f32[1,b,h]")
    case("LSTM", "f32 f32 f32", "f32[?,1,?,?] f32[1,?,?]")


def test_layers_that_cannot_run_are_refused():
    fails("LSTM", "f32[s,b,3] f32[1,16,3] f32[1,16,4]", "dim-mismatch", hidden_size=5)
    fails("LSTM", "f32[s,3] f32[1,16,3] f32[1,16,4]", "rank-mismatch")
    fails("LSTM", "f32[s,b,3] f32[1,16,3] f32[16,4]", "rank-mismatch")
    fails("LSTM", "f32[s,b,3] f32[1,16,3] f32[1,16,4]", "bad-attribute", direction="up")
    fails("LSTM", "f32[s,b,3] f32[1,16,3] f32[1,16,4]", "bad-attribute", hidden_size=0)
