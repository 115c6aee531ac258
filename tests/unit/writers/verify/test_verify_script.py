"""verify.py is one file of the standard library, made of modules that do not clash."""

import ast
import sys
from collections import Counter

from viewer.writers.verify_script import MODULES, verify_script


def test_that_it_imports_the_standard_library_only() -> None:
    for node in ast.walk(ast.parse(verify_script())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        assert all(name.split(".")[0] in sys.stdlib_module_names for name in names)


def test_that_no_name_is_defined_twice() -> None:
    names: Counter[str] = Counter()
    for node in ast.parse(verify_script()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names[node.name] += 1
        elif isinstance(node, ast.Assign):
            targets = (one for target in node.targets for one in ast.walk(target))
            names.update(one.id for one in targets if isinstance(one, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names[node.target.id] += 1
    assert [name for name, n in names.items() if n > 1] == []


def test_that_it_is_the_same_each_time_and_has_every_module() -> None:
    source = verify_script()
    assert source == verify_script()
    for name in MODULES:
        assert f"\n# {name}: ".encode() in source
