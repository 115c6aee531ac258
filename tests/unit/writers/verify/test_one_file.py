"""verify.py is one file of many modules, which must not hide each other's names."""

import ast
from collections import Counter
from importlib.resources import files

from viewer.writers.verify_script import MODULES, PACKAGE


def test_that_no_two_modules_of_the_verifier_define_the_same_name() -> None:
    defined: Counter[str] = Counter()
    for module in MODULES:
        source = (files(PACKAGE) / f"{module}.py").read_text(encoding="utf-8")
        defined.update(
            {name for node in ast.parse(source).body for name in named(node)}
        )
    assert [name for name, modules in defined.items() if modules > 1] == []


def named(node: ast.stmt) -> list[str]:
    """Return the names that a statement of a module defines."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    targets = [*node.targets] if isinstance(node, ast.Assign) else []
    targets += [node.target] if isinstance(node, ast.AnnAssign) else []
    within = (one for target in targets for one in ast.walk(target))
    return [one.id for one in within if isinstance(one, ast.Name)]
