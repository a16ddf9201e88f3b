"""Check rules for models that predict from features, against onnxruntime where it is installed."""

from __future__ import annotations

from functools import partial

import numpy as np

from tests.ops import cases
from tests.ops.runtime import ran as run_case

ran = partial(run_case, domain="ai.onnx.ml")
case = partial(cases.case, domain="ai.onnx.ml")
fails = partial(cases.fails, domain="ai.onnx.ml")

STUMP = {
    "nodes_treeids": [0, 0, 0], "nodes_nodeids": [0, 1, 2], "nodes_featureids": [0, 0, 0],
    "nodes_values": [0.5, 0.0, 0.0], "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"], "nodes_truenodeids": [1, 0, 0],
    "nodes_falsenodeids": [2, 0, 0],
}  # fmt: skip
VOTES = {"class_treeids": [0, 0], "class_nodeids": [1, 2], "class_ids": [0, 0], "class_weights": [1.0, 2.0]}
TARGETS = {"target_treeids": [0, 0], "target_nodeids": [1, 2], "target_ids": [0, 0], "target_weights": [1.0, 2.0]}


def machine(classes, **more):
    """Return the attributes of a support vector classifier over three features."""
    return {
        "kernel_type": "LINEAR", "kernel_params": [0.1, 0.1, 3.0], "vectors_per_class": [1] * classes,
        "support_vectors": [0.3] * 3 * classes, "coefficients": [0.5] * (classes - 1) * classes,
        "rho": [0.1] * (classes * (classes - 1) // 2), "classlabels_ints": list(range(classes)), **more,
    }  # fmt: skip


def test_linear_models_give_one_score_for_each_class():
    three = {"coefficients": [1.0] * 9, "intercepts": [1.0] * 3}
    ran("LinearClassifier", "f32[n,3]", "i64[n] f32[n,3]", classlabels_ints=[0, 1, 2], **three)
    ran("LinearClassifier", "i64[3]", "i64[1] f32[1,3]", classlabels_ints=[0, 1, 2], **three)
    ran("LinearClassifier", "f64[n,3]", "str[n] f32[n,2]", classlabels_strings=["a", "b"], coefficients=[1.0] * 3,
        intercepts=[1.0])  # fmt: skip
    case("LinearClassifier", "f32[n,3]", "?[n] f32[n,?]", **three)
    ran("LinearRegressor", "f32[n,3]", "f32[n,1]", coefficients=[1.0] * 3)
    ran("LinearRegressor", "f32[3]", "f32[1,2]", coefficients=[1.0] * 6, targets=2)
    fails("LinearRegressor", "f32[n,3,3]", "rank-mismatch", targets=2)


def test_support_vectors_score_pairs_of_classes_without_probabilities():
    ran("SVMClassifier", "f32[n,3]", "i64[n] f32[n,2]", **machine(2))
    ran("SVMClassifier", "f64[n,3]", "i64[n] f32[n,6]", **machine(4))
    ran("SVMClassifier", "f32[3]", "i64[1] f32[1,4]", **machine(4, prob_a=[0.1] * 6, prob_b=[0.1] * 6))
    linear = {"kernel_type": "LINEAR", "kernel_params": [0.1, 0.1, 3.0], "rho": [0.1]}
    ran("SVMClassifier", "f32[n,3]", "str[n] f32[n,3]", coefficients=[0.5] * 9, classlabels_strings=["a", "b", "c"],
        **linear)  # fmt: skip
    ran("SVMRegressor", "f32[n,3]", "f32[n,1]", coefficients=[0.5] * 2, support_vectors=[0.3] * 6, n_supports=2,
        **linear)  # fmt: skip


def test_trees_give_one_score_for_each_class_or_target():
    for opset in (1, 3):
        ran("TreeEnsembleClassifier", "f32[n,3]", "i64[n] f32[n,3]", opset=opset, classlabels_int64s=[4, 5, 6],
            **STUMP, **VOTES)  # fmt: skip
        ran("TreeEnsembleRegressor", "f64[n,3]", "f32[n,2]", opset=opset, n_targets=2, **STUMP, **TARGETS)
    ran("TreeEnsembleClassifier", "f32[3]", "str[1] f32[1,2]", opset=3, classlabels_strings=["a", "b"], **STUMP,
        **VOTES)  # fmt: skip
    ran("TreeEnsembleClassifier", "f32[n,3]", "i64[n] f32[n,1]", opset=3, classlabels_int64s=[7], **STUMP, **VOTES)
    case("TreeEnsembleRegressor", "f32[n,3]", "f32[n,?]", opset=1)
    tree = {
        "aggregate_function": 1, "nodes_falseleafs": [1], "nodes_trueleafs": [1], "nodes_falsenodeids": [0],
        "nodes_truenodeids": [1], "nodes_featureids": [0], "nodes_modes": np.array([0], np.uint8),
        "leaf_targetids": [0, 0], "tree_roots": [0],
    }  # fmt: skip
    for dtype, word in ((np.float32, "f32"), (np.float64, "f64")):
        leaves = {"nodes_splits": np.array([0.5], dtype), "leaf_weights": np.array([1, 2], dtype)}
        ran("TreeEnsemble", f"{word}[n,3]", f"{word}[n,2]", n_targets=2, **tree, **leaves)
