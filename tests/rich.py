"""One small model that has everything: bytes to corrupt, and to look at from every side."""

from __future__ import annotations

from tests.hostile.generate import attribute, block, floats, node, number, relu, tensor, value


def tensor_type(code: int, *dims: int | str) -> bytes:
    """A TypeProto for a dense tensor."""
    shape = b"".join(block(1, number(1, dim) if isinstance(dim, int) else block(2, dim)) for dim in dims)
    return block(1, number(1, code), block(2, shape))


def rich_model() -> bytes:
    """Bodies two deep, functions, every kind of attribute and type, typed and raw data, metadata, unknown fields."""
    note = block(14, block(1, "k"), block(2, "v"))
    constant = number(1, 2) + number(2, 1) + block(9, floats(1, 2))
    sparse = (
        block(1, constant, block(8, "s")) + block(2, number(1, 2), number(2, 7), block(7, b"\x00\x03")) + number(3, 5)
    )
    inner = node("Abs", ["r"], ["deep"]) + block(2, "inner") + value(12, "deep")
    body = (
        node("Relu", ["x"], ["r"])
        + node("Loop", ["", "", "r"], ["l"], attribute("body", number(20, 5), block(6, inner)))
        + block(2, "body")
        + value(12, "l")
    )
    everything = [
        attribute("f", number(20, 1), b"\x15" + floats(0.5)),
        attribute("i", number(3, -1)),
        attribute("s", block(4, b"\xff")),
        attribute("t", number(20, 4), block(5, constant)),
        attribute("g", number(20, 5), block(6, body)),
        attribute("fs", block(7, floats(1, -0.0))),
        attribute("is", number(20, 7), number(8, 1), block(8, b"\x02\x03")),
        attribute("ss", block(9, "a"), block(9, "")),
        attribute("ts", block(10, constant), block(10, constant)),
        attribute("gs", block(11, body), block(11, body)),
        attribute("st", block(22, sparse)),
        attribute("tp", block(14, tensor_type(1, "n", 3))),
        attribute("tps", block(15, block(4, block(1, tensor_type(7)))), block(15, block(5, number(1, 8), block(2)))),
    ]
    graph = relu(
        node("Everything", ["late", "", "x"], ["z", ""], block(3, "all"), block(7, "org"), block(8, "o"), *everything),
        node("Neg", ["x"], ["late"], block(6, "why"), block(9, block(1, "k"), block(2, "v"))),
        node("F", ["x"], ["q"], block(7, "org")),
        tensor(block(4, floats(1, 2))),
        tensor(block(5, b"\x01\x00\x05"), name="i32", data_type=6, dims=(3,)),
        tensor(block(6, "ab"), block(6, ""), name="text", data_type=8),
        block(15, sparse),
        block(11, block(1, "o"), block(2, block(9, block(1, tensor_type(10, "n"))))),
        block(11, block(1, "m"), block(2, block(8, number(1, 1), block(2)), block(6, "IMAGE"))),
        block(11, block(1, "p"), block(2, block(7, block(1, "d"), block(2, "n")))),
        block(13, block(1, "z"), block(2, tensor_type(1, "n", 3))),
        block(16, block(1, "gk"), block(2, "gv")),
        block(1000, "unknown"),
    )
    default = block(11, block(1, "m"), number(20, 3), block(4, "fast"))
    call = block(7, block(1, "a"), block(2, "b"), block(4, "Op"), attribute("k", block(21, "k"), number(20, 1)))
    head = block(1, "F") + block(10, "org") + block(4, "a") + block(5, "b") + block(6, "k") + block(9, number(2, 18))
    function = block(25, head, call, default)
    imports = block(8, number(2, 18)) + block(8, block(1, "org"), number(2, 1))
    return number(1, 9) + block(2, "tool") + number(5, -3) + block(7, graph) + imports + function + note
