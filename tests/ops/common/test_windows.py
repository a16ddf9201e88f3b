"""Check sizes of windows against windows laid one by one."""

from __future__ import annotations

import itertools

import pytest

from sardonyx.dims import evaluate
from tests.ops.cases import case, question

SIZES, KERNELS, STRIDES, DILATIONS, PADS = (
    range(1, 9),
    (1, 2, 3),
    (1, 2, 3, 5),
    (1, 2),
    ((0, 0), (1, 0), (0, 1), (1, 1)),
)


def places(size, reach, stride, begin, end, ceil):
    """Lay windows until one reaches the end; with `ceil` one more, if it starts before the padding at the end."""
    count = 0
    while count * stride + reach <= size + begin + end:
        count += 1
    if ceil and (count - 1) * stride + reach < size + begin + end and count * stride < size + begin:
        count += 1
    return count


def answer(op_type, shape, **attributes):
    """Return the shape that a rule answers."""
    return question(op_type, shape, 1, None, "", None, attributes).ask().facts[0].type.shape


@pytest.mark.parametrize("ceil", [0, 1])
@pytest.mark.parametrize("stride", STRIDES)
def test_pools_count_the_places_of_a_window(stride, ceil):
    for kernel, dilation, (begin, end) in itertools.product(KERNELS, DILATIONS, PADS):
        reach = (kernel - 1) * dilation + 1
        if max(begin, end) >= kernel:
            continue
        given = {"kernel_shape": [kernel], "strides": [stride], "dilations": [dilation], "pads": [begin, end]}
        symbolic = answer("MaxPool", "f32[1,1,l]", ceil_mode=ceil, **given)[2]
        for size in SIZES:
            if size + begin + end >= reach:
                count = places(size, reach, stride, begin, end, ceil)
                assert answer("MaxPool", f"f32[1,1,{size}]", ceil_mode=ceil, **given)[2] == count
                assert evaluate(symbolic, dict.fromkeys(symbolic.symbols, size)) == count


@pytest.mark.parametrize("stride", STRIDES)
def test_the_transpose_gives_the_least_size_with_as_many_places(stride):
    for kernel, dilation, (begin, end), count in itertools.product(KERNELS, DILATIONS, PADS, SIZES):
        reach = (kernel - 1) * dilation + 1
        given = {"strides": [stride], "dilations": [dilation], "pads": [begin, end]}
        size = answer("ConvTranspose", f"f32[1,1,{count}] f32[1,1,{kernel}]", **given)[2]
        if stride * (count - 1) + reach >= begin + end:
            assert places(size, reach, stride, begin, end, False) == count
            assert size == 0 or places(size - 1, reach, stride, begin, end, False) < count


def test_padding_of_the_same_kind_covers_every_element():
    for size, stride in itertools.product(range(9), STRIDES):
        starts = len(range(0, size, stride))
        given = {"kernel_shape": [3], "strides": [stride], "auto_pad": "SAME_UPPER"}
        assert answer("AveragePool", f"f32[1,1,{size}]", **given)[2] == starts


def test_a_kernel_of_unknown_size_may_be_shorter_than_the_stride():
    given = {"strides": [2], "auto_pad": "SAME_LOWER"}
    outcome = case("ConvTranspose", "f32[n,4,l] f32[4,2,k]", "f32[n,2,2*l]", **given)
    assert outcome.assumed == ["window-fits k 2"]


def test_sizes_that_outgrow_a_dim_are_unknown():
    outcome = case("ConvTranspose", f"f32[1,1,{2**60}] f32[1,1,3]", "f32[1,1,?]", strides=[9])
    assert [issue.code for issue in outcome.issues] == ["size-too-large"]
