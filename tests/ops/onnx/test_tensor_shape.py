"""Check rules for what tells, changes or keeps the shape of a tensor."""

from __future__ import annotations

from tests.infer.models import infer, types
from tests.ops.cases import case, fails


def test_a_shape_is_known_element_by_element():
    case("Shape", "f32[b,3,s]", "i64[3]=[b,3,s]")
    case("Shape", "f32[b,3,s]", "i64[2]=[3,s]", start=1)
    case("Shape", "f32[b,3,s]", "i64[1]=[3]", start=-2, end=-1)
    case("Shape", "f32[b,3,s]", "i64[3]=[b,3,s]", start=-9, end=9)
    case("Shape", "f32[b,3,s]", "i64[0]", start=2, end=1)
    case("Shape", "f32[]", "i64[0]")
    case("Shape", "f32", "i64[?]")
    case("Size", "f32[b,3,s]", "i64[]=[3*b*s]")
    case("Size", "f32[b,0]", "i64[]=[0]")
    case("Size", "f32", "i64[]")


def test_a_size_beyond_what_a_dim_can_be_is_unknown():
    outcome = case("Size", "u8[9223372036854775807,2]", "i64[]=[?]")
    assert [issue.code for issue in outcome.issues] == ["size-too-large"]


def test_identity_keeps_everything():
    case("Identity", "i64[2]=[b,-1]", "i64[2]=[b,-1]")
    case("Identity", "seq(f32[b])*3", "seq(f32[b])*3")


def test_reshape_to_numbers():
    case("Reshape", "f32[2,3,4] i64[2]=[6,4]", "f32[6,4]")
    case("Reshape", "f32[2,3,4] i64[2]=[-1,4]", "f32[6,4]")
    case("Reshape", "f32[b,3,4] i64[3]=[0,-1,2]", "f32[b,6,2]")
    case("Reshape", "f32[0,3] i64[2]=[0,7]", "f32[0,7]")
    case("Reshape", "f32[0,3] i64[2]=[7,0]", "f32[7,0]", allowzero=1)
    case("Reshape", "f32[b,4]", "f32[b,2,2]", opset=1, shape=[0, 2, -1])
    case("Reshape", "f32[1] i64[0]=[]", "f32[]")
    case("Reshape", "? i64[2]=[6,4]", "?[6,4]")
    fails("Reshape", "f32[2,3] i64[2]=[4,2]", "dim-mismatch")
    fails("Reshape", "f32[2,3] i64[2]=[4,-1]", "dim-mismatch")
    fails("Reshape", "f32[2,3] i64[2]=[-1,-1]", "bad-input")
    fails("Reshape", "f32[2,3] i64[2]=[-2,3]", "bad-input")
    fails("Reshape", "f32[2,3] i64[3]=[2,3,0]", "bad-input")
    fails("Reshape", "f32[2,3] i64[2]=[0,-1]", "bad-input", allowzero=1)
    fails("Reshape", "f32[0,3] i64[2]=[-1,0]", "bad-input", opset=14, allowzero=1)
    fails("Reshape", "f32[2,3] i64[]=[6]", "rank-mismatch")


def test_reshape_to_sizes():
    case("Reshape", "f32[b,s,768] i64[4]=[b,s,12,64]", "f32[b,s,12,64]")
    case("Reshape", "f32[b,s,12,64] i64[3]=[b,s,-1]", "f32[b,s,768]")
    case("Reshape", "f32[b,s,768] i64[4]=[0,0,12,-1]", "f32[b,s,12,64]")
    case("Reshape", "f32[b,s,768] i64[2]=[-1,768]", "f32[b*s,768]")
    case("Reshape", "f32[b*h,s,s] i64[4]=[b,h,s,s]", "f32[b,h,s,s]")
    case("Reshape", "f32[b,2*s,c] i64[4]=[b,s,-1,c]", "f32[b,s,2,c]")
    case("Reshape", "f32[b,s] i64[1]=[-1]", "f32[b*s]")
    case("Reshape", "f32[b,s,4] i64[2]=[s+1,-1]", "f32[s+1,4*b*s/(s+1)]")


def test_a_size_as_element_assumes_that_it_is_not_a_zero_that_copies():
    outcome = case("Reshape", "f32[b,s] i64[2]=[s,b]", "f32[s,b]")
    assert outcome.assumed == ["reshape-zero s b", "reshape-zero b s"]
    assert case("Reshape", "f32[b,s] i64[2]=[b,s]", "f32[b,s]").assumed == []
    assert case("Reshape", "f32[b,s] i64[2]=[s,b]", "f32[s,b]", allowzero=1).assumed == []
    assert case("Reshape", "f32[b,s] i64[2]=[s,b]", "f32[s,b]", least={"s": 1, "b": 1}).assumed == []


def test_reshape_to_what_is_not_known():
    case("Reshape", "f32[b,s] i64[3]", "f32[?,?,?]")
    case("Reshape", "f32[b,s] i64[1]", "f32[b*s]")
    case("Reshape", "f32[b,s] i64[n]", "f32")
    case("Reshape", "f32[b,s] i64", "f32")
    case("Reshape", "f32 i64[2]=[0,-1]", "f32[?,?]")
    case("Reshape", "f32[6] i64[2]=[2,?]", "f32[2,3]")


def test_elements_survive_a_reshape():
    case("Reshape", "i64[2,2]=[b,1,2,s] i64[1]=[-1]", "i64[4]=[b,1,2,s]")
    case("Flatten", "i64[2,2]=[b,1,2,s]", "i64[1,4]=[b,1,2,s]", axis=0)


def test_flatten_makes_a_matrix():
    case("Flatten", "f32[b,3,s]", "f32[b,3*s]")
    case("Flatten", "f32[b,3,s]", "f32[1,3*b*s]", axis=0)
    case("Flatten", "f32[b,3,s]", "f32[3*b*s,1]", axis=3)
    case("Flatten", "f32[b,3,s]", "f32[3*b,s]", axis=-1)
    case("Flatten", "f32[]", "f32[1,1]", axis=0)
    case("Flatten", "f32", "f32[?,?]")
    fails("Flatten", "f32[2,3]", "axis-out-of-range", axis=3)


def test_squeeze_drops_ones():
    case("Squeeze", "f32[1,b,1]", "f32[b,1]", opset=11, axes=[0])
    case("Squeeze", "f32[1,b,1] i64[1]=[-1]", "f32[1,b]")
    case("Squeeze", "f32[1,3,1]", "f32[3]")
    case("Squeeze", "f32[1,b,1]", "f32")
    case("Squeeze", "f32[1,b,1]", "f32[b]", least={"b": 2})
    case("Squeeze", "f32[s,b] i64[1]=[0]", "f32[b]")
    case("Squeeze", "f32[1,b,1] i64[1]", "f32[?,?]")
    case("Squeeze", "f32[1,3,1] i64[2]", "f32[3]")
    case("Squeeze", "f32[1,3] i64[n]", "f32")
    case("Squeeze", "f32[1,3] i64[0]", "f32")  # no axis, or every one of size 1: runtimes differ
    case("Squeeze", "f32[2,3] i64[0]", "f32[2,3]")
    case("Squeeze", "i64[1]=[b] i64[1]=[0]", "i64[]=[b]")
    fails("Squeeze", "f32[2,3] i64[1]=[0]", "dim-mismatch")
    fails("Squeeze", "f32[1,3] i64[2]=[0,0]", "axis-twice")
    fails("Squeeze", "f32[1,3] i64[1]=[2]", "axis-out-of-range")


def test_unsqueeze_inserts_ones():
    case("Unsqueeze", "f32[b,3]", "f32[1,b,1,3]", opset=11, axes=[0, 2])
    case("Unsqueeze", "f32[b,3] i64[2]=[0,-1]", "f32[1,b,3,1]")
    case("Unsqueeze", "f32[b,3] i64[2]=[-1,-2]", "f32[b,3,1,1]")
    case("Unsqueeze", "i64[]=[b] i64[1]=[0]", "i64[1]=[b]")
    case("Unsqueeze", "f32[] i64[2]", "f32[1,1]")
    case("Unsqueeze", "f32[b] i64[1]", "f32[?,?]")
    case("Unsqueeze", "f32[b] i64", "f32")
    fails("Unsqueeze", "f32[2,3] i64[1]=[4]", "axis-out-of-range")
    fails("Unsqueeze", "f32[2,3] i64[2]=[0,-4]", "axis-twice")


def test_elements_are_carried_through_transpose_but_not_those_of_a_weight():
    a, b, c = (", ".join(map(str, range(count))) for count in (128, 64, 128))
    text = f"""g (int64[1] k) => (int64[32, 4] y, float[8, 8] z, float[32, 4] w)
        <int64[4, 32] a = {{{a}}}, float[8, 8] b = {{{b}}}, float[4, 32] c = {{{c}}}> {{
            y = Transpose (a)  z = Transpose (b)  w = Transpose (c)
        }}"""
    inference = infer(text)
    known = {value.name: content for value, content in inference.activation.contents.items()}
    assert known["y"][:3] == (0, 32, 64)
    assert known["z"][:3] == (0.0, 8.0, 16.0)
    assert known.get("w") is None


def test_transpose_permutes():
    case("Transpose", "f32[n,c,h,w]", "f32[n,h,w,c]", perm=[0, 2, 3, 1])
    case("Transpose", "f32[n,c,h]", "f32[h,c,n]")
    case("Transpose", "f32", "f32[?,?]", perm=[1, 0])
    case("Transpose", "i64[2,2]=[1,b,3,s]", "i64[2,2]=[1,3,b,s]")
    fails("Transpose", "f32[2,3]", "bad-permutation", perm=[0, 0])
    fails("Transpose", "f32[2,3]", "bad-permutation", perm=[1, 0, 2])


def test_expand_broadcasts_with_a_shape():
    case("Expand", "f32[b,1,4] i64[3]=[1,s,4]", "f32[b,s,4]")
    case("Expand", "f32[4] i64[3]=[b,s,4]", "f32[b,s,4]")
    case("Expand", "f32[b,1,4] i64[1]=[1]", "f32[b,1,4]")
    case("Expand", "f32[3,1] i64[2]", "f32[3,?]")
    case("Expand", "f32[3,1] i64[1]", "f32[3,?]")
    case("Expand", "f32[3,1] i64[n]", "f32")
    case("Expand", "i64[]=[b] i64[1]=[3]", "i64[3]=[b,b,b]")
    case("Expand", "f32[0,1] i64[2]=[1,s]", "f32[0,s]")
    fails("Expand", "f32[2] i64[1]=[-1]", "bad-input")
    fails("Expand", "f32[2] i64[1]=[3]", "dim-mismatch")


def test_a_copy_of_an_unknown_number_is_the_same_number():
    known = types(
        infer(
            """g (int64 n) => (y) <int64[1] at = {0}> {
                m = Identity (n)
                a = Unsqueeze (m, at)
                b = Unsqueeze (n, at)
                s = Concat <axis = 0> (a, b)
                y = ConstantOfShape (s)
            }"""
        )
    )
    assert known["y"] == "tensor(float)[_d0, _d0]"
