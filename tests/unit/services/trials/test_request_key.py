"""The request key: every difference that could change an answer, and nothing else."""

import dataclasses
import hashlib
import json
import random

import numpy as np
import pytest

from tests.helpers.requests import facts, request
from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import (
    ImagePart,
    Message,
    ModelIdentity,
    ModelRequest,
    TextPart,
)
from viewer.domain.interpretability import (
    Choices,
    ContrastSpace,
    Highlight,
    Measures,
    QueryPosition,
    Section,
    WeightForm,
    letter_spellings,
)
from viewer.domain.reference import Mask
from viewer.services.trials.request_key import request_document, request_key

IDENTITY = ModelIdentity(
    {"kind": "openai_api", "host": "127.0.0.1:8131", "path": "/v1", "api": "chat"},
    "tiny-vlm",
    "alias",
    {"temperature": 0.0, "seed": 0, "max_tokens": 64},
)
PNG = bytes(range(256)) * 3
FACTS = facts(reference_counts=((0, 1), (2, 3)))
REQUEST = request(FACTS, png=PNG)


def key(
    identity: ModelIdentity = IDENTITY,
    asked: ModelRequest = REQUEST,
    repeat: int = 0,
    reads_facts: bool = False,
) -> str:
    document = request_document(identity, asked, repeat, reads_facts=reads_facts)
    return request_key(document)


def test_that_the_key_is_the_hash_of_canonical_json() -> None:
    document = request_document(IDENTITY, REQUEST, 3, reads_facts=True)
    canonical = json.dumps(
        document, sort_keys=True, separators=(",", ":"), ensure_ascii=False
    ).replace('"temperature":0.0', '"temperature":0')
    assert request_key(document) == hashlib.sha256(canonical.encode()).hexdigest()


def test_that_the_document_holds_the_fields_of_the_specification() -> None:
    document = request_document(IDENTITY, REQUEST, 3, reads_facts=False)
    assert set(document) == {
        "schema",
        "endpoint",
        "model",
        "model_revision",
        "messages",
        "params",
        "local",
        "replicate",
    }
    assert document["schema"] == 1
    assert document["replicate"] == 3
    image = {
        "image_sha256": hashlib.sha256(PNG).hexdigest(),
        "media_type": "image/png",
        "detail": None,
    }
    assert image in document["messages"][1]["parts"]  # type: ignore[index]


def test_that_the_key_does_not_depend_on_the_order_of_settings() -> None:
    params = dict(reversed(list(IDENTITY.params.items())))
    assert key(dataclasses.replace(IDENTITY, params=params)) == key()


def test_that_facts_join_the_key_only_where_they_are_read() -> None:
    other = dataclasses.replace(
        REQUEST, facts=dataclasses.replace(FACTS, item="another|Edema")
    )
    assert key(asked=other) == key()
    assert key(asked=other, reads_facts=True) != key(reads_facts=True)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("rows", 9),
        ("columns", 9),
        ("letters", "column"),
        ("finding", "Edema"),
        ("view", "lateral"),
        ("item", "x"),
        ("condition", "grid=9"),
        ("seed", 1),
        ("repeat", 1),
        ("plain_sha256", "0" * 64),
        ("reference_counts", ((0, 1), (3, 2))),
        ("reference_counts", None),
    ],
)
def test_that_every_fact_counts(field: str, value: object) -> None:
    changed = dataclasses.replace(FACTS, **{field: value})  # type: ignore[arg-type]
    other = dataclasses.replace(REQUEST, facts=changed)
    assert key(asked=other, reads_facts=True) != key(reads_facts=True)


def _with_params(**changes: object) -> ModelIdentity:
    return dataclasses.replace(IDENTITY, params={**IDENTITY.params, **changes})


def _with_endpoint(**changes: str) -> ModelIdentity:
    return dataclasses.replace(IDENTITY, endpoint={**IDENTITY.endpoint, **changes})


@pytest.mark.parametrize(
    "other",
    [
        _with_params(seed=1),
        _with_params(temperature=0.1),
        _with_params(max_tokens=65),
        _with_params(top_p=1.0),
        _with_endpoint(host="127.0.0.1:8132"),
        _with_endpoint(path="/v2"),
        _with_endpoint(api="responses"),
        _with_endpoint(kind="transformers_local"),
        dataclasses.replace(IDENTITY, model="tiny-vlm2"),
        dataclasses.replace(IDENTITY, revision="abc"),
        dataclasses.replace(IDENTITY, local={"torch": "2.13"}),
    ],
)
def test_that_every_setting_of_a_model_counts(other: ModelIdentity) -> None:
    assert key(other) != key()


def test_that_a_repeat_is_another_question() -> None:
    assert len({key(repeat=repeat) for repeat in range(5)}) == 5


def test_that_a_typewriter_apostrophe_is_another_question() -> None:
    curly = request(FACTS, text="Where is ‘Edema’?", png=PNG)
    straight = request(FACTS, text="Where is 'Edema'?", png=PNG)
    assert key(asked=curly) != key(asked=straight)


def test_that_the_order_of_image_and_text_counts() -> None:
    system, user = REQUEST.messages
    swapped = (system, Message("user", tuple(reversed(user.parts))))
    assert key(asked=dataclasses.replace(REQUEST, messages=swapped)) != key()


def test_that_the_same_bytes_from_elsewhere_have_the_same_key() -> None:
    again = request(facts(item="other|Edema"), png=bytes(bytearray(PNG)))
    assert key(asked=again) == key()


def test_that_a_number_json_cannot_hold_is_refused_in_a_sentence() -> None:
    for value in (float("nan"), 2**60):
        with pytest.raises(WrongUseError, match="JSON cannot represent"):
            key(_with_params(seed=value))
    with pytest.raises(WrongUseError, match="JSON cannot represent"):
        key(dataclasses.replace(IDENTITY, model="\ud800"))


def _flip_pixel_byte(rng: random.Random, asked: ModelRequest) -> ModelRequest:
    data = bytearray(asked.images[0].png)
    data[rng.randrange(len(data))] ^= rng.randrange(1, 256)
    return _replaced(asked, 1, 0, ImagePart(bytes(data)))


def _edit_text(rng: random.Random, asked: ModelRequest) -> ModelRequest:
    turn, place = rng.choice([(0, 0), (1, 1)])
    part = asked.messages[turn].parts[place]
    assert isinstance(part, TextPart)
    at = rng.randrange(len(part.text) + 1)
    letter = rng.choice("abcXYZ0189 ’'‘\"\\\n\té字\x00")
    text = part.text[:at] + letter + part.text[at + rng.randrange(2) :]
    return _replaced(asked, turn, place, TextPart(text))


def _replaced(
    asked: ModelRequest, turn: int, place: int, part: TextPart | ImagePart
) -> ModelRequest:
    parts = list(asked.messages[turn].parts)
    parts[place] = part
    messages = list(asked.messages)
    messages[turn] = Message(messages[turn].role, tuple(parts))
    return dataclasses.replace(asked, messages=tuple(messages))


def _content(
    identity: ModelIdentity, asked: ModelRequest, repeat: int
) -> tuple[object, ...]:
    """Return what must be equal where keys are equal, without any hash."""
    return (
        asked.messages,
        repeat,
        tuple(sorted(identity.params.items())),
        tuple(sorted(identity.endpoint.items())),
        identity.model,
    )


def _mutate(
    rng: random.Random, identity: ModelIdentity, asked: ModelRequest, repeat: int
) -> tuple[ModelIdentity, ModelRequest, int]:
    kind = rng.randrange(5)
    if kind < 2:
        edit = _flip_pixel_byte if kind else _edit_text
        return identity, edit(rng, asked), repeat
    if kind == 2:
        return identity, asked, rng.randrange(10**6)
    if kind == 3:
        name = rng.choice(["temperature", "seed", "max_tokens", "top_p"])
        params = {
            **identity.params,
            name: rng.choice([rng.random(), rng.getrandbits(50)]),
        }
        return dataclasses.replace(identity, params=params), asked, repeat
    host = f"127.0.0.{rng.randrange(256)}:{rng.randrange(65536)}"
    endpoint = {**identity.endpoint, "host": host}
    return dataclasses.replace(identity, endpoint=endpoint), asked, repeat


def _keys_and_contents(n: int) -> tuple[int, int]:
    """Return how many keys and how many contents there are among mutations."""
    rng = random.Random(20250918)
    seen: dict[str, tuple[object, ...]] = {}
    for _ in range(n):
        state = (IDENTITY, REQUEST, 0)
        for _ in range(rng.randrange(1, 4)):
            state = _mutate(rng, *state)
        content = _content(*state)
        assert seen.setdefault(key(*state), content) == content
    return len(seen), len({hash(c) for c in seen.values()})


def test_that_no_change_among_thousands_hits_another_key() -> None:
    keys, contents = _keys_and_contents(2_000)
    assert keys == contents > 1_000


@pytest.mark.proof
def test_that_no_change_among_a_hundred_thousand_hits_another_key() -> None:
    keys, contents = _keys_and_contents(100_000)
    assert keys == contents > 10_000


def test_that_highlight_and_measures_change_the_key_only_where_there_are_any() -> None:
    document = request_document(IDENTITY, REQUEST, 0, reads_facts=False)
    assert not {"highlight", "measures"} & set(document)
    light = Highlight(Mask.of_array(np.eye(4, dtype=np.bool_)))
    wishes = Measures(
        letter_spellings("AB"), (Section("stem", "What?"),), QueryPosition.GENERATED
    )
    others = [
        dataclasses.replace(REQUEST, highlight=light),
        dataclasses.replace(
            REQUEST, highlight=dataclasses.replace(light, least_cover=0.25)
        ),
        *(
            dataclasses.replace(REQUEST, highlight=dataclasses.replace(light, **change))
            for change in (
                {"mask": Mask.of_array(np.ones((4, 4), dtype=np.bool_))},
                {"image": 1},
                {"weight": 2.0},
                {"form": WeightForm.LINEAR},
                {"contrast": 1.0},
                {"space": ContrastSpace.PROBABILITY},
            )
        ),
        dataclasses.replace(REQUEST, measures=Measures()),
        dataclasses.replace(REQUEST, measures=wishes),
        *(
            dataclasses.replace(REQUEST, measures=dataclasses.replace(wishes, **change))
            for change in (
                {"spellings": ()},
                {"sections": ()},
                {"attention": QueryPosition.LAST_PROMPT},
                {"relevance": True},
                {"answer": False},
            )
        ),
    ]
    assert len({key(), *(key(asked=asked) for asked in others)}) == len(others) + 1


def test_that_choices_are_facts_of_the_key_only_where_there_are_any() -> None:
    asked = dataclasses.replace(FACTS, choices=Choices("What?", ("a", "b")))
    other = dataclasses.replace(FACTS, choices=Choices("What?", ("b", "a")))
    keys = {
        key(asked=dataclasses.replace(REQUEST, facts=about), reads_facts=True)
        for about in (FACTS, asked, other)
    }
    assert len(keys) == 3
    document = request_document(IDENTITY, REQUEST, 0, reads_facts=True)
    assert "choices" not in str(document)
    assert "options" not in str(document)
