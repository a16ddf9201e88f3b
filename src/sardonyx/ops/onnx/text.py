"""Rules for strings."""

from __future__ import annotations

from sardonyx.ir.types import DType, TensorType
from sardonyx.ops.common.broadcast import broadcast
from sardonyx.ops.rules import Rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.ops.call import Call
    from sardonyx.ops.rules import Answer

rules = Rules("")


@rules("StringConcat", since=20)
def string_concat(call: Call) -> TensorType:
    """Join strings pair by pair, broadcast."""
    return TensorType(DType.STRING, broadcast(call, call.tensor(0).shape, call.tensor(1).shape))


@rules("StringSplit", since=20)
def string_split(call: Call) -> tuple[Answer, ...]:
    """Split strings into a new last axis, as long as the longest split; also count the parts."""
    x = call.tensor(0)
    if x.shape is None:
        return TensorType(DType.STRING, None), TensorType(DType.INT64, None)
    parts = call.fresh("parts")
    most: int | None = call.int("maxsplit", None)
    if most is not None and most >= 0:
        call.scope.assume_at_least(most + 1, parts)
    return TensorType(DType.STRING, (*x.shape, parts)), TensorType(DType.INT64, x.shape)


@rules("StringNormalizer", since=10)
def string_normalizer(call: Call) -> TensorType:
    """Drop stop words from [C] or [1, C]; if none is left, one empty string is."""
    x = call.tensor(0)
    if x.shape is None:
        return TensorType(DType.STRING, None)
    if len(x.shape) not in (1, 2):
        call.fail("rank-mismatch", f"the input has {len(x.shape)} dims, but must have 1 or 2")
    left = call.scope.maximum(x.shape[-1], 1)
    if call.strings("stopwords", ()):
        most, left = left, call.fresh("words")
        call.scope.assume_at_least(left, 1)
        call.scope.assume_at_least(most, left)
    return TensorType(DType.STRING, (left,) if len(x.shape) == 1 else (1, left))


@rules("RegexFullMatch", since=20)
def regex_full_match(call: Call) -> TensorType:
    """Say of each string whether the pattern matches all of it."""
    return call.tensor(0).with_dtype(DType.BOOL)


@rules("TfIdfVectorizer", since=9)
def tfidf_vectorizer(call: Call) -> TensorType:
    """Count n-grams: [C] becomes [n], [N, C] becomes [N, n], where n is above every index."""
    x = call.tensor(0)
    indexes: tuple[int, ...] = call.ints("ngram_indexes")
    if not indexes or min(indexes) < 0:
        call.fail("bad-attribute", "ngram_indexes must name at least one place, none negative", attr="ngram_indexes")
    size = max(indexes) + 1
    if x.shape is None:
        return TensorType(DType.FLOAT, None)
    if len(x.shape) not in (1, 2):
        call.fail("rank-mismatch", f"the input has {len(x.shape)} dims, but must have 1 or 2")
    return TensorType(DType.FLOAT, (*x.shape[:-1], size))
