"""The manifest's schema is kept, and what departs from it is told by its place."""

import json

import pytest

from viewer.writers.bundle import manifest_schema
from viewer.writers.verify.archive import departures

SCHEMA = {
    "type": "object",
    "required": ["n"],
    "additionalProperties": {"type": "string", "pattern": "^[a-f]+$"},
    "properties": {
        "n": {"type": "integer", "minimum": 1},
        "list": {"type": "array", "items": {"type": ["boolean", "null"]}},
        "no": {"const": False},
        "closed": {"type": "object", "additionalProperties": False},
    },
}


@pytest.mark.parametrize(
    ("value", "wrong"),
    [
        ({"n": 1}, []),
        ({"n": 2, "list": [True, None], "no": False, "x": "abc", "closed": {}}, []),
        ({}, ["m has no n."]),
        ({"n": 0}, ["m.n is less than 1."]),
        ({"n": True}, ["m.n is not of the type integer."]),
        ({"n": 1, "x": "xyz"}, ["m.x has the wrong form."]),
        ({"n": 1, "list": [0]}, ["m.list[0] is not of the type ['boolean', 'null']."]),
        ({"n": 1, "no": 0}, ["m.no is not False."]),
        ({"n": 1, "closed": {"a": 1}}, ["m.closed has a, which it should not have."]),
        ([], ["m is not of the type object."]),
    ],
)
def test_that_departures_are_told_by_their_place(
    value: object, wrong: list[str]
) -> None:
    assert list(departures(value, SCHEMA, "m")) == wrong


def test_that_the_schema_uses_only_what_the_verifier_knows() -> None:
    known = {
        *("$schema", "title", "description", "type", "const", "pattern"),
        *("minimum", "required", "properties", "additionalProperties", "items"),
    }

    def check(schema: dict[str, object]) -> None:
        assert schema.keys() <= known
        for part in (schema.get("items"), schema.get("additionalProperties")):
            if isinstance(part, dict):
                check(part)
        members = schema.get("properties", {})
        assert isinstance(members, dict)
        for part in members.values():
            check(part)

    check(json.loads(manifest_schema()))
