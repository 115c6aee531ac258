import json
from dataclasses import replace

import pytest

from viewer.domain.errors import ProviderError
from viewer.domain.exchange import RawReply
from viewer.domain.geometry import Affine
from viewer.domain.interpretability import (
    ImageRelevance,
    Measured,
    Relevance,
    SectionAttention,
    Spelled,
)
from viewer.models.reading import local_reply, read_reply

ATTENTION = SectionAttention(("image", "text"), (3, 2), ((0.25, 0.75), (0.5, 0.5)))
MEASURED = Measured(
    ((Spelled("A", 1, -0.1), Spelled("(A", 2, -3.0)), (Spelled("é", 2, -4.5),)),
    ATTENTION,
    (0.2, 0.3),
    Relevance(
        (ImageRelevance(((0.1, 0.2), (0.05, 0.15)), Affine(1.5, 0, 2, 0, 1.5, 0)),),
        (("What", 0.3), ("?", 0.2)),
    ),
)


@pytest.mark.parametrize(
    "measured",
    [MEASURED, Measured(), replace(MEASURED, attention=None, relevance=None), None],
)
def test_that_what_was_measured_is_read_as_it_was_written(
    measured: Measured | None,
) -> None:
    raw = local_reply("yes", model="m", measured=measured)
    assert read_reply(raw).measured == measured
    assert ("measured" in json.loads(raw.body)) == (measured is not None)


@pytest.mark.parametrize(
    "change",
    [
        [],
        {"options": 3},
        {"options": [[{"text": "A"}]]},
        {"attention": {"names": ["image"], "tokens": [3, 4], "sums": []}},
        {"attention": {"names": ["image"], "tokens": [3], "sums": [[0.5, 0.5]]}},
        {"region": ["much"]},
        {"relevance": {"images": [{"values": [[1]], "to_sent": [1]}], "tokens": []}},
        {"relevance": {"images": [], "tokens": [["one"]]}},
    ],
)
def test_that_a_measure_of_another_form_cannot_be_read(change: object) -> None:
    raw = local_reply("yes", model="m", measured=MEASURED)
    body = json.loads(raw.body)
    if isinstance(change, dict):
        body["measured"].update(change)
    else:
        body["measured"] = change
    damaged = RawReply(raw.kind, json.dumps(body).encode())
    with pytest.raises(ProviderError, match="measured"):
        read_reply(damaged)
