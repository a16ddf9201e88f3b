"""Report on random models from the command line: one seed with all that is inferred of it, or a range of them."""

from __future__ import annotations

from collections import Counter

import sardonyx as sx


def report(words, model_of, check, show):
    """Check the seeds from the first word up to the second; for one seed, print the model and what `show` prints of it.

    `model_of` makes the ModelProto of a seed, and `check` returns what is wrong with its inference, and counts.
    """
    first, *rest = map(int, words)
    totals, bad = Counter(), 0
    if not rest:
        from onnx import printer

        print(printer.to_text(model_of(first)))
        inference = sx.infer_shapes(sx.load(model_of(first).SerializeToString()))
        show(inference)
        for one in (*inference.assumptions, *inference.constraints, *inference.issues):
            print(one)
    for seed in range(first, rest[0] if rest else first + 1):
        wrong, counts = check(seed)
        totals += counts
        if wrong:
            bad += 1
            print(f"seed {seed}: {wrong[0]}" + (f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""))
    print(f"{bad} seeds wrong; {dict(totals)}")
    return bad > 0
