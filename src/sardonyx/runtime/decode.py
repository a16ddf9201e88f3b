"""Run a recurrent model step by step, on the inlined plan wherever a step is a single trip (decision C5)."""

from __future__ import annotations

import sardonyx as sx
from sardonyx.runtime.plans import Plans, Sessions, input_shape
from sardonyx.runtime.wiring import check_states, derive_states, grows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike
    from typing import Any

    from sardonyx import Model, Symbol, Value


class DecodeSession:
    """One model, its recurrent states, and two plans to step it: as it is, and with single-trip Scans inlined.

    The plan of a step is decided from the sizes of its inputs before anything is written. Both plans read and write the
    same states, which stay in the runtime's memory: a state of fixed shape lives in two buffers that change places
    after each step, a growing one (a cache) is handed on as the run made it.

    Args:
        model: a path, or anything `sardonyx.load` takes, or a model that was loaded.
        state: input name to output name of each state; None derives it from the wiring when that leaves no choice.
        plan: `"auto"` builds both plans; `"untouched"` only the model as it is.
        providers: onnxruntime execution providers.
        options: an `onnxruntime.SessionOptions`.

    Raises:
        OnnxError: as `sardonyx.load` does.
        ValueError: the states are ambiguous, or name values that do not exist.
    """

    def __init__(
        self,
        model: Model | str | PathLike[str] | bytes,
        state: Mapping[str, str] | None = None,
        *,
        plan: str = "auto",
        providers: Sequence[Any] = ("CPUExecutionProvider",),
        options: Any = None,
    ) -> None:
        if plan not in ("auto", "untouched"):
            raise ValueError(f"plan is {plan!r}; it must be 'auto' or 'untouched'")
        loaded = model if isinstance(model, sx.Model) else sx.load(model)
        flat = sx.inline_functions(loaded)
        self.plans = Plans(flat, plan)
        graph = self.plans.model.graph
        names = derive_states(graph) if state is None else dict(state)
        self.pairs: list[tuple[Value, Value]] = check_states(graph, names)
        """The states: graph input and graph output."""
        self.growing = {before.name for before, after in self.pairs if grows(graph, (before, after))}
        self.sessions = Sessions(self.plans, providers, options)
        if loaded is not model:
            loaded.close()
        self.results = [value.name for value in graph.outputs if value.name not in set(names.values())]
        """Outputs that are no states."""
        self.device = "cpu"
        self.current: dict[str, Any] = {}
        """Input name to OrtValue: the states as the next step reads them."""
        self.spare: dict[str, Any] = {}
        """The other buffer of each state of fixed shape."""
        self.plan_used: str | None = None
        """Which plan the last step took: `untouched` or `inlined`; None before the first step."""
        self.why: str = self.plans.why
        """Why the last step, or every step, took the untouched plan; empty when it took the inlined one."""

    @property
    def states(self) -> dict[str, Any]:
        """The current states as numpy arrays, copied, by input name; empty before the first step."""
        return {name: value.numpy().copy() for name, value in self.current.items()}

    def reset(self, states: Mapping[str, Any] | None = None) -> None:
        """Forget the states, or set some of them (arrays, by input name); the others start as zeros at the next step.

        Raises:
            ValueError: a name is no state.
        """
        known = {before.name for before, _ in self.pairs}
        for name in states or {}:
            if name not in known:
                raise ValueError(f"{name!r} is no state; the states are {', '.join(sorted(known))}")
        self.current = {name: self.value(array) for name, array in (states or {}).items()}
        self.spare = {}
        self.plan_used = None
        self.why = self.plans.why

    def step(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Run one step and advance the states.

        Args:
            inputs: arrays (or OrtValues) for every input that is no state, by name.

        Returns:
            The outputs that are no states, by name, as numpy arrays.

        Raises:
            ValueError: an input is missing or not known, or a state's first shape cannot be told.
        """
        given = {name: self.value(array) for name, array in inputs.items()}
        self.check_inputs(given)
        self.start(given)
        shapes = {name: value.shape() for name, value in (*given.items(), *self.current.items())}
        lean = self.choose(shapes)
        session = self.sessions.lean if lean else self.sessions.untouched
        binding = session.io_binding()
        for name, value in (*given.items(), *self.current.items()):
            binding.bind_ortvalue_input(name, value)
        written: dict[str, Any] = {}
        for before, after in self.pairs:
            if before.name in self.growing:
                binding.bind_output(after.name, self.device)
            else:
                written[before.name] = self.buffer(before.name)
                binding.bind_ortvalue_output(after.name, written[before.name])
        for name in self.results:
            binding.bind_output(name, self.device)
        session.run_with_iobinding(binding)
        made = dict(zip(self.bound_names(), binding.get_outputs(), strict=True))
        for before, after in self.pairs:
            if before.name in self.growing:
                self.current[before.name] = made[after.name]
            else:
                self.spare[before.name] = self.current[before.name]
                self.current[before.name] = written[before.name]
        self.plan_used = "inlined" if lean else "untouched"
        return {name: made[name].numpy() for name in self.results}

    def bound_names(self) -> list[str]:
        """Return the outputs in the order in which `step` binds them."""
        return [after.name for _, after in self.pairs] + self.results

    def choose(self, shapes: Mapping[str, Sequence[int]]) -> bool:
        """Decide the plan of a step from the shapes of its inputs, and note why."""
        if self.sessions.lean is None:
            self.why = self.plans.why
            return False
        self.why = self.plans.is_single_trip(shapes) or ""
        return not self.why

    def buffer(self, name: str) -> Any:
        """Return the buffer that the next value of a fixed-shape state goes to: never the one that is read."""
        import onnxruntime

        held = self.spare.get(name)
        now = self.current[name]
        if held is None or held.shape() != now.shape():
            held = onnxruntime.OrtValue.ortvalue_from_numpy(now.numpy().copy())
        return held

    def value(self, array: Any) -> Any:
        """Turn an array into an OrtValue."""
        import numpy
        import onnxruntime

        if isinstance(array, onnxruntime.OrtValue):
            return array
        return onnxruntime.OrtValue.ortvalue_from_numpy(numpy.ascontiguousarray(array))

    def check_inputs(self, given: Mapping[str, Any]) -> None:
        """Refuse inputs that are missing, or that the model does not take."""
        graph = self.plans.model.graph
        states = {before.name for before, _ in self.pairs}
        wanted = [value.name for value in graph.inputs if value.name not in states]
        needed = [value.name for value in graph.inputs if value.name not in states and value not in graph.initializers]
        missing = [name for name in needed if name not in given]
        unknown = [name for name in given if name not in wanted]
        if missing:
            raise ValueError(f"inputs are missing: {', '.join(missing)}")
        if unknown:
            raise ValueError(f"the model has no inputs {', '.join(unknown)}; it takes {', '.join(wanted)}")

    def start(self, given: Mapping[str, Any]) -> None:
        """Make the states that nobody set: zeros, a growing one with nothing in it."""
        absent = [(before, after) for before, after in self.pairs if before.name not in self.current]
        if not absent:
            return
        import numpy

        graph = self.plans.model.graph
        sizes: dict[Symbol, int] = {}
        for symbol, (name, axis) in self.plans.symbols.items():
            held = given.get(name) or self.current.get(name)
            if held is not None:
                sizes[symbol] = held.shape()[axis]
        for before, after in absent:
            now, later = graph.type(before), graph.type(after)
            if isinstance(now, sx.TensorType) and isinstance(later, sx.TensorType) and now.shape and later.shape:
                for dim, grown in zip(now.shape, later.shape, strict=False):
                    if isinstance(dim, sx.Symbol) and dim != grown:
                        sizes.setdefault(dim, 0)  # the axis that grows
        for before, _ in absent:
            shape = input_shape(graph, before, sizes)
            kind = graph.type(before)
            if isinstance(shape, str) or not isinstance(kind, sx.TensorType) or kind.dtype is None:
                raise ValueError(
                    f"the first shape of state {before.name!r} cannot be told ({shape}); give it to reset()"
                )
            empty = sx.Tensor(kind.dtype, (0,), _Nothing()).numpy()
            self.current[before.name] = self.value(numpy.zeros(shape, empty.dtype))


class _Nothing:
    """The content of a tensor without elements."""

    length = 0

    def view(self, what: str) -> memoryview:
        """Return no bytes."""
        return memoryview(b"")
