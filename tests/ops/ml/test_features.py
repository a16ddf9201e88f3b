"""Check rules for operators that prepare features, against onnxruntime where it is installed."""

from __future__ import annotations

from functools import partial

import numpy as np

from tests.ops import cases
from tests.ops.runtime import ran as run_case

ran = partial(run_case, domain="ai.onnx.ml")
case = partial(cases.case, domain="ai.onnx.ml")
fails = partial(cases.fails, domain="ai.onnx.ml")


def test_shapes_stay_where_elements_are_scaled():
    ran("Binarizer", "f32[n,c]", "f32[n,c]")
    case("Binarizer", "i64[n]", "i64[n]")
    ran("Imputer", "f32[n,c]", "f32[n,c]", imputed_value_floats=[1.0])
    ran("Imputer", "i64[n]", "i64[n]", imputed_value_int64s=[1])
    ran("Scaler", "f64[n,3]", "f32[n,3]", scale=[1.0], offset=[0.0])
    ran("Scaler", "i32[n,a,b]", "f32[n,a,b]", scale=[1.0], offset=[0.0])
    ran("Normalizer", "i64[n,c]", "f32[n,c]", norm="L2")
    ran("Normalizer", "f32[c]", "f32[c]")


def test_labels_have_the_type_of_the_values():
    ran("CategoryMapper", "str[n]", "i64[n]", cats_int64s=[1, 2], cats_strings=["a", "b"])
    ran("CategoryMapper", "i64[n,m]", "str[n,m]", cats_int64s=[1, 2], cats_strings=["a", "b"])
    ran("LabelEncoder", "str[n]", "i64[n]", opset=1, classes_strings=["a", "b"])
    ran("LabelEncoder", "i64[]", "str[]", opset=1, classes_strings=["a", "b"])
    ran("LabelEncoder", "i64[n,m]", "f32[n,m]", opset=2, keys_int64s=[0, 1], values_floats=[1.0, 2.0])
    ran("LabelEncoder", "str[n]", "i64[n]", opset=3, keys_strings=["a"], values_int64s=[4])
    ran("LabelEncoder", "f32[n]", "str[n]", opset=4, keys_floats=[1.0], values_strings=["b"])
    ran("LabelEncoder", "i64[n,2]", "f64[n,2]", keys_tensor=np.array([0, 1]), values_tensor=np.array([1.5, 2.5]))
    case("LabelEncoder", "i64[n]", "?[n]", opset=2)


def test_one_hot_adds_an_axis_of_categories():
    ran("OneHotEncoder", "i64[n]", "f32[n,3]", cats_int64s=[0, 1, 2])
    ran("OneHotEncoder", "f32[n,m]", "f32[n,m,2]", cats_int64s=[0, 1])
    ran("OneHotEncoder", "str[n,1]", "f32[n,1,4]", cats_strings=["a", "b c", "ab", ""])
    ran("OneHotEncoder", "i64[]", "f32[2]", cats_int64s=[0, 1])


def test_elements_are_picked_along_the_last_axis():
    ran("ArrayFeatureExtractor", "f32[n,3] i64[2]=[0,2]", "f32[n,2]")
    ran("ArrayFeatureExtractor", "i64[a,b,3] i64[1,k]", "i64[a,b,k]")
    ran("ArrayFeatureExtractor", "f32[3] i64[k]", "f32[1,k]")
    ran("ArrayFeatureExtractor", "str[n,3] i64[]=[1]", "str[n,1]")
    case("ArrayFeatureExtractor", "f32[n,3] i64", "f32[n,?]")
    fails("ArrayFeatureExtractor", "f32[] i64[1]", "rank-mismatch")


def test_features_are_laid_side_by_side():
    # onnxruntime 1.32 divides by zero where there are no rows
    ran("FeatureVectorizer", "f32[n,3] f32[n,4]", "f32[n,7]", least={"n": 1}, inputdimensions=[3, 4])
    ran("FeatureVectorizer", "i64[n,2] i64[n,4]", "f32[n,8]", least={"n": 1}, inputdimensions=[2, 6])
    ran("FeatureVectorizer", "f32[3] f32[4]", "f32[1,7]", inputdimensions=[3, 4])
    case("FeatureVectorizer", "f32[n,a] f32[n,b]", "f32[n,a+b]")
