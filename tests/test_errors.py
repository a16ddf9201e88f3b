"""Issues and errors: one wording, whole sentences, a closed table of codes."""

from __future__ import annotations

import re

import pytest

from sardonyx.errors import CODES, ErrorKind, Issue, OnnxError, Place, error, node_label


def test_an_error_says_where_what_and_which_kind() -> None:
    problem = error(
        "length-past-end",
        "length 4096 runs 312 bytes past the end of TensorProto",
        source="bert.onnx",
        offset=1048571,
        path="ModelProto.graph.node[17].attribute[2].t.raw_data",
        hint="the file looks cut short; compare its size with the original",
    )
    assert str(problem) == (
        "bert.onnx: byte 1048571, ModelProto.graph.node[17].attribute[2].t.raw_data:\n"
        "    length 4096 runs 312 bytes past the end of TensorProto  [malformed: length-past-end]\n"
        "    hint: the file looks cut short; compare its size with the original"
    )


def test_a_place_names_what_it_knows() -> None:
    place = Place("m.onnx", graph="node 'loop' (Loop).body", node="node 3 (Add)", value="y", attribute="axis")
    assert str(place) == "m.onnx: node 'loop' (Loop).body, node 3 (Add), value 'y', attribute 'axis'"
    assert str(Place()) == ""


def test_an_issue_without_a_place_is_one_line() -> None:
    assert str(Issue("cycle", "it turns", Place())) == "it turns  [invalid-model: cycle]"


def test_an_error_has_the_parts_of_its_issue() -> None:
    problem = error("cut-short", "it ends", source="a", offset=3, path="ModelProto", hint="get more")
    assert isinstance(problem, OnnxError)
    assert problem.kind is ErrorKind.Malformed
    assert (problem.code, problem.message, problem.hint) == ("cut-short", "it ends", "get more")
    assert (problem.source, problem.offset, problem.path) == ("a", 3, "ModelProto")
    assert problem.place is problem.issue.place


def test_a_place_inside_another_takes_what_it_does_not_know() -> None:
    inner = Issue("cycle", "it turns", Place(node="node 1 (Neg)"), "cut it", "warning")
    outer = inner.within(Place(source="m.onnx", node="node 9 (If)"))
    assert (outer.place.source, outer.place.node) == ("m.onnx", "node 1 (Neg)")
    assert (outer.code, outer.message, outer.hint, outer.severity) == ("cycle", "it turns", "cut it", "warning")


def test_json_has_the_fields_that_are_known() -> None:
    assert error("cycle", "it turns", source="m.onnx", node="node 1 (Neg)").issue.to_json() == {
        "kind": "InvalidModel",
        "code": "cycle",
        "severity": "error",
        "message": "it turns",
        "place": {"source": "m.onnx", "node": "node 1 (Neg)"},
        "hint": None,
    }


def test_a_code_may_come_with_another_kind() -> None:
    assert error("negative-dim", "it is -1", also=ErrorKind.Unsupported).kind is ErrorKind.Unsupported


@pytest.mark.parametrize(
    ("label", "text"),
    [
        (node_label("a", "Add"), "node 'a' (Add)"),
        (node_label("a", "Add", 3), "node 'a' (Add)"),
        (node_label("", "Add", 3), "node 3 (Add)"),
        (node_label("", "Add"), "unnamed node (Add)"),
    ],
)
def test_a_node_is_named_or_counted(label: str, text: str) -> None:
    assert label == text


@pytest.mark.parametrize("code", CODES)
def test_a_code_is_kebab_case_and_explained_in_one_sentence(code: str) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", code)
    sentence = CODES[code].sentence
    assert sentence[0].isupper()
    assert sentence.endswith(".")
    assert "\n" not in sentence


def test_every_kind_has_a_display_form() -> None:
    assert [kind.display for kind in ErrorKind] == [
        "malformed",
        "invalid-model",
        "unsupported",
        "external-data",
        "io",
    ]


def test_what_a_model_calls_its_parts_stays_on_one_line_and_steers_no_terminal() -> None:
    place = Place(
        "a\n.onnx", graph=f"{node_label('', 'If' + chr(27))}.x\ny", node=node_label("n\n", "Add\n  no issues")
    )
    assert str(place) == r"a\n.onnx: unnamed node (If\x1b).x\ny, node 'n\n' (Add\n  no issues)"
    assert str(Issue("cycle", "function d::f\u202e turns", Place())) == (
        r"function d::f\u202e turns  [invalid-model: cycle]"
    )


def test_of_a_name_that_is_far_too_long_the_beginning_is_shown() -> None:
    long = "n" * 5000
    assert node_label(long, long, 3) == f"node '{'n' * 100}'... (5,000 characters) ({'n' * 100}... (5,000 characters))"
    assert len(str(Place(value=long, attribute=long))) < 300
    assert Place(value=long).value == long
