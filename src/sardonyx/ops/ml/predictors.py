"""Rules for models that predict from rows of features: linear, support vectors, trees.

Features are a matrix of one row for each example, or a vector that is one example. How many scores a classifier gives
is what onnxruntime computes, where the specification says "one for each class".
"""

from __future__ import annotations

from sardonyx.ir.types import DType, TensorType
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.dims import Dim
    from sardonyx.ops.call import Call

rules = Rules("ai.onnx.ml")


def rows_of(call: Call) -> Dim:
    """Return the number of examples in the first input."""
    data = call.peek(0)
    if not isinstance(data, TensorType) or data.shape is None:
        return call.fresh("rows")
    if len(data.shape) not in (1, 2):
        call.fail("rank-mismatch", f"the features have {len(data.shape)} axes, but must be a matrix or a vector")
    return data.shape[0] if len(data.shape) == 2 else 1


def classes(call: Call, integers: str) -> tuple[DType | None, int]:
    """Return the element type and the number of class labels; 0 when none are given."""
    strings = call.strings("classlabels_strings", ())
    numbers = call.ints(integers, ())
    if strings and numbers:
        return None, 0
    return (DType.STRING if strings else DType.INT64 if numbers else None), len(strings) or len(numbers)


def predicted(call: Call, labels: DType | None, scores: int) -> tuple[TensorType, TensorType]:
    """Return a label and a number of scores (0: not known) for each row."""
    rows = rows_of(call)
    return TensorType(labels, (rows,)), TensorType(DType.FLOAT, (rows, scores or call.fresh("scores")))


@rules("LinearClassifier")
def linear_classifier(call: Call) -> tuple[TensorType, TensorType]:
    """Return the class and the score of each class; of one class alone runtimes say different things."""
    labels, count = classes(call, "classlabels_ints")
    return predicted(call, labels, count if count > 1 else 0)


@rules("SVMClassifier")
def svm_classifier(call: Call) -> tuple[TensorType, TensorType]:
    """Return the class, and scores: of classes where there are probabilities, else of pairs of classes."""
    labels, count = classes(call, "classlabels_ints")
    groups = len(call.ints("vectors_per_class", ()))
    if groups and not call.floats("prob_a", ()) and count > 2:
        return predicted(call, labels, count * (count - 1) // 2 if groups == count else 0)
    return predicted(call, labels, count if not groups or groups == count else 0)


@rules("TreeEnsembleClassifier")
def tree_ensemble_classifier(call: Call) -> tuple[TensorType, TensorType]:
    """Return the class and the score of each class."""
    labels, count = classes(call, "classlabels_int64s")
    return predicted(call, labels, count)


def regressed(call: Call, dtype: DType | None, targets: int) -> TensorType:
    """Return a number for each row and target."""
    return TensorType(dtype, (rows_of(call), targets if targets >= 0 else call.fresh("targets")))


@rules("LinearRegressor")
def linear_regressor(call: Call) -> TensorType:
    """Return `targets` numbers for each row."""
    return regressed(call, DType.FLOAT, call.int("targets", 1))


@rules("SVMRegressor")
def svm_regressor(call: Call) -> TensorType:
    """Return one number for each row."""
    return regressed(call, DType.FLOAT, 1)


@rules("TreeEnsembleRegressor")
def tree_ensemble_regressor(call: Call) -> TensorType:
    """Return `n_targets` numbers for each row."""
    return regressed(call, DType.FLOAT, call.int("n_targets", -1))


@rules("TreeEnsemble", since=5)
def tree_ensemble(call: Call) -> TensorType:
    """Return `n_targets` numbers for each row, of the type of the features."""
    data = call.peek(0)
    return regressed(call, data.dtype if isinstance(data, TensorType) else None, call.int("n_targets", -1))
