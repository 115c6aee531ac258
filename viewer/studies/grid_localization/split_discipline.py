"""How often a split was looked at before its numbers were printed (E000-29).

The paper tries its prompts on the validation split and reports on the test split: each
further version that is run on test makes the best of them less of a measurement.
"""

from collections.abc import Mapping
from typing import Final

from viewer.domain.plain import plain
from viewer.results.records import Frame, frame_of_rows
from viewer.results.spec import ListSpec, Shown
from viewer.studies.grid_localization.params import read_params
from viewer.studies.protocol import AskedVersion, ReportContext

VERSIONS: Final = "versions"
_HEADER: Final = (
    *("version", "prompt_sha256", "preset", "differs_from_preset", "runs"),
    *("first_at", "questions"),
)
_ABOUT: Mapping[str, str] = {
    "test": "This is a test split: prompts are to be tried on the validation split, "
    "and each further version that is run here makes the best of them less of a "
    "measurement.",
    "val": "This is a validation split, where prompts are to be tried; final numbers "
    "are those of the test split.",
}
_UNKNOWN = "Nobody said whether this data set is a validation or a test split."


def version_frame(context: ReportContext) -> Frame:
    """Return what a data set was asked with; nothing where nothing was asked."""
    asked = context.versions if context.dataset else ()
    return frame_of_rows(_HEADER, (_row(i, one) for i, one in enumerate(asked, 1)))


def versions_spec(versions: int, split: str) -> ListSpec:
    """Return the table of the versions that were run on a split."""
    return ListSpec(
        VERSIONS,
        _HEADER,
        "Versions run",
        f"{sentence(versions, split)} {_ABOUT.get(split, _UNKNOWN)}",
        VERSIONS,
        shown=(
            *("version", "prompt_sha256", "preset"),
            Shown("differs_from_preset", "Set otherwise", words={"": "-"}),
            *("runs", Shown("first_at", "First run"), "questions"),
        ),
    )


def sentence(versions: int, split: str) -> str:
    """Return in words how many versions were run on a split."""
    where = f"the {split} split" if split else "this data set"
    if versions == 1:
        return f"1 version of prompt and parameters was run on {where} so far."
    return f"{versions} versions of prompt and parameters were run on {where} so far."


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
