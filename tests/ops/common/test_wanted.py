"""Check how sizes that a node asks for are taken, by the messages of those that cannot be."""

from __future__ import annotations

from tests.ops.cases import case, fails


def test_dims_that_must_be_equal_are_joined_and_the_number_wins():
    outcome = case("GridSample", "f32[n,c,h,w] f32[4,a,b,2]", "f32[4,c,a,b]")
    assert outcome.assumed == ["joined-dims n 4"]
    message = fails("GridSample", "f32[3,c,h,w] f32[4,a,b,2]", "dim-mismatch")
    assert message == "batch sizes of X and grid must be equal, but are 3 and 4"


def test_a_whole_is_shared_evenly():
    case("Attention", "f32[b,s,8*h] f32[b,t,2*h] f32[b,t,6]", "f32[b,s,24]", q_num_heads=8, kv_num_heads=2)
    given = {"q_num_heads": 8, "kv_num_heads": 2}
    message = fails("Attention", "f32[b,s,64] f32[b,t,16] f32[b,t,2*h+1]", "bad-input", **given)
    assert message == "the last dim of V is 2*h + 1, which is no multiple of 2"


def test_a_size_that_is_asked_for_cannot_be_negative():
    message = fails("HannWindow", "i64[]=[-3]", "bad-input")
    assert message == "size is -3, but a size cannot be negative"
    case("HannWindow", "i64[]=[2*s]", "f32[2*s]")
    case("HannWindow", "i64[]=[?]", "f32[?]")
