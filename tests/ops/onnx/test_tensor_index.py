"""Check rules for what reads tensors by index, and finds positions in them."""

from __future__ import annotations

from tests.ops.cases import case, fails


def test_gather_puts_the_axes_of_the_indices_in_place_of_one():
    case("Gather", "f32[v,8] i64[b,s]", "f32[b,s,8]")
    case("Gather", "f32[b,s,8] i64[]", "f32[b,8]", axis=1)
    case("Gather", "f32[b,s] i64[3]", "f32[b,3]", axis=-1)
    case("Gather", "f32[b,s] i64", "f32")
    case("Gather", "f32 i64[3]", "f32")
    fails("Gather", "f32[2,3] i64[1]", "axis-out-of-range", axis=2)
    fails("Gather", "f32[] i64[1]", "axis-out-of-range")


def test_gather_picks_elements():
    case("Gather", "i64[4]=[b,s,3,4] i64[]=[1]", "i64[]=[s]")
    case("Gather", "i64[4]=[b,s,3,4] i64[2]=[-1,0]", "i64[2]=[4,b]")
    case("Gather", "i64[4]=[b,s,3,4] i64[1,2]=[1,1]", "i64[1,2]=[s,s]")
    case("Gather", "i64[2,2]=[b,s,3,4] i64[]=[1]", "i64[2]=[s,4]", axis=1)
    case("Gather", "i64[4] i64[]=[1]", "i64[]=[?]")
    case("Gather", "i64[2]=[b,s] i64[]=[n]", "i64[]=?")
    case("Gather", 'str[2]=["a","b"] i64[]=[1]', 'str[]=["b"]')
    fails("Gather", "i64[2]=[b,s] i64[]=[2]", "bad-input")


def test_gather_elements_has_the_shape_of_the_indices():
    case("GatherElements", "f32[b,s] i64[b,3]", "f32[b,3]", axis=1)
    case("GatherElements", "f32[b,s] i64", "f32[?,?]")
    case("GatherElements", "i64[3]=[b,s,7] i64[2]=[-1,0]", "i64[2]=[7,b]")
    case("GatherElements", "i64[2,2]=[1,2,3,4] i64[1,2]=[1,0]", "i64[1,2]=[3,2]")
    fails("GatherElements", "f32[2,3] i64[2]", "rank-mismatch")
    fails("GatherElements", "i64[1,2]=[1,2] i64[3,1]=[0,0,0]", "dim-mismatch", axis=1)


def test_gather_nd_reads_coordinates():
    case("GatherND", "f32[b,s,8] i64[n,2]", "f32[n,8]")
    case("GatherND", "f32[b,s,8] i64[b,n,1]", "f32[b,n,8]", batch_dims=1)
    case("GatherND", "f32[b,s,8] i64[n,k]", "f32")
    case("GatherND", "i64[2,2]=[b,s,3,4] i64[2,2]=[0,1,-1,0]", "i64[2]=[s,3]")
    case("GatherND", "i64[2,2]=[b,s,3,4] i64[1,1]=[1]", "i64[1,2]=[3,4]")
    fails("GatherND", "f32[2,3] i64[4,3]", "bad-input")
    fails("GatherND", "f32[2,3] i64[4,1]", "dim-mismatch", batch_dims=1)
    fails("GatherND", "f32[2,3] i64[]", "rank-mismatch")
    fails("GatherND", "f32[2,3] i64[2]", "bad-attribute", batch_dims=-1)


def test_one_hot_inserts_the_depth():
    case("OneHot", "i64[b,s] i64[]=[10] f32[2]", "f32[b,s,10]")
    case("OneHot", "i64[b,s] i64[1]=[n] f32[2]", "f32[b,n,s]", axis=1)
    case("OneHot", "i64[b,s] f32[]=[10.0] f32[2]", "f32[10,b,s]", axis=0)
    case("OneHot", "i64[b,s] i64[] f32[2]", "f32[b,s,?]")
    case("OneHot", "i64[3]=[0,-1,5] i64[]=[2] i64[2]=[0,1]", "i64[3,2]=[1,0,0,1,0,0]")
    fails("OneHot", "i64[2] i64[]=[-1] f32[2]", "bad-input")
    fails("OneHot", "i64[2] i64[]=[3] f32[2]", "axis-out-of-range", axis=2)


def test_top_k_keeps_k():
    case("TopK", "f32[b,10] i64[1]=[k]", "f32[b,k] i64[b,k]")
    case("TopK", "f32[b,10] i64[1]", "f32[b,?] i64[b,?]", axis=1)
    case("TopK", "f32[b,10]", "f32[3,10] i64[3,10]", opset=1, k=3, axis=0)
    case("TopK", "i64[4]=[3,9,1,9] i64[1]=[2]", "i64[2]=[9,9] i64[2]=[1,3]")
    case("TopK", "i64[4]=[3,9,1,9] i64[1]=[2]", "i64[2]=[1,3] i64[2]=[2,0]", largest=0)
    case("TopK", "i64[2]=[b,9] i64[1]=[1]", "i64[1] i64[1]")
    fails("TopK", "f32[3] i64[1]=[4]", "bad-input", outputs=2)


def test_the_data_decides_how_much_is_not_zero():
    outcome = case("NonZero", "f32[b,3]", "i64[2,?]")
    [count] = [dim for dim in outcome.facts[0].type.shape if not isinstance(dim, int)]
    b = outcome.scope.find("b")
    assert outcome.scope.at_least(3 * b, count) is True
    case("NonZero", "f32[]", "i64[?,?]")
    case("NonZero", "f32[0,3]", "i64[2,0]")
    case("NonZero", "f32", "i64[?,?]")
    case("NonZero", "i64[4]=[0,2,0,1]", "i64[1,2]=[1,3]")
    case("NonZero", "bool[2,2]=[True,False,False,True]", "i64[2,2]=[0,1,0,1]")
    case("NonZero", "i64[2]=[b,1]", "i64[1,?]")


def test_compress_keeps_what_the_condition_says():
    case("Compress", "f32[b,3] bool[n]", "f32[?]")
    case("Compress", "f32[b,3] bool[n]", "f32[b,?]", axis=1)
    case("Compress", "f32[b,3] bool[3]=[True,False,True]", "f32[b,2]", axis=1)
    case("Compress", "f32[b,3] bool[2]=[True,True]", "f32[?,3]", axis=0)
    case("Compress", "i64[3]=[b,s,3] bool[2]=[False,True]", "i64[1]=[s]", axis=0)
    case("Compress", "i64[3]=[b,s,3] bool[3]=[True,False,True]", "i64[2]=[b,3]")
    case("Compress", "f32 bool[n]", "f32[?]")


def test_unique_keeps_each_once():
    case("Unique", "f32[b,s]", "f32[?] i64[?] i64[b*s] i64[?]")
    case("Unique", "f32[b,s]", "f32[b,?] i64[?] i64[s] i64[?]", axis=1)
    case("Unique", "f32[1]", "f32[1] i64[1] i64[1] i64[1]")
    case("Unique", "f32", "f32[?] i64[?] i64[?] i64[?]")
    outcome = case("Unique", "f32[b]", "f32[?]", least={"b": 1})
    assert outcome.scope.is_positive(outcome.facts[0].type.shape[0])
