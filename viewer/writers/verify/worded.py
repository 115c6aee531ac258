"""Every trial of a study about items judged once more."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from viewer.writers.verify.trial_check import JudgedFrom, TrialCheck, kept_state
from viewer.writers.verify.verdicts import LEFT_OUT, STATUSES, ItemVerdict

_WITHOUT_REPLY = frozenset({"pending", "provider_error", LEFT_OUT})
_NAMED_SO = (
    *("item", "patient", "image", "finding", "view", "condition", "repeat", "model"),
    *("answer", "gold"),
)


def judged_again(source: JudgedFrom, trial: Mapping[str, Any]) -> ItemVerdict:
    """Return the verdict that follows; what departs from the record is told."""
    parsed = json.loads(trial["parsed"]) if trial["parsed"] else {}
    check = TrialCheck(source, trial, parsed)
    _check_state(check)
    status, reason = check.verdict() if trial["steps"] else kept_state(trial)
    if (status, reason) != kept_state(trial):
        kept, follows = (
            " ".join(filter(None, state))
            for state in (kept_state(trial), (status, reason))
        )
        check.tell(f"it is {kept}, but {follows}")
    numbers = dict(trial["numbers"])
    for name, value in _departing(check, numbers):
        check.tell(f"{name} is {numbers[name]:g}, but {value:g}")
    return ItemVerdict(
        **{name: trial[name] for name in _NAMED_SO},
        status=status,
        reason=reason,
        request=trial["request_sha256"],
        numbers=numbers,
        said=parsed,
    )


def _check_state(check: TrialCheck) -> None:
    trial = check.trial
    if trial["status"] not in STATUSES:
        check.tell(f"'{trial['status']}' is no status")
    if not trial["steps"] and trial["status"] not in _WITHOUT_REPLY:
        check.tell("it has a verdict without a reply")
    asked = [step["request_sha256"] for step in trial["steps"]]
    if asked and trial["request_sha256"] not in asked:
        check.tell("its request is that of no step")
    for step in trial["steps"]:
        check.check_hash(step)


def _departing(
    check: TrialCheck, numbers: Mapping[str, float]
) -> Iterator[tuple[str, float]]:
    """Yield the named numbers that come out otherwise than they are kept."""
    for name, value in check.numbers().items():
        if name in numbers and numbers[name] != value:
            yield name, value
