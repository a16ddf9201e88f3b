"""The words of explanations: what operators do to dims, what loses them, and what would have been needed."""

from __future__ import annotations

LOST = {
    "NonZero": "how many elements are not zero is decided by the data",
    "Unique": "how many different elements there are is decided by the data",
    "Compress": "how many elements are chosen is decided by the data",
    "NonMaxSuppression": "how many boxes are chosen is decided by the data",
    "StringSplit": "how many parts there are is decided by the data",
    "TfIdfVectorizer": "the pool of n-grams is decided by the data",
    "Loop": "how often it runs, or how a state changes, is not known",
    "Scan": "a state changes from step to step, or the length is not known",
    "If": "its branches differ there, and which is taken is not known",
    "Reshape": "the elements of its shape input are not known there",
    "Expand": "the elements of its shape input are not known there",
    "ConstantOfShape": "the elements of its input are not known there",
    "Range": "its start, limit or delta is not known",
    "Tile": "the elements of its repeats input are not known there",
    "Slice": "its starts, ends or steps are not known there",
    "Pad": "its pads are not known there",
    "Resize": "its scales or sizes are not known there",
    "TopK": "its k is not known",
    "OneHot": "its depth is not known",
    "Split": "its sizes are not known",
    "SequenceAt": "which element is taken is not known, and the elements differ",
    "ConcatFromSequence": "how many elements the sequence has is not known, or they differ",
    "SplitToSequence": "its sizes are not known",
}
"""Operator to why a dim that it makes may not be known."""

NEEDED = {
    "Loop": "a trip count from a constant or a shape, a condition that stays true, and states that keep their shape",
    "If": "a condition that follows from constants and shapes",
    "SequenceAt": "a constant position",
    **dict.fromkeys(
        ("Reshape", "Expand", "ConstantOfShape", "Range", "Tile", "Slice", "Pad", "Resize", "TopK", "OneHot", "Split",
         "SplitToSequence"),
        "a constant there, or a value that is computed from shapes",
    ),
}  # fmt: skip
"""Operator to what would have made the dim known; nothing where only the data decides."""

DOES = {
    "Concat": "joined {parts} on axis {axis}",
    "Conv": "slid a window over {parts}",
    "ConvTranspose": "spread a window over {parts}",
    "MaxPool": "slid a window over {parts}",
    "AveragePool": "slid a window over {parts}",
    "Flatten": "multiplied {parts}",
    "Reshape": "put {parts} in another form",
    "Resize": "scaled {parts}",
    "Upsample": "scaled {parts}",
    "Pad": "padded {parts}",
    "Slice": "cut a piece out of {parts}",
    "Tile": "repeated {parts}",
    "Split": "cut {parts} up",
    "Add": "added {parts}",
    "Sub": "subtracted {parts}",
    "Mul": "multiplied {parts}",
    "Div": "divided {parts}",
    "Mod": "divided {parts} and kept the rest",
    "ReduceProd": "multiplied {parts}",
    "Size": "multiplied {parts}",
}
"""Operator to what it does with the dims or elements that it reads."""
