"""One trial of a study about items as a bundle keeps it, and what is wrong with it."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from viewer.domain.answer import AnyAnswer, Unparsed
from viewer.domain.answer_json import answer_as_json
from viewer.writers.verify.recompute import judged_again
from viewer.writers.verify.trial_check import JudgedFrom


def record(
    text: str,
    parsed: AnyAnswer | Unparsed,
    gold: Mapping[str, Any],
    judge: str = "",
    **more: object,
) -> dict[str, Any]:
    """Return a trial of one step, or of two with a judge, as a bundle keeps it."""
    read = {"status": "", "reason": ""}
    if isinstance(parsed, Unparsed):
        read = {"status": str(parsed.status), "reason": parsed.reason}
    said = [("answer", "", text), *([("judge", "judge", judge)] if judge else [])]
    bodies = [json.dumps({"text": t, "note": ""}, sort_keys=True) for _, _, t in said]
    steps = [
        {
            "step": step,
            "role": role,
            "again": 0,
            "model": "m",
            "reply": i,
            "request_sha256": "",
            "reply_sha256": hashlib.sha256(bodies[i].encode()).hexdigest(),
        }
        for i, (step, role, _) in enumerate(said)
    ]
    trial = {
        **dict.fromkeys(("item", "patient", "image", "finding", "view"), "x"),
        "condition": "plain",
        "repeat": 0,
        "model": "m",
        "request_sha256": "",
        "prompt_sha256": "",
        "answer": "",
        "strata": {},
        "listed": {},
        "numbers": [],
        "steps": steps,
        "gold": dict(gold),
        **read,
        "parsed": answer_as_json(parsed),
        **more,
    }
    return {"bodies": bodies, "trial": trial}


def alarms(kept: Mapping[str, Any], findings: Sequence[str] = ()) -> list[str]:
    """Return what the verifier says is wrong with a trial."""
    replies = [
        {"kind": "plain", "length_cap": None, "text": body} for body in kept["bodies"]
    ]
    source = JudgedFrom({"findings": list(findings)}, replies)
    judged_again(source, kept["trial"])
    return source.wrong
