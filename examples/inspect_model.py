"""Walk through a model with the library: python examples/inspect_model.py [MODEL]."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import sardonyx as sx


def walk(graph: sx.Graph, outermost: sx.Graph, depth: int = 1) -> None:
    """Print every node with the types of what it defines, bodies below their node.

    Bodies nest no deeper than `max_nesting` lets a file say, so recursion over them is safe; over nodes it is not.
    """
    for node in graph.nodes:
        made = ", ".join(f"{value.name}: {outermost.type(value) or '?'}" for value in node.outputs if value)
        print(f"{'  ' * depth}{node.op} -> {made}")
        for name, held in node.bodies.items():
            for body in held if isinstance(held, tuple) else (held,):
                print(f"{'  ' * depth}  .{name} captures {[value.name for value in body.captures]}")
                walk(body, outermost, depth + 2)


def main() -> int:
    """Print one model."""
    path = sys.argv[1] if len(sys.argv) > 1 else Path(__file__).with_name("motion.onnx")
    try:
        with sx.load(path, external_data="lazy") as model:
            graph = model.graph
            print(f"{path}: {len(graph.nodes)} nodes, opsets {dict(model.opset_imports)}")
            walk(graph, graph)
            types = Counter(tensor.dtype.text for tensor in graph.initializers.values())
            print(f"weights: {dict(types)}, {sum(t.nbytes for t in graph.initializers.values()):,} bytes")
    except sx.OnnxError as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
