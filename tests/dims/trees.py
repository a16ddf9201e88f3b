"""Random expressions as plain trees, with an evaluator that knows only integers."""

from __future__ import annotations

import ast
from fractions import Fraction

from hypothesis import strategies as st

from sardonyx.dims import Dim, Scope

NAMES = ("a", "b", "c", "z")
"""Symbols of the trees; `z` is signed, and in `SCOPED` runs `b` is at least 1."""


class NoRun(Exception):
    """The tree has no value for these sizes: a division by 0, an inexact division, sizes that do not broadcast."""


numbers = st.one_of(st.integers(-9, 9), st.sampled_from([0, 1, 2, 3, 64, 1024, 2**20, 2**40]))
leaves = st.one_of(st.sampled_from(NAMES), numbers)


def node(children: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    pair = st.tuples(st.sampled_from(["+", "-", "*", "//", "%", "ceil", "/", "max", "min", "cast"]), children, children)
    scaled = st.tuples(st.sampled_from(["*", "//", "%", "ceil", "/"]), children, st.integers(-7, 7))
    many = st.tuples(st.sampled_from(["max", "min", "cast"]), children, children, children)
    choice = st.tuples(st.just("select"), children, children, children)
    return st.one_of(pair, scaled, scaled, many, choice)


trees = st.recursive(leaves, node, max_leaves=9)

sizes = st.fixed_dictionaries(
    {
        **{name: st.one_of(st.integers(0, 12), st.sampled_from([0, 1, 31, 64, 2**31, 2**62 + 1])) for name in "abc"},
        "z": st.one_of(st.integers(-12, 12), st.sampled_from([-(2**40), 2**40])),
    }
)


def number(tree: object, at: dict[str, int]) -> int:
    """Return the value of a tree for given sizes, or raise NoRun."""
    if isinstance(tree, int):
        return tree
    if isinstance(tree, str):
        return at[tree]
    kind, *rest = tree
    if kind == "select":
        return number(rest[1] if number(rest[0], at) >= 0 else rest[2], at)
    args = [number(each, at) for each in rest]
    if kind in ("//", "%", "ceil", "/") and args[1] == 0:
        raise NoRun
    if kind == "/" and args[0] % args[1]:
        raise NoRun
    if kind == "cast":
        sizes = set(args) - {1}
        if len(sizes) > 1:
            raise NoRun
        return sizes.pop() if sizes else 1
    return {
        "+": lambda: args[0] + args[1],
        "-": lambda: args[0] - args[1],
        "*": lambda: args[0] * args[1],
        "//": lambda: args[0] // args[1],
        "/": lambda: args[0] // args[1],
        "%": lambda: args[0] % args[1],
        "ceil": lambda: -(-args[0] // args[1]),
        "max": lambda: max(args),
        "min": lambda: min(args),
    }[kind]()


def build(tree: object, scope: Scope, symbols: dict[str, Dim]) -> Dim:
    """Return the dim of a tree; raises what the operations raise."""
    if isinstance(tree, int):
        return tree
    if isinstance(tree, str):
        return symbols[tree]
    kind, *rest = tree
    args = [build(each, scope, symbols) for each in rest]
    operations = {
        "//": scope.floordiv,
        "/": scope.exact_div,
        "%": scope.mod,
        "ceil": scope.ceildiv,
        "max": scope.maximum,
        "min": scope.minimum,
        "cast": scope.broadcast,
        "select": scope.select,
        "+": lambda x, y: x + y,
        "-": lambda x, y: x - y,
        "*": lambda x, y: x * y,
    }
    return operations[kind](*args)


class Exactly(ast.NodeTransformer):
    """Calls `whole` for `//`, whose result for fractions is an `int`, and divides into a float from there on."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.FloorDiv):
            return ast.Call(ast.Name("whole", ast.Load()), [node.left, node.right], [])
        return node


def python_value(text: str, at: dict[str, int]) -> object:
    """Let Python itself evaluate the text of a dim, exactly."""

    def broadcast(*args: Fraction) -> Fraction:
        return next((arg for arg in args if arg != 1), Fraction(1))

    def whole(n: Fraction, d: Fraction) -> Fraction:
        return Fraction(n // d)

    names = {name: Fraction(value) for name, value in at.items()}
    known = {"__builtins__": {}, "max": max, "min": min, "broadcast": broadcast, "whole": whole}
    read = ast.fix_missing_locations(Exactly().visit(ast.parse(text, mode="eval")))
    return eval(compile(read, "<dim>", "eval"), known, names)
