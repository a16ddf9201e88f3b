"""Run a recurrent model step by step, on the inlined plan wherever a step is a single trip (decision C5)."""

from __future__ import annotations

import sardonyx as sx
from sardonyx.runtime.plans import Plans, shape_at
from sardonyx.runtime.sessions import Opener
from sardonyx.runtime.values import copied, runtime, to_array, to_value, zeros
from sardonyx.runtime.wiring import check_states, derive_states, growing_axes, keeps_shape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike
    from typing import Any

    from sardonyx import Model, Symbol, Value
    from sardonyx.runtime.values import Array

UNTOUCHED, INLINED = "untouched", "inlined"


class DecodeSession:
    """One model, its recurrent states, and two plans to step it: as it is, and with single-trip Scans inlined.

    The plan of a step is decided from the sizes of its inputs before anything is written. Both plans read and write the
    same states, which stay in the runtime's memory: a state of fixed shape lives in two buffers that change places
    after each step, a growing one (a cache) is handed on as the run made it. A step that fails leaves the states as
    they were. Each plan holds the weights once.

    Args:
        model: a path, or anything else that `sardonyx.load` takes, or a loaded model; functions are inlined first.
        state: input name to output name of each state; None derives it from the wiring when that leaves no choice.
        plan: `"auto"` builds both plans; `"untouched"` only the model as it is.
        providers: onnxruntime execution providers; states are in the host's memory.
        options: an `onnxruntime.SessionOptions`.

    Raises:
        ImportError: onnxruntime is not installed (`pip install sardonyx[run]`).
        OnnxError: as from `sardonyx.load` and `sardonyx.inline_functions`.
        ValueError: the states are ambiguous, name values that do not exist, or join values of different types.
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
        if plan not in ("auto", UNTOUCHED):
            raise ValueError(f"plan is {plan!r}; it must be 'auto' or 'untouched'")
        runtime()
        loaded = model if isinstance(model, sx.Model) else sx.load(model)
        try:
            self.plans = Plans(sx.inline_functions(loaded), plan)
            graph = self.plans.untouched.graph
            wiring = derive_states(graph) if state is None else dict(state)
            self.pairs: list[tuple[Value, Value]] = check_states(graph, wiring)
            """The states: graph input and graph output."""
            self.defaults = {
                before.name: copied(graph.initializers[before].numpy())
                for before, _ in self.pairs
                if before in graph.initializers
            }
            """First values of states whose inputs have defaults."""
            self.opener = Opener(providers, options)
            self.untouched = self.opener.open(self.plans.untouched, UNTOUCHED)
            self.lean = self.open_lean()
        finally:
            if loaded is not model:
                loaded.close()
        self.fixed = frozenset(
            before.name for before, after in self.pairs if keeps_shape(self.plans.proven, before, after)
        )
        """The states whose shape no step changes."""
        self.inputs = [value for value in graph.inputs if value.name not in wiring]
        """Inputs that are no states."""
        self.results = [value.name for value in graph.outputs if value.name not in set(wiring.values())]
        """Outputs that are no states."""
        self.current: dict[str, Any] = {}
        """Input name to OrtValue: the states as the next step reads them."""
        self.spare: dict[str, Any] = {}
        """The other buffer of each state of fixed shape, which the next step writes."""
        self.plan_used: str | None = None
        """Which plan the last step took: `untouched` or `inlined`; None before the first step."""
        self.why: str = self.plans.why
        """Why the last step, or every step, took the untouched plan; empty when it took the inlined one."""

    def open_lean(self) -> Any:
        """Open the inlined plan; where that does not work the other one serves, and the reason is kept."""
        if self.plans.lean is None:
            return None
        try:
            return self.opener.open(self.plans.lean, INLINED)
        except Exception as problem:  # whatever the runtime has against it
            self.plans.why = f"onnxruntime does not take the inlined plan: {problem}"
            self.plans.lean = None
            return None

    @property
    def states(self) -> dict[str, Array]:
        """The current states by input name, copied to arrays; empty before the first step."""
        return {name: to_array(value).copy() for name, value in self.current.items()}

    def reset(self, states: Mapping[str, Any] | None = None) -> None:
        """Forget the states, or set some of them (arrays, by input name); the others start anew at the next step.

        Raises:
            ValueError: a name is no state.
        """
        known = [before.name for before, _ in self.pairs]
        for name in states or {}:
            if name not in known:
                raise ValueError(f"{name!r} is no state; the states are {', '.join(known) or 'none'}")
        self.current = {name: copied(array) for name, array in (states or {}).items()}  # never the caller's memory
        self.spare = {}
        self.plan_used = None
        self.why = self.plans.why

    def step(self, inputs: Mapping[str, Any]) -> dict[str, Array]:
        """Run one step and advance the states.

        Args:
            inputs: arrays (or OrtValues) by name for every input that is no state and has no default.

        Returns:
            The outputs that are no states, by name.

        Raises:
            ValueError: an input is missing or not known, or a state's first shape cannot be told. Like what onnxruntime
                raises when a run fails, this leaves the states as they were.
        """
        self.check_inputs(inputs)
        given = {name: to_value(array) for name, array in inputs.items()}
        reads = self.current if len(self.current) == len(self.pairs) else {**self.current, **self.first_states(given)}
        feeds = {**given, **reads}
        why = self.plans.why
        if self.lean is not None:
            why = self.plans.is_single_trip({name: value.shape() for name, value in feeds.items()}) or ""
        writes = {name: self.buffer(name, reads[name]) for name in self.fixed}
        made = self.run(self.untouched if why else self.lean, feeds, writes)
        results = {name: to_array(made[name]) for name in self.results}
        for before, after in self.pairs:  # from here on nothing can fail
            name = before.name
            if name in self.fixed:
                self.spare[name], self.current[name] = reads[name], writes[name]
            else:
                self.current[name] = made[after.name]
        self.plan_used, self.why = (UNTOUCHED if why else INLINED), why
        return results

    def run(self, session: Any, feeds: Mapping[str, Any], writes: Mapping[str, Any]) -> dict[str, Any]:
        """Run a plan; return its outputs by name, those that go to a given buffer included."""
        binding = session.io_binding()
        for name, value in feeds.items():
            binding.bind_ortvalue_input(name, value)
        names = []
        for before, after in self.pairs:
            names.append(after.name)
            if before.name in writes:
                binding.bind_ortvalue_output(after.name, writes[before.name])
            else:
                binding.bind_output(after.name)
        for name in self.results:
            names.append(name)
            binding.bind_output(name)
        session.run_with_iobinding(binding)
        return dict(zip(names, binding.get_outputs(), strict=True))

    def buffer(self, name: str, reads: Any) -> Any:
        """Return where the next value of a fixed-shape state goes: never the buffer that the step reads."""
        spare = self.spare.get(name)
        return spare if spare is not None and spare.shape() == reads.shape() else copied(reads)

    def check_inputs(self, given: Mapping[str, Any]) -> None:
        """Refuse inputs that are missing, or that the caller does not give."""
        defaults = self.plans.untouched.graph.initializers
        wanted = [value.name for value in self.inputs]
        missing = [value.name for value in self.inputs if value.name not in given and value not in defaults]
        if missing:
            raise ValueError(f"inputs are missing: {', '.join(missing)}")
        for name in given:
            if name in wanted:
                continue
            if any(name == before.name for before, _ in self.pairs):
                raise ValueError(f"{name!r} is a state, which the session keeps; reset() sets it")
            raise ValueError(f"the model has no input {name!r}; it takes {', '.join(wanted) or 'nothing but states'}")

    def first_states(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Make the states that nobody set: their inputs' defaults, else zeros, a growing one with nothing in it."""
        graph = self.plans.untouched.graph
        found = {name: copied(value) for name, value in self.defaults.items() if name not in self.current}
        absent = [pair for pair in self.pairs if pair[0].name not in self.current and pair[0].name not in found]
        sizes: dict[Symbol | str, int] = {}
        for symbol, places in self.plans.places.items():
            for name, axis in places:
                held = given.get(name, self.current.get(name))
                if held is not None and axis < len(held.shape()):
                    sizes.setdefault(symbol, held.shape()[axis])
        for before, after in absent:
            for symbol in growing_axes(graph, before, after):
                sizes.setdefault(symbol, 0)
        for before, _ in absent:
            shape = shape_at(graph, before, sizes)
            kind = graph.type(before)
            if isinstance(shape, str) or not isinstance(kind, sx.TensorType) or kind.dtype is None:
                raise ValueError(
                    f"the first shape of state {before.name!r} cannot be told ({shape}); give the state to reset()"
                )
            found[before.name] = zeros(shape, kind.dtype)
        return found
