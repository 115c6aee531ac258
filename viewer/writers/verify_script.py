"""verify.py: the verifier's modules as one file that needs only Python."""

import ast
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Final

PACKAGE: Final = "viewer.writers.verify"
MODULES: Final = (
    *("draws", "sums", "by_patient", "masks", "pieces", "measuring", "replies"),
    *("archive", "comparing", "resampling", "wording", "verdicts", "estimators"),
    *("finding_boxes", "question_answers", "trial_check", "placing"),
    *("coefficients", "agreeing"),
    *("frames", "place_frames", "location_prior", "place_estimators", "specs"),
    *("question_frames", "control_frames", "heal_frames", "mcq_frames"),
    *("case_frames", "grade_frames"),
    *("fingerprints", "built_in", "recompute", "main"),
)
"""Those that others import stand before them."""


@cache
def verify_script() -> bytes:
    """Return the source of verify.py, the same bytes on every machine."""
    sources = {name: _source(name) for name in MODULES}
    trees = {name: ast.parse(source) for name, source in sources.items()}
    imports = sorted({line for t in trees.values() for line in _imports(t)})
    parts = [f'"""{ast.get_docstring(trees[MODULES[-1]])}\n"""\n', "\n".join(imports)]
    parts += [_body(sources[name], trees[name], name) for name in MODULES]
    return ("\n".join(parts) + "\n").encode()


def _source(name: str) -> str:
    return (files(PACKAGE) / f"{name}.py").read_text(encoding="utf-8")


def _imports(tree: ast.Module) -> Iterator[str]:
    """Yield each import of the standard library as a line of its own."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            yield from (ast.unparse(ast.Import([alias])) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not _is_own(node):
            for alias in node.names:
                yield ast.unparse(ast.ImportFrom(node.module, [alias], node.level))


def _is_own(node: ast.ImportFrom) -> bool:
    return (node.module or "").startswith(PACKAGE)


def _body(source: str, tree: ast.Module, name: str) -> str:
    """Return a module without its imports; its docstring becomes a comment."""
    lines = source.splitlines()
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom) or node is tree.body[0]:
            first, last = node.lineno, node.end_lineno or node.lineno
            # Emptied, not removed: the line numbers of the other nodes must stay.
            lines[first - 1 : last] = [""] * (last - first + 1)
    title = (ast.get_docstring(tree) or name).splitlines()[0]
    return f"\n\n# {name}: {title}\n\n\n" + "\n".join(lines).strip()
