"""Specifications as JSON: read back they are equal, and a wrong one is refused."""

import json
from enum import StrEnum

import pytest

from viewer.domain.errors import WrongUseError
from viewer.results.spec import (
    HIGHEST,
    PERCENT,
    Cell,
    Key,
    ListSpec,
    Ranking,
    Shown,
    Spec,
    TableSpec,
)
from viewer.results.spec_json import spec_documents, specs_of


class Way(StrEnum):
    PLAIN = "plain"


SPECS: tuple[Spec, ...] = (
    TableSpec(
        "rates",
        (Key("model", "who", "all", (Way.PLAIN, "b"), ascending=True),),
        (
            Cell(
                "rate",
                ("k", "n"),
                ("correct",),
                {"counted": (True,), "score": (1, 2.5)},
                {"model": None, "way": Way.PLAIN},
                {"seed": 3, "answer": None, "by": "model"},
                "others",
                "model",
                "size",
            ),
        ),
        "Rates",
        "Of each.",
        where={"way": (Way.PLAIN,)},
        outer=("model",),
        every=True,
        sets=((), ("model",)),
        only_several=("model",),
        needs_several="way",
        below=(("paper", 0.1, 3),),
        shown=(
            "k",
            Shown("n", "N", ".1f", 100, " %", ("k", "n")),
            Shown("tiny", "Tiny", PERCENT, change="by", none="", best=HIGHEST),
        ),
        ranking=Ranking(("input",), {"model": ("chance",)}),
    ),
    ListSpec("all", ("a",), "All", "Every one.", "others", {"a": (1,)}, ("a",)),
)


def test_that_specifications_come_back_from_json_as_they_were() -> None:
    documents = json.loads(json.dumps(spec_documents(SPECS)))
    assert specs_of(documents) == SPECS
    assert spec_documents(specs_of(documents)) == documents


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"spec": "figure"}, "'spec' in the specification is not a known kind"),
        ({"name": 1}, "'name' in the specification must be text"),
        ({"size": 1}, "'size' in the specification is not known"),
    ],
)
def test_that_what_is_no_specification_is_refused(
    change: dict[str, object], said: str
) -> None:
    (_, document) = spec_documents(SPECS)
    with pytest.raises(WrongUseError, match=said):
        specs_of([{**document, **change}])
