"""What Gosai 2025 concludes, checked on a run that has its models (E000-31)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from viewer.domain.case import View
from viewer.domain.exchange import ModelProfile
from viewer.domain.finding_names import concept
from viewer.results.frame import Frame, frame_of_rows
from viewer.results.spec import ListSpec, Shown
from viewer.studies.grid_localization.benchmark import who_is
from viewer.studies.grid_localization.findings import NINE
from viewer.studies.grid_localization.published import GPT_4, GPT_5
from viewer.studies.grid_localization.rates import Record
from viewer.studies.tables import ALL_VIEWS

CLAIMS: Final = "claims"
CLAIMS_TABLE: Final = ListSpec(
    CLAIMS,
    title="Claims of the paper",
    text="Statements of the paper, checked against this run at 8 × 8 if it asked the "
    "models concerned, on whatever data set. A model with another name counts as one "
    "of these if its profile says so (paper_model).",
    frame=CLAIMS,
    shown=(
        Shown("claim", "Claim of the paper"),
        *("where", Shown("verdict", "On this run"), Shown("this_run", "Because")),
    ),
)
_GRID: Final = "grid=8"
_GAINS: Final = ("Atelectasis", "Consolidation", "Edema", "Pleural Effusion")
_GAIN: Final = 0.2
_HIGHEST: Final = frozenset({"Pleural Effusion", "Pneumothorax"})
# In floats 0.7 - 0.5 is less than 0.2.
_ROUNDING: Final = 1e-12

AnatomyErrors = Mapping[tuple[str, str], float]
"""By model and finding, misses that readers called anatomy errors, as estimated."""


class Verdict(StrEnum):
    """A run's evidence on a claim."""

    HOLDS = "holds"
    FAILS = "does not hold"
    NOT_RUN = "not run"
    NOT_REVIEWED = "not reviewed"
    INCOMPLETE = "incomplete"


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim of the paper and this run's evidence, with its numbers."""

    text: str
    where: str
    verdict: Verdict
    because: str


@dataclass(frozen=True)
class _Evidence:
    """The run's rows at 8 × 8 by model and finding, in all views and in frontal ones.

    ``names`` gives the run's model that stands for each of the paper's.
    """

    names: Mapping[str, str]
    whole: Mapping[tuple[str, str], Record]
    frontal: Mapping[tuple[str, str], Record]
    anatomy: AnatomyErrors

    @property
    def pending(self) -> bool:
        """Whether trials of the run are not asked yet."""
        return any(row["n_pending"] for row in self.whole.values())

    def lacks(self, *who: str) -> str:
        """Return the paper's models that the run did not ask, "" if none."""
        return " and ".join(one for one in who if one not in self.names)


def claim_frame(
    rates: Sequence[Record], models: Sequence[ModelProfile], anatomy: AnatomyErrors
) -> Frame:
    """Return each claim with its verdict."""
    found = claims(rates, models, anatomy)
    rows = ((one.text, one.where, str(one.verdict), one.because) for one in found)
    return frame_of_rows(("claim", "where", "verdict", "this_run"), rows)


def claims(
    rates: Sequence[Record], models: Sequence[ModelProfile], anatomy: AnatomyErrors
) -> Iterator[Claim]:
    """Yield each claim with its verdict.

    ``anatomy`` is for the run's first condition, and says nothing about 8 × 8 if that
    differs.
    """
    at_eight = [row for row in rates if row["condition"] == _GRID]
    evidence = _Evidence(
        # Reversed: of several models that are the same one, the first stays.
        {who: m.name for m in reversed(models) if (who := who_is(m))},
        {_key(r): r for r in at_eight if r["view"] == ALL_VIEWS},
        {_key(r): r for r in at_eight if r["view"] == View.FRONTAL},
        {
            (model, concept(finding)): n
            for (model, finding), n in anatomy.items()
            if rates and rates[0]["condition"] == _GRID
        },
    )
    yield from (_gain(finding, evidence) for finding in _GAINS)
    yield _no_anatomy_error(evidence)
    yield from (_highest(who, evidence) for who in (GPT_4, GPT_5))


def _key(row: Record) -> tuple[str, str]:
    return row["model"], concept(row["finding"])


def _gain(finding: str, evidence: _Evidence) -> Claim:
    text = f"GPT-5's hit rate is at least 20 points above GPT-4's on {finding.lower()}."
    where = "section 4.1"
    missing = evidence.lacks(GPT_5, GPT_4)
    if missing:
        return Claim(text, where, Verdict.NOT_RUN, f"The run did not ask {missing}.")
    rates = [_rate(evidence, who, finding) for who in (GPT_5, GPT_4)]
    new, old = rates
    if new is None or old is None:
        because = f"It has no answers of them for {finding.lower()}."
        return Claim(text, where, Verdict.NOT_RUN, because)
    because = f"{100 * new:.1f} % against {100 * old:.1f} %."
    if evidence.pending:
        return Claim(text, where, Verdict.INCOMPLETE, because)
    holds = new - old >= _GAIN - _ROUNDING
    return Claim(text, where, Verdict.HOLDS if holds else Verdict.FAILS, because)


def _rate(evidence: _Evidence, who: str, finding: str) -> float | None:
    row = evidence.whole.get((evidence.names[who], finding), {})
    rate: float | None = row["hit_rate"] if _is_answered(row) else None
    return rate


def _no_anatomy_error(evidence: _Evidence) -> Claim:
    text = "GPT-5 makes no anatomy error on consolidation."
    where = "section 4.3"
    shares = _shares(GPT_5, evidence)
    if isinstance(shares, Claim):
        return Claim(text, where, shares.verdict, shares.because)
    if "Consolidation" not in shares:
        return Claim(text, where, *_unknown(GPT_5, ["Consolidation"], evidence))
    share = shares["Consolidation"]
    verdict = Verdict.HOLDS if share == 0 else Verdict.FAILS
    return Claim(text, where, verdict, f"{100 * share:.1f} % of frontal answers.")


def _highest(who: str, evidence: _Evidence) -> Claim:
    text = (
        f"{who.partition(' ')[0]} makes most anatomy errors on pleural effusion and "
        "pneumothorax."
    )
    where = "section 4.2"
    shares = _shares(who, evidence)
    if isinstance(shares, Claim):
        return Claim(text, where, shares.verdict, shares.because)
    left = [finding for finding in NINE if finding not in shares]
    if left:
        return Claim(text, where, *_unknown(who, left, evidence))
    least = min(shares[finding] for finding in _HIGHEST)
    others = max(shares[finding] for finding in NINE if finding not in _HIGHEST)
    verdict = Verdict.HOLDS if least > others else Verdict.FAILS
    because = (
        f"At least {100 * least:.1f} % there, at most {100 * others:.1f} % elsewhere."
    )
    return Claim(text, where, verdict, because)


def _unknown(
    who: str, findings: Sequence[str], evidence: _Evidence
) -> tuple[Verdict, str]:
    """Return why some findings have no share: not answered, or not reviewed."""
    rows = ((f, evidence.frontal.get((evidence.names[who], f), {})) for f in findings)
    unanswered = [finding for finding, row in rows if not _is_answered(row)]
    if unanswered:
        named = ", ".join(unanswered).lower()
        return (
            Verdict.NOT_RUN,
            f"The run has no frontal answers of this model for {named}.",
        )
    named = ", ".join(findings).lower()
    return Verdict.NOT_REVIEWED, f"The review of its {named} misses is not finished."


def _shares(who: str, evidence: _Evidence) -> dict[str, float] | Claim:
    """Return anatomy errors by finding as a share of frontal trials, or why not."""
    missing = evidence.lacks(who)
    if missing:
        return Claim("", "", Verdict.NOT_RUN, f"The run did not ask {missing}.")
    model = evidence.names[who]
    counts = {f: n for (m, f), n in evidence.anatomy.items() if m == model}
    if evidence.pending:
        return Claim("", "", Verdict.INCOMPLETE, "Some trials are still pending.")
    rows = {f: evidence.frontal.get((model, f), {}) for f in NINE}
    return {
        f: counts.get(f, 0.0) / row["n"]
        for f, row in rows.items()
        if _is_answered(row) and (f in counts or _all_touch(row))
    }


def _is_answered(row: Record) -> bool:
    """Tell whether a row has trials of which not every request failed."""
    return bool(row) and row["n"] > row["n_failed"]


def _all_touch(row: Record) -> bool:
    """Tell whether every answer touches the reference, so that there are no misses."""
    return int(row["k"] + row["partial"]) == int(row["n_scored"])
