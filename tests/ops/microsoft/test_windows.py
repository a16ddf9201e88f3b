"""Check rules for convolution and pooling, against onnxruntime where it is installed."""

from __future__ import annotations

from functools import partial

from tests.ops import cases
from tests.ops.runtime import ran

case = partial(cases.case, domain="com.microsoft")
fails = partial(cases.fails, domain="com.microsoft")
blocks = partial(ran, domain="com.microsoft.nchwc")

ONE, ZERO = "f32[]=[0.1]", "u8[]=[0]"


def test_fused_convolution():
    ran("FusedConv", "f32[n,3,h,w] f32[4,3,3,3]", "f32[n,4,h,w]", pads=[1, 1, 1, 1], activation="Relu")
    ran("FusedConv", "f32[n,4,h,w] f32[4,2,3,3] f32[4] f32[n,4,h-2,w-2]", "f32[n,4,h-2,w-2]", group=2,
        activation="Relu", least={"h": 3, "w": 3}, sizes=({"n": 2, "h": 5, "w": 4},))  # fmt: skip
    ran("FusedConv", "f32[n,3,h,9] f32[m,3,3,2]", "f32[n,m,(h-1)//2+1,5]", strides=[2, 2], pads=[1, 0, 1, 1],
        activation="Tanh")  # fmt: skip
    case("NhwcConv", "f16[n,h,w,3] f16[4,3,3,3]", "f16[n,h-2,w-2,4]")
    case("NhwcFusedConv", "f16[n,h,w,3] f16[4,3,1,1]", "f16[n,h,w,4]", activation="Relu")


def test_quantized_convolution():
    weights = f"u8[4,3,3,3] {ONE} {ZERO} {ONE} {ZERO}"
    ran("QLinearConv", f"u8[n,3,h,w] {ONE} {ZERO} {weights}", "u8[n,4,h,w]", pads=[1, 1, 1, 1])
    ran("QLinearConv", f"u8[n,h,w,3] {ONE} {ZERO} {weights}", "u8[n,(h-1)//2+1,(w-1)//2+1,4]", pads=[1, 1, 1, 1],
        strides=[2, 2], channels_last=1)  # fmt: skip


def test_spread_windows_with_padding_from_the_data():
    ran("ConvTransposeWithDynamicPads", "f32[n,3,h,w] f32[3,4,3,3] i64[4]=[1,0,1,0]", "f32[n,4,2*h-1,2*w+1]",
        strides=[2, 2])  # fmt: skip
    ran("ConvTransposeWithDynamicPads", "f32[n,3,h,w] f32[3,4,2,2] i64[4]=[0,0,0,0] f32[4]", "f32[n,4,2*h+1,2*w]",
        strides=[2, 2], output_padding=[1, 0])  # fmt: skip
    case("ConvTransposeWithDynamicPads", "f32[n,3,h,w] f32[3,4,2,2] i64[4]", "f32[n,4,?,?]")


def test_pooling_with_channels_last():
    ran("NhwcMaxPool", "u8[n,h,w,c]", "u8[n,h,w,c]", kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    ran("NhwcMaxPool", "i8[n,9,w,c]", "i8[n,4,w-1,c]", kernel_shape=[3, 2], strides=[2, 1],
        sizes=({"n": 1, "w": 4, "c": 2},))  # fmt: skip
    ran("NhwcMaxPool", "i8[n,8,8,c]", "i8[n,4,4,c]", kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)
    quantized = f"{ONE} {ZERO} {ONE} {ZERO}"
    ran("QLinearAveragePool", f"u8[n,c,h,w] {quantized}", "u8[n,c,h,w]", kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    ran("QLinearAveragePool", f"u8[n,8,w,c] {quantized}", "u8[n,4,w,c]", kernel_shape=[3, 1], strides=[2, 1],
        ceil_mode=1, channels_last=1)  # fmt: skip
    ran("QLinearGlobalAveragePool", f"u8[n,c,h,w] {quantized}", "u8[n,c,1,1]")
    ran("QLinearGlobalAveragePool", f"u8[n,h,w,c] {quantized}", "u8[n,1,1,c]", channels_last=1)
    ran("MaxpoolWithMask", "f32[n,c,h,w] i32[n,c,h,w]", "f32[n,c,h-1,w-1]", kernel_shape=[2, 2])


def test_words_are_convolved():
    ran("WordConvEmbedding", "i32[s,7] f32[6,1,3,5] f32[6] f32[9,5]", "f32[s,6]")
    ran("WordConvEmbedding", "i32[a,b,7] f32[m,1,3,5] f32[m] f32[9,5]", "f32[a,m]")


def test_channels_in_blocks():
    blocks("ReorderInput", "f32[n,32,h,w]", "f32[n,32,h,w]")
    blocks("ReorderInput", "f32[n,8,h,w]", "f32[n,?,h,w]")
    blocks("ReorderInput", "f32[n,h,w,16]", "f32[n,16,h,w]", channels_last=1)
    blocks("ReorderOutput", "f32[n,32,h,w]", "f32[n,28,h,w]", channels=28)
    blocks("ReorderOutput", "f32[n,32,h,w]", "f32[n,h,w,28]", channels=28, channels_last=1)
    blocks("Conv", "f32[n,32,h,w] f32[16,32,3,3]", "f32[n,16,h,w]", pads=[1, 1, 1, 1])
    blocks("MaxPool", "f32[n,32,h,w]", "f32[n,32,h-1,w-1]", kernel_shape=[2, 2])
    blocks("AveragePool", "f32[n,16,8,w]", "f32[n,16,4,w]", kernel_shape=[3, 1], strides=[2, 1], ceil_mode=1)
    blocks("GlobalAveragePool", "f32[n,16,h,w]", "f32[n,16,1,1]")
    blocks("GlobalMaxPool", "f32[n,16,h,w]", "f32[n,16,1,1]")
    blocks("Upsample", "f32[n,16,h,w]", "f32[n,16,2*h,3*w]", scales=[1, 1, 2, 3])
    cases.case("Upsample", "f32[]", "f32[]", domain="com.microsoft.nchwc", scales=[])
