"""No command waits inside itself for a person: the window's loop turns once."""

import ast
from pathlib import Path

UI = Path(__file__).parents[2] / "viewer" / "ui"
_WAITING = {
    "QFileDialog": {
        "getExistingDirectory",
        "getOpenFileName",
        "getOpenFileNames",
        "getSaveFileName",
    },
    "QMessageBox": {"about", "critical", "information", "question", "warning"},
    "QInputDialog": {"getDouble", "getInt", "getItem", "getText"},
    "QColorDialog": {"getColor"},
}


def _waits(call: ast.Call) -> bool:
    function = call.func
    if not isinstance(function, ast.Attribute):
        return False
    owner = function.value.id if isinstance(function.value, ast.Name) else ""
    return function.attr in {"exec", "exec_", *_WAITING.get(owner, ())}


def test_that_no_dialog_or_menu_turns_a_loop_of_its_own() -> None:
    for path in sorted(UI.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        assert [call.lineno for call in calls if _waits(call)] == [], path
