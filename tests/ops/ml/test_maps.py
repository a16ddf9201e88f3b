"""Check rules for operators between maps and tensors, against onnxruntime where it is installed."""

from __future__ import annotations

from functools import partial

from tests.ops import cases
from tests.ops.runtime import ran as run_case

ran = partial(run_case, domain="ai.onnx.ml")
case = partial(cases.case, domain="ai.onnx.ml")
fails = partial(cases.fails, domain="ai.onnx.ml")


def test_rows_become_maps():
    ran("ZipMap", "f32[n,3]", "seq(map(i64,f32[]))*n", classlabels_int64s=[1, 2, 3])
    ran("ZipMap", "f32[n,2]", "seq(map(str,f32[]))*n", classlabels_strings=["a", "b"])
    ran("ZipMap", "f32[2]", "seq(map(str,f32[]))*1", classlabels_strings=["a", "b"])
    case("ZipMap", "f32", "seq(map(str,f32[]))*?", classlabels_strings=["a", "b"], deeper=False)
    fails("ZipMap", "f32[n,3]", "dim-mismatch", classlabels_int64s=[1, 2])
    fails("ZipMap", "f32[n,3,3]", "rank-mismatch", classlabels_int64s=[1, 2, 3])
    fails("ZipMap", "f32[n,1]", "bad-attribute", classlabels_int64s=[1], classlabels_strings=["a"])


def test_maps_become_rows():
    entries = {0: {0: 1.5, 2: 2.5}}
    ran("CastMap", "map(i64,f32[])", "f32[1,?]", feed=entries)
    ran("CastMap", "map(i64,f32[])", "f32[1,5]", feed=entries, map_form="SPARSE", max_map=5)
    case("CastMap", "map(i64,str[])", "i64[1,?]", cast_to="TO_INT64")
    case("CastMap", "map(i64,str[])", "str[1,?]", cast_to="TO_STRING")
    fails("CastMap", "map(i64,f32[])", "bad-attribute", cast_to="TO_BOOL")
    fails("CastMap", "map(i64,f32[])", "bad-attribute", map_form="LOOSE")
    fails("CastMap", "f32[2]", "wrong-kind")


def test_a_vocabulary_orders_the_values():
    ran("DictVectorizer", "map(i64,f32[])", "f32[1,3]", feed={0: {0: 1.5, 2: 2.5}}, int64_vocabulary=[0, 1, 2])
    ran("DictVectorizer", "map(str,f32[])", "f32[1,2]", feed={0: {"a": 1.5}}, string_vocabulary=["a", "b"])
    case("DictVectorizer", "map(str,i64[])", "i64[1,2]", string_vocabulary=["a", "b"])
    case("DictVectorizer", "map(i64,str[])", "str[1,1]", int64_vocabulary=[4])
    fails("DictVectorizer", "f32[2]", "wrong-kind", int64_vocabulary=[4])
