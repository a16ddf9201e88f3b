"""Read and write the ONNX text syntax (docs/Syntax.md of the ONNX project): the language of the tests.

What `onnx.parser` accepts is read here too, and the same way, with three differences: names must be defined before they
are read, tensors must hold as many numbers as their shape says, and lists of tensors, graphs and types keep their
elements. Beyond the syntax, domains, operators, overloads and attribute names that are no identifiers stand in quotes,
and an element type that is not known is written `undefined`. Documentation and metadata of graphs and nodes have no
place in the syntax.
"""

from sardonyx.ir.text.parse import parse_function, parse_graph, parse_model
from sardonyx.ir.text.write import to_text

__all__ = ["parse_function", "parse_graph", "parse_model", "to_text"]
