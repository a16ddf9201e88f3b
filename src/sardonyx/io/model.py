"""Build a model from its message: the checks of the whole, the imports, the graph, the functions."""

from __future__ import annotations

from sardonyx.errors import error
from sardonyx.io.origins import FunctionOrigin, ModelOrigin, details_of
from sardonyx.io.resolve import Resolver
from sardonyx.io.typing import Types
from sardonyx.ir.graph import EMPTY, Function, Graph, Model, canonical, label_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sardonyx.io.context import Context
    from sardonyx.wire.messages import FunctionProto, ModelProto, OperatorSetIdProto

OLDEST_IR_VERSION = 3


def build_model(message: ModelProto, context: Context) -> Model:
    """Check and resolve a whole model.

    Raises:
        OnnxError: InvalidModel, Unsupported or ExternalData at the first fault, unless the context collects them.
    """
    check_ir_version(message, context)
    imports = opset_imports(message.opset_import, context, None)
    graph_message = message.graph
    types = Types(context, () if graph_message is None else graph_message.input)
    resolver = Resolver(context, types, [canonical(domain) for domain in imports])
    if graph_message is None:
        context.fault(error("no-graph", "the model has no graph", offset=0))
        graph = Graph("", (), (), ())
    else:
        graph = resolver.main_graph(graph_message)
    functions = {}
    for one in message.functions:
        function = build_function(one, context, resolver)
        if function.key in functions:
            context.fault(
                error(
                    "function-twice",
                    f"function {function.label} is defined twice",
                    offset=one.start,
                    hint="tell functions of one name apart by `overload`",
                )
            )
        functions[function.key] = function
    context.scope.close()
    origin = ModelOrigin(context.source, message.start, message.end)
    return Model(
        graph,
        imports,
        functions or EMPTY,
        message.ir_version,
        message.producer_name,
        message.producer_version,
        message.domain,
        message.model_version,
        tuple(context.issues),
        context.scope,
        context.lifetime,
        context.source.name,
        details_of(origin, message),
        origin,
    )


def check_ir_version(message: ModelProto, context: Context) -> None:
    """Refuse a model without an ir_version, or with one before 3."""
    if not message.has("ir_version"):
        empty = message.end == message.start
        context.fault(
            error(
                "no-ir-version",
                "the model has no ir_version" if not empty else "the file is empty",
                offset=0,
                hint="the file is not an ONNX model, or was not written completely",
            )
        )
    elif message.ir_version < OLDEST_IR_VERSION:
        context.fault(
            error(
                "ir-version-too-old",
                f"ir_version is {message.ir_version}, the oldest that can be read is {OLDEST_IR_VERSION}",
                offset=0,
                hint="export the model again, or convert it with the version converter of the onnx package",
            )
        )


def opset_imports(messages: Sequence[OperatorSetIdProto], context: Context, graph: str | None) -> Mapping[str, int]:
    """Read opset imports; `""` and `ai.onnx` are one domain, which may be imported twice with one version only."""
    found: dict[str, int] = {}
    versions: dict[str, int] = {}
    for message in messages:
        domain, version = message.domain, message.version
        known = versions.setdefault(canonical(domain), version)
        if known != version:
            context.fault(
                error(
                    "opset-conflict",
                    f"domain {domain or 'ai.onnx'!r} is imported with versions {known} and {version}",
                    graph=graph,
                    offset=message.start,
                )
            )
        found.setdefault(domain, version)
    return found


def build_function(message: FunctionProto, context: Context, resolver: Resolver) -> Function:
    """Read one function as written; faults in its body's structure wait until the body is asked for."""
    label = f"function {label_of(message.domain, message.name, message.overload)}"
    imports = opset_imports(message.opset_import, context, label)
    body, defaults, faults = resolver.function_body(message, label, imports)
    origin = FunctionOrigin(context.source, message.start, message.end)
    return Function(
        message.domain,
        message.name,
        message.overload,
        tuple(message.input),
        tuple(message.output),
        tuple(message.attribute),
        defaults,
        imports,
        body,
        tuple(context.placed(fault.issue) for fault in faults),
        details_of(origin, message),
        origin,
    )
