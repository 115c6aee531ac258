"""How often a split was looked at before its numbers were printed (E000-29).

The paper tries its prompts on the validation split and reports on the test split: each
further version that is run on test makes the best of them less of a measurement.
"""

from collections.abc import Mapping, Sequence

from viewer.domain.plain import plain
from viewer.domain.report import Section, Table
from viewer.studies.grid_localization.params import read_params
from viewer.studies.grid_localization.part import NOTHING, Part
from viewer.studies.protocol import AskedVersion, ReportContext

HEADER = (
    *("version", "prompt_sha256", "preset", "differs_from_preset", "runs"),
    *("first_at", "questions"),
)
_PRINTED = (
    *("Version", "Prompt", "Preset", "Set otherwise", "Runs", "First run"),
    "Questions",
)
_ABOUT: Mapping[str, str] = {
    "test": "This is a test split: prompts are to be tried on the validation split, "
    "and each further version that is run here makes the best of them less of a "
    "measurement.",
    "val": "This is a validation split, where prompts are to be tried; final numbers "
    "are those of the test split.",
}
_UNKNOWN = "Nobody said whether this data set is a validation or a test split."


def part(context: ReportContext) -> Part:
    """Return versions.csv and its section; nothing where nothing was asked."""
    if context.dataset is None or not context.versions:
        return NOTHING
    rows = tuple(_row(i, one) for i, one in enumerate(context.versions, 1))
    table = Table("versions", HEADER, rows)
    return Part((table,), appendix=(_section(context.dataset.split, rows),))


def sentence(versions: int, split: str) -> str:
    """Return in words how many versions were run on a split."""
    where = f"the {split} split" if split else "this data set"
    if versions == 1:
        return f"1 version of prompt and parameters was run on {where} so far."
    return f"{versions} versions of prompt and parameters were run on {where} so far."


def _section(split: str, rows: Sequence[tuple[object, ...]]) -> Section:
    text = f"{sentence(len(rows), split)} {_ABOUT.get(split, _UNKNOWN)}"
    printed = tuple(_print(row) for row in rows)
    return Section("Versions run", text, Table("versions", _PRINTED, printed))


def _print(row: tuple[object, ...]) -> tuple[str, ...]:
    number, prompt, preset, special, runs, first_at, questions = map(str, row)
    day, short = first_at[:10], prompt[:12]
    return number, short, preset, special or "-", runs, day, questions


def _spoken(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _row(number: int, one: AskedVersion) -> tuple[object, ...]:
    usual = plain(read_params(one.preset, {}))
    special = "; ".join(
        f"{name} = {_spoken(value)}"
        for name, value in sorted(one.params.items())
        if name in usual and usual[name] != value
    )
    runs = ";".join(str(run) for run in dict.fromkeys(one.runs))
    return (
        *(number, one.prompt_sha256, one.preset, special, runs),
        *(one.first_at, one.questions),
    )
