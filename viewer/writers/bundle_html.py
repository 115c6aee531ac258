"""A bundle's page: every item in one file without network requests."""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from typing import Any

_COLUMNS = (
    *("item", "patient", "image", "view", "finding", "condition", "repeat", "model"),
    *("status", "reason", "answer", "parsed"),
)


@dataclass(frozen=True)
class BundlePage:
    """The contents of the page; its parts are those of the bundle's JSON files.

    ``about`` says what can be verified and what cannot; ``replies`` are what the
    replies say, by the numbers that steps have, ``pictures`` the PNGs that came with
    them, by the same numbers.
    """

    title: str
    incomplete: bool
    plan: Mapping[str, object]
    trials: Sequence[Mapping[str, object]]
    references: Mapping[str, Mapping[str, object]]
    about: str = ""
    replies: Sequence[str] = ()
    pictures: Mapping[int, Sequence[bytes]] = field(default_factory=dict)

    @property
    def has_pixels(self) -> str:
        """What the page says of pixels."""
        if self.pictures:
            return "No pixels but those of pictures that models returned"
        return "No pixels"


def _steps_of(trial: Mapping[str, Any]) -> list[tuple[str, str, int]]:
    """Return name, model and reply's number of each step of a trial."""
    return [(one["step"], one["model"], one["reply"]) for one in trial["steps"]]


def render_bundle(page: BundlePage) -> bytes:
    """Return the page as UTF-8 HTML, with its data embedded once."""
    data = {
        "columns": _COLUMNS,
        "plan": page.plan,
        "trials": [[trial[c] for c in _COLUMNS] for trial in page.trials],
        "images": page.references,
        "replies": page.replies,
        "pictures": {
            str(number): [base64.b64encode(png).decode() for png in pngs]
            for number, pngs in page.pictures.items()
        },
        "steps": [_steps_of(trial) for trial in page.trials],
        "golds": [trial["gold"] for trial in page.trials],
    }
    text = json.dumps(data, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
    escaped = text.replace("<", "\\u003c")  # nothing in it can end the script
    note = "Incomplete: trials are still pending." if page.incomplete else ""
    template = files("viewer.writers") / "templates" / "bundle.html"
    html = template.read_text(encoding="utf-8")
    for name, value in (
        ("TITLE", escape(page.title)),
        ("NOTE", note),
        ("PIXELS", page.has_pixels),
        ("ABOUT", escape(page.about)),
        ("DATA", escaped),
    ):
        html = html.replace(f"%{name}%", value)
    return html.encode()
