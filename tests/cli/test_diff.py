"""`sardonyx diff`."""

from __future__ import annotations

from pathlib import Path

from tests.cli.runs import sardonyx, write


def other(folder: Path) -> Path:
    """The small model with another operator."""
    return write(
        folder / "other.onnx",
        '<ir_version: 9, opset_import: ["": 18]> g (float[n, 2] x) => (float[n, 2] y) { y = Mul (x, x) }',
    )


def test_equal_models_give_status_0(small: Path) -> None:
    assert sardonyx("diff", small, small) == (0, "no differences\n", "")


def test_different_models_give_status_1_and_say_what_differs(small: Path, tmp_path: Path) -> None:
    ran = sardonyx("diff", small, other(tmp_path))
    assert ran == (1, "~ node -> y (Add): op_type: Add -> Mul\n1 difference\n", "")


def test_quiet_leaves_only_the_status(small: Path, tmp_path: Path) -> None:
    assert sardonyx("diff", "-q", small, other(tmp_path)) == (1, "", "")


def test_json_lists_the_changes(small: Path, tmp_path: Path) -> None:
    path = other(tmp_path)
    ran = sardonyx("diff", "--json", small, path)
    assert ran.code == 1
    assert ran.json == {
        "schema": 1,
        "command": "diff",
        "before": str(small),
        "after": str(path),
        "changes": [
            {
                "change": "changed", "where": "", "subject": "node", "name": "-> y (Add)",
                "aspect": "op_type", "before": "Add", "after": "Mul",
            }
        ],
    }  # fmt: skip


def test_one_side_may_be_standard_input_but_not_both(small: Path) -> None:
    assert sardonyx("diff", "-", small, stdin=small.read_bytes()).code == 0
    assert sardonyx("diff", "-", "-", stdin=small.read_bytes()).code == 2


def test_a_side_that_cannot_be_loaded_gives_status_3(small: Path, cut_short: Path) -> None:
    assert sardonyx("diff", small, cut_short).code == 3
