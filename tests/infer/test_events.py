"""The log of an inference."""

from __future__ import annotations

from tests.infer.models import infer

TEXT = """g (bool c, float[a] x, int64 m) => (int64[1, found] n, y, z) <bool go = {1}> {
    n = NonZero (x)
    y = If (go) <then_branch = t () => (p) { p = Relu (x) }, else_branch = e () => (q) { q = Neg (x) }>
    z = Loop (m, c, x) <body = b (i, d, s) => (f, t) { f = Identity (d)  t = Concat <axis = 0> (s, s) }>
}"""


def test_every_kind_of_step_is_noted():
    inference = infer(TEXT, events=True)
    kinds = {event.kind for event in inference.events}
    assert kinds >= {"typed", "refined", "done", "bound", "branch", "joined"}
    refined = next(event for event in inference.events if event.kind == "refined")
    assert (refined.value.name, str(refined.after)) == ("n", "tensor(int64)[1, found]")
    assert [str(event) for event in inference.events if event.kind == "branch"] == ["branch: then_branch"]
    issues = infer("g (float[3] x, float[4] w) => (y) { y = Add (x, w) }", events=True).events
    assert [event.after.code for event in issues if event.kind == "issue"] == ["dim-mismatch"]


def test_an_event_has_its_node_its_path_and_what_was_used():
    inference = infer(TEXT, events=True)
    event = next(event for event in inference.events if event.kind == "typed" and event.value.name == "p")
    assert event.path == ((1, "then_branch"),)
    assert event.node.op_type == "Relu"
    assert [value.name for value in event.used] == ["x"]
    given = inference.events[0]
    assert (given.kind, given.value.name, given.node) == ("typed", "c", None)


def test_the_path_of_an_event_takes_no_room_until_it_is_asked_for():
    head = '<domain: "my", opset_import: ["" : 21, "my" : 1]>'
    lines = ["g (float[n] x) => (y) { y = my.F99 (x) }", f"{head} F0 (a) => (b) {{ b = Relu (a) }}"]
    lines += [f"{head} F{at + 1} (a) => (b) {{ b = my.F{at} (a) }}" for at in range(99)]
    events = infer("\n".join(lines), events=True).events
    assert max(len(event.path) for event in events) == 100
    assert len({id(event.level) for event in events}) == 101


def test_a_pass_that_did_not_count_leaves_no_events():
    inference = infer(TEXT, events=True)
    states = [str(event.after) for event in inference.events if event.kind == "typed" and event.value.name == "s"]
    assert len(states) == 1
    assert "_carried" in states[0]


def test_a_function_is_called_with_each_step_as_it_is_certain():
    seen = []
    inference = infer(TEXT, events=seen.append)
    assert [str(event) for event in seen] == [str(event) for event in infer(TEXT, events=True).events]
    assert inference.events == ()


def test_without_being_asked_nothing_is_kept():
    inference = infer(TEXT)
    assert inference.events == ()
    assert inference.engine.log is None
