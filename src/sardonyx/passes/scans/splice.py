"""Write one iteration of a Scan's body in place of the Scan (decision C3).

Scan inputs lose their axis by a Squeeze, states are read directly, body nodes are copied with fresh values and names,
a state output is written by the node that makes it, and scan outputs gain their axis by an Unsqueeze. What a body
captures it goes on reading. Types of interior values are not carried over: in the body, a name could mean a size of
its own.
"""

from __future__ import annotations

from sardonyx.ir.attrs import Attr, AttrKind
from sardonyx.ir.graph import EMPTY, Node, Value
from sardonyx.ir.source import Source
from sardonyx.ir.tensor import Stored, Tensor
from sardonyx.ir.types import DType, TensorType
from sardonyx.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sardonyx.ir.graph import Graph
    from sardonyx.ir.names import Names
    from sardonyx.ir.rewrite import Rewrite
    from sardonyx.ir.tensor import SparseTensor
    from sardonyx.ir.types import Type
    from sardonyx.passes.scans.eligible import Plan, TypeOf

INITIALIZERS_ARE_INPUTS = 4
"""Below this ir_version every initializer must also be a graph input, so constants are written as nodes."""
AXES_ARE_INPUTS = 13
"""From this opset on, Squeeze and Unsqueeze take their axes as an input."""


class Splicer:
    """Takes Scans of one graph apart into a rewrite of it."""

    def __init__(self, out: Rewrite, names: Names, type_of: TypeOf, opset: int, ir_version: int) -> None:
        self.out = out
        self.names = names
        self.type_of = type_of
        self.opset = opset
        self.ir_version = ir_version
        self.axes: dict[int, Value] = {}
        """Constants that hold one axis each."""

    def splice(self, plan: Plan) -> None:
        """Write one iteration of a Scan's body."""
        node, body, states = plan.node, plan.body, plan.states
        inputs = [self.out.current(value) for value in node.inputs if value is not None]
        moved: dict[Value, Value] = dict(zip(body.inputs[:states], inputs[:states], strict=True))
        for formal, value, axis in zip(body.inputs[states:], inputs[states:], plan.input_axes, strict=True):
            moved[formal] = self.squeeze(value, axis, formal, node)
        constants: dict[Value, Tensor | SparseTensor] = {**body.initializers, **body.sparse_initializers}
        for value, tensor in constants.items():
            if value not in moved:  # else a default, which the Scan never uses
                moved[value] = self.constant(value, tensor, node)

        made = {value for one in body.nodes for value in one.outputs if value is not None}
        kept: list[tuple[Value, Value]] = []
        for source, target in zip(body.outputs[:states], node.outputs[:states], strict=False):
            if target is None:
                continue
            if source in made and source not in moved:
                moved[source] = target
            else:
                kept.append((source, target))
        for one in body.nodes:
            self.copy(one, moved)
        for source, target in kept:
            self.write("Identity", (moved.get(source, source),), target, node)
        for source, target, axis in zip(body.outputs[states:], node.outputs[states:], plan.output_axes, strict=False):
            if target is not None:
                self.shift("Unsqueeze", moved.get(source, source), axis, target, node)

    def copy(self, node: Node, moved: dict[Value, Value]) -> None:
        """Copy a body node, its values replaced; a value met for the first time gets a fresh one."""
        outputs: list[Value | None] = []
        for value in node.outputs:
            if value is None:
                outputs.append(None)
                continue
            if value not in moved:
                moved[value] = self.names.value(value.name)
            outputs.append(moved[value])
        inputs = tuple(None if value is None else moved.get(value, value) for value in node.inputs)
        name = self.names.fresh_node(node.name) if node.name else ""
        self.out.add(node.replace(inputs=inputs, outputs=tuple(outputs), name=name))

    def squeeze(self, value: Value, axis: int, formal: Value, scan: Node) -> Value:
        """Drop the scan axis of an input."""
        target = self.names.value(formal.name)
        kind = self.type_of(value)
        if isinstance(kind, TensorType):
            self.out.set_type(target, without_axis(kind, axis))
        self.shift("Squeeze", value, axis, target, scan)
        return target

    def shift(self, op_type: str, value: Value, axis: int, target: Value, scan: Node) -> None:
        """Write a Squeeze or Unsqueeze of one axis, in the form that the opset has."""
        if self.opset >= AXES_ARE_INPUTS:
            self.write(op_type, (value, self.axis(axis, scan)), target, scan)
        else:
            self.write(op_type, (value,), target, scan, {"axes": Attr("axes", AttrKind.INTS, (axis,))})

    def write(
        self,
        op_type: str,
        inputs: tuple[Value, ...],
        target: Value,
        scan: Node,
        attrs: dict[str, Attr] = EMPTY,
    ) -> None:
        """Write a node of the pass's own, named after the Scan."""
        name = self.names.fresh_node(f"{scan.name or 'Scan'}_{op_type}")
        self.out.add(Node(op_type, inputs, (target,), attrs, domain=scan.domain, name=name))

    def axis(self, axis: int, scan: Node) -> Value:
        """Return a constant that holds an axis; one for the whole graph."""
        if axis not in self.axes:
            content = Stored(Source(axis.to_bytes(8, "little"), "<axis>"), 0, 8)
            value = Value(f"axis_{axis}")
            self.axes[axis] = self.constant(value, Tensor(DType.INT64, (1,), content), scan)
        return self.axes[axis]

    def constant(self, value: Value, tensor: Tensor | SparseTensor, scan: Node) -> Value:
        """Give the graph a constant under a fresh name."""
        target = self.names.value(value.name)
        if self.ir_version < INITIALIZERS_ARE_INPUTS:
            dense = isinstance(tensor, Tensor)
            name, kind = ("value", AttrKind.TENSOR) if dense else ("sparse_value", AttrKind.SPARSE_TENSOR)
            self.write("Constant", (), target, scan, {name: Attr(name, kind, tensor)})
        elif isinstance(tensor, Tensor):
            self.out.add_initializer(target, replace(tensor, name=target.name))
        else:
            self.out.add_initializer(target, replace(tensor, values=replace(tensor.values, name=target.name)))
        return target


def without_axis(kind: TensorType, axis: int) -> Type:
    """Return a type that lacks one axis."""
    shape = kind.shape
    return kind if shape is None else kind.with_shape((*shape[:axis], *shape[axis + 1 :]))


def has_scan(graph: Graph) -> bool:
    """Return whether a graph holds a Scan itself."""
    return any(node.op == "Scan" for node in graph.nodes)
