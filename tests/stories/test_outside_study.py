"""Studies and adapters of other distributions: found, run, verified, named."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.line_process import CommandProcess
from tests.helpers.markdown_pages import read_page
from tests.helpers.outside_packages import (
    BRINGS,
    SIDED,
    Lines,
    bring,
    install,
    write_sides,
)
from tests.stories.conftest import rows_of

EXTENDING = Path(__file__).parents[2] / "docs" / "extending"
SAYS_A = 'adapter = "scripted"\nanswer = "A"'


class Installed:
    """A command line with a folder of other distributions on its path."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._program: CommandProcess | None = None

    def add(self, package: str, module: str, lines: Lines) -> None:
        """Install a distribution of one module."""
        self.end()
        install(self.folder / "site", package, module, lines)

    def bring(self, module: str, lines: Lines) -> None:
        """Install one of the modules beside the tests."""
        self.end()
        bring(self.folder / "site", module, lines)

    def end(self) -> None:
        """Let the next command find what is on the path by then."""
        if self._program is not None:
            self._program.end()
        self._program = None

    def __call__(self, *words: object, code: int = 0) -> str:
        """Run a command; return what it says."""
        if self._program is None:
            self._program = CommandProcess(
                self.folder / "aside.txt",
                {
                    "PYTHONPATH": str(self.folder / "site"),
                    "OVERREAD_STORE": str(self.folder / "s.sqlite"),
                },
            )
        return self._program(*words, code=code)

    def plug_ins(self) -> list[str]:
        """Return what doctor says of plug-ins."""
        rows = json.loads(self("doctor", "--json"))
        return [row["mend"] for row in rows if row["what"] == "plug-in"]


@pytest.fixture
def overread(tmp_path: Path) -> Iterator[Installed]:
    installed = Installed(tmp_path)
    yield installed
    installed.end()


def write_study_file(folder: Path, study: str, model: str) -> Path:
    path = folder / "study.toml"
    head = f'study = "{study}"\ndataset = "sides"\nmodels = ["one"]\n'
    path.write_text(f'{head}[[model]]\nname = "one"\n{model}\n', encoding="utf-8")
    return path


def items_of(report: Path) -> list[dict[str, str]]:
    return rows_of(report / "items.csv")


def asked_about(overread: Installed, study: str, model: str) -> Path:
    """Import the questions, run a study on them, and export the bundle of the run."""
    write_sides(overread.folder / "sides")
    overread("import", "pathmmu", overread.folder / "sides")
    overread("run", write_study_file(overread.folder, study, model))
    bundle = overread.folder / "sides.zip"
    overread("export", "bundle", "last", "--out", bundle)
    return bundle


def test_that_a_study_and_a_way_of_asking_of_other_packages_go_all_the_way(
    overread: Installed, tmp_path: Path
) -> None:
    assert len((BRINGS / "laterality.py").read_text().splitlines()) <= 80
    assert len((BRINGS / "shouting.py").read_text().splitlines()) <= 40
    overread.bring("laterality", SIDED)
    overread.bring("shouting", {"viewer.models": {"shouting": "shouting:SPEC"}})
    bundle = asked_about(overread, "laterality", SAYS_A)
    (run,) = json.loads(overread("runs", "--json"))
    assert run["study"] == "laterality"
    overread("report", "last", "--out", tmp_path / "report")
    statuses = [row["status"] for row in items_of(tmp_path / "report")]
    assert statuses == [*["scored_correct"] * 3, "scored_wrong"]
    said = overread("verify", bundle)
    assert "\nVERIFIED: sides.zip is consistent." in said
    assert "tables/results.csv: 2 rows computed again." in said
    assert "4 plain answers were parsed again" in said
    assert json.loads(overread("published", "laterality", "--json")) == []
    overread("published")
    assert overread.plug_ins() == []
    shouts = 'adapter = "shouting"\nsays = "b"'
    overread("run", write_study_file(tmp_path, "laterality", shouts))
    overread("report", "last", "--out", tmp_path / "shouted")
    assert [row["answer"] for row in items_of(tmp_path / "shouted")] == ["B"] * 4
    overread("export", "bundle", "last", "--out", bundle)
    assert "\nVERIFIED" in overread("verify", bundle)
    overread.end()
    shutil.rmtree(tmp_path / "site")
    studies = {run["study"] for run in json.loads(overread("runs", "--json"))}
    assert studies == {"laterality"}
    said = overread("report", "last", "--out", tmp_path / "none", code=2)
    assert "There is no study named 'laterality'." in said


OWN_TABLES = """

from dataclasses import replace
from viewer.domain.report import Table
from viewer.results.estimators import estimator
from viewer.results.evaluate import evaluate_all
from viewer.results.records import records
from viewer.results.spec import Cell, Key, TableSpec


@estimator("least")
def least(seen):
    return (min(seen.values()),)


SPECS = (
    TableSpec("sides", (Key("answer"),), (Cell("rate", ("k", "n"), ("correct",)),)),
    TableSpec("firsts", (Key("answer"),), (Cell("least", ("first",), ("item",)),)),
)


class WithTables(Laterality):
    def gold(self, turn, params):
        return {"side": SIDES[turn.item.reference["option"]]}

    def score(self, turn, answer, params):
        right = answer.option == turn.item.reference["option"]
        return Score(Status.SCORED_CORRECT if right else Status.SCORED_WRONG)

    def report(self, results, *given):
        data = super().report(results, *given)
        own = evaluate_all(SPECS, {"trials": records(results)})
        plain = Table("table_1", ("side", "n"), (("left", 3),))
        tables, specs = (*data.tables, *own, plain), (*data.specs, *SPECS)
        return replace(data, tables=tables, specs=specs)


STUDY = WithTables(READ, {"own": "Own"})
"""


def test_that_what_a_study_judges_by_a_rule_of_its_own_is_verified_in_part(
    overread: Installed,
) -> None:
    module = (BRINGS / "laterality.py").read_text(encoding="utf-8")
    overread.add("laterality", module + OWN_TABLES, SIDED)
    said = overread("verify", asked_about(overread, "laterality", SAYS_A), code=3)
    assert "the verdicts of 4 trials were taken as stored" in said
    assert "tables/results.csv: 2 rows computed again." in said
    assert "tables/sides.csv: 1 rows computed again." in said
    assert (
        "tables/firsts.csv could not be computed again (it asks for the estimator "
        "'least'): only its bytes were checked."
    ) in said
    assert "tables/table_1.csv could not be computed again: only its bytes" in said
    assert "PARTLY VERIFIED: sides.zip" in said


def test_that_a_table_and_a_figure_of_another_package_are_made(
    overread: Installed, tmp_path: Path
) -> None:
    module = (BRINGS / "laterality.py").read_text(encoding="utf-8")
    (added,) = (
        code.text
        for code in read_page(EXTENDING / "table.md").blocks
        if "class WithSides" in code.text
    )
    overread.add("laterality", module + added, SIDED)
    overread.bring("sides", {})
    bundle = asked_about(overread, "laterality", SAYS_A)
    overread("report", "last", "--out", tmp_path / "report")
    (row,) = rows_of(tmp_path / "report" / "by_side.csv")
    assert (row["side"], row["k"], row["n"], row["accuracy"]) == ("A", "3", "4", "0.75")
    page = (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    assert "Right answers by side" in page
    assert "tables/by_side.csv: 1 rows computed again." in overread("verify", bundle)
    overread("pack", "sides", "--run", "last", "--out", tmp_path / "pack")
    made = {path.name for path in (tmp_path / "pack").rglob("by_side.*")}
    assert made == {f"by_side.{kind}" for kind in ("csv", "pdf", "svg", "tex")}


def test_that_a_format_of_another_package_is_recognised_and_read(
    overread: Installed, tmp_path: Path
) -> None:
    overread.bring("marks_jsonl", {"viewer.readers": {"marks-jsonl": FORMAT}})
    write_sides(tmp_path / "images")
    marks = (
        '{"image": "0.png", "finding": "Nodule", "box": [4, 5, 9, 9]}\n'
        '{"image": "0.png", "finding": "Nodule", "box": [1, 1, 3, 3]}\n'
        '{"image": "1.png"}\n'
    )
    folder = tmp_path / "images" / "images"
    (folder / "marks.jsonl").write_text(marks, encoding="utf-8")
    overread("import", "auto", folder, "--name", "marked")
    said = overread("cases", "marked")
    assert "Line 3 is no mark and is not used." in said
    (image,) = json.loads(overread("cases", "marked", "--json"))["images"]
    assert (image["image"], image["findings"]) == ("0", ["Nodule"])


OF_A_METRIC = """

from dataclasses import replace
from viewer.results.evaluate import evaluate
from viewer.results.records import records
from viewer.results.spec import Cell, TableSpec

SPEC = TableSpec("spans", (), (Cell("half range", ("half",), ("correct",)),))


class Spanned(Laterality):
    def report(self, results, *given):
        data = super().report(results, *given)
        own = evaluate(SPEC, {"trials": records(results)})
        return replace(data, tables=(*data.tables, own), specs=(*data.specs, SPEC))


STUDY = Spanned(READ, {"own": "Own"})
"""
FORMAT = "marks_jsonl:FORMAT"
MEASURED = {"viewer.metrics": {"half range": "half_range:METRIC"}}


def test_that_a_metric_of_another_package_measures_and_is_verified_in_part(
    overread: Installed, tmp_path: Path
) -> None:
    module = (BRINGS / "laterality.py").read_text(encoding="utf-8")
    overread.add("laterality", module + OF_A_METRIC, SIDED)
    overread.bring("half_range", MEASURED)
    bundle = asked_about(overread, "laterality", SAYS_A)
    overread("report", "last", "--out", tmp_path / "report")
    assert (tmp_path / "report" / "spans.csv").read_text() == "half\n0.5\n"
    said = overread("verify", bundle, code=3)
    assert (
        "tables/spans.csv could not be computed again (it asks for the estimator "
        "'half range'): only its bytes were checked."
    ) in said
    assert "PARTLY VERIFIED: sides.zip" in said


def test_that_doctor_names_metrics_that_cannot_be_used(overread: Installed) -> None:
    text = (BRINGS / "half_range.py").read_text(encoding="utf-8")
    newer = 'METRIC = Metric("half range", 2, half_range)  # '
    for package, name, old, new in (
        ("newer", "half range", "METRIC = Metric(", newer),
        ("number", "one", "METRIC = Metric(", "METRIC = 1  # "),
        ("same", "rate", "half range", "rate"),
    ):
        lines = {"viewer.metrics": {name: f"{package}:METRIC"}}
        overread.add(package, text.replace(old, new), lines)
    assert sorted(overread.plug_ins()) == [
        (
            "The metric 'half range' of package newer was built for interface 2, and "
            "this program offers 1: install a version for it."
        ),
        (
            "The metric 'one' of package number is not a Metric: update or uninstall "
            "the package."
        ),
        (
            "The metric 'rate' of package same has the same name as a built-in one: "
            "give it another name."
        ),
    ]


def test_that_a_metric_that_fails_is_named_in_one_sentence(
    overread: Installed, tmp_path: Path
) -> None:
    module = (BRINGS / "laterality.py").read_text(encoding="utf-8")
    overread.add("laterality", module + OF_A_METRIC, SIDED)
    text = (BRINGS / "half_range.py").read_text(encoding="utf-8")
    overread.add("half_range", text.replace("/ 2", "/ 0"), MEASURED)
    write_sides(tmp_path / "sides")
    overread("import", "pathmmu", tmp_path / "sides")
    overread("run", write_study_file(tmp_path, "laterality", SAYS_A), code=2)
    said = overread("report", "last", "--out", tmp_path / "report", code=2)
    assert said.splitlines()[-1].startswith(
        "The metric 'half range' of package half_range 2.1 failed (ZeroDivisionError: "
        "division by zero)."
    )


def test_that_doctor_names_what_is_broken_and_nothing_else_breaks(
    overread: Installed, tmp_path: Path
) -> None:
    own = (BRINGS / "laterality.py").read_text(encoding="utf-8")
    newer = own.replace("interface = 1", "interface = 2")
    overread.add("newer", newer, {"viewer.studies": {"laterality": "newer:STUDY"}})
    raising = {
        "viewer.studies": {"side": "raises:S"},
        "viewer.models": {"m": "raises:S"},
    }
    overread.add("raises", 'raise RuntimeError("no licence")', raising)
    overread.add("empty", "SPEC = 1", {"viewer.models": {"shouting": "empty:SPEC"}})
    named = "\n".join(sorted(overread.plug_ins()))
    assert named == (
        "The adapter 'm' of package raises cannot be loaded (RuntimeError: no "
        "licence): update or uninstall the package.\n"
        "The adapter 'shouting' of package empty is not an AdapterSpec: "
        "update or uninstall the package.\n"
        "The study 'laterality' of package newer was built for interface 2, and "
        "this program offers 1: install a version for it.\n"
        "The study 'side' of package raises cannot be loaded (RuntimeError: no "
        "licence): update or uninstall the package."
    )
    asked = write_study_file(tmp_path, "laterality", SAYS_A)
    assert "overread doctor names those that cannot be used" in overread(
        "run", asked, code=2
    )
    overread("published")
    bundle = asked_about(overread, "pathology_mcq", SAYS_A)
    assert "\nVERIFIED" in overread("verify", bundle)
