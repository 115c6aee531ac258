import json
from dataclasses import replace

import pytest

from viewer.domain.answer import Status, Unparsed
from viewer.domain.errors import UnreadableInputError
from viewer.domain.task_selection import (
    TAGS,
    Answerable,
    Category,
    Origin,
    SelectedTask,
    Source,
    selection_as_json,
    selection_of_json,
)
from viewer.results.evaluate import evaluate
from viewer.studies.rubric_reading.candidates import (
    Candidate,
    Criterion,
    Quality,
    read_candidates,
    read_quality,
)
from viewer.studies.rubric_reading.frames import selection_frames
from viewer.studies.rubric_reading.protocol_data import TARGETS
from viewer.studies.rubric_reading.tables import COVERAGE
from viewer.studies.rubric_reading.tags import Tags, read_tags, tag_counts

FIVE = [
    {"category": category, "source": source, "task": f"Task {n}"}
    for n, (category, source) in enumerate(
        zip(
            (*Category, Category.BROAD, Category.REASONING),
            ("indication", "findings", "findings", "indication", "findings"),
            strict=True,
        )
    )
]
SCORES = """- Clinical relevance: 5 - asked every day
- Answerability: 4 – one view suffices
* **Complexity/Reasoning**: 4 - several signs
- Clarity / Precision: 3
- Risk flag: No - none
Conclusion: 16"""
TAGGED = """tag_anatomical_region: pleura – lung parenchyma
- tag_pathology_type: effusion
tag_imaging_finding: a - b – c - d - e
**tag_laterality**: left
tag_diagnostic_intent: None
tag_temporal_context: current
tag_question_type: ground-glass – list
tag_subtype: None"""


@pytest.mark.statement("E001-02")
def test_that_five_tasks_in_three_categories_are_read_with_their_source() -> None:
    text = f"Here they are:\n```json\n{json.dumps(FIVE)}\n```"
    found = read_candidates(text)
    assert isinstance(found, tuple)
    assert found[1] == Candidate(Category.REASONING, Source.FINDINGS, "Task 1")
    assert [one.source for one in found].count(Source.INDICATION) == 2
    assert {one.category for one in found} == set(Category)


@pytest.mark.parametrize(
    ("tasks", "status", "reason"),
    [
        (FIVE[:4], Status.UNPARSED, "4 candidates"),
        ([*FIVE, FIVE[0]], Status.UNPARSED, "6 candidates"),
        ([FIVE[0], *FIVE[:4]], Status.AMBIGUOUS, "a task twice"),
        ([{**one, "category": "broad_abnormality_query"} for one in FIVE],
         Status.UNPARSED, "no high_level_diagnostic_reasoning"),
        ([*FIVE[:4], {**FIVE[4], "category": "other"}], Status.UNPARSED,
         "unknown category"),
        ([*FIVE[:4], {**FIVE[4], "source": ""}], Status.UNPARSED, "unknown source"),
        ([*FIVE[:4], {**FIVE[4], "task": " "}], Status.UNPARSED, "no task"),
        ([*FIVE[:4], "Task"], Status.UNPARSED, "no object"),
    ],
)  # fmt: skip
def test_that_other_proposals_are_no_candidates(
    tasks: list[object], status: Status, reason: str
) -> None:
    assert read_candidates(json.dumps(tasks)) == Unparsed(status, reason)


def test_that_proposals_are_one_list() -> None:
    assert read_candidates("I have none.") == Unparsed(Status.UNPARSED, "no_list")
    two = f"{json.dumps(FIVE)} or {json.dumps(FIVE)}"
    assert read_candidates(two) == Unparsed(Status.UNPARSED, "several_lists")
    one = read_candidates(json.dumps(FIVE[:1]), number=1)
    assert isinstance(one, tuple)
    assert len(one) == 1


@pytest.mark.statement("E001-03")
def test_that_scores_are_read_and_their_sum_computed() -> None:
    found = read_quality(SCORES)
    assert isinstance(found, Quality)
    assert found.scores == dict(zip(Criterion, (5, 4, 4, 3), strict=True))
    assert (found.total, found.total_of_three, found.risk) == (16, 13, False)
    assert found.reasons["Clinical relevance"] == "asked every day"
    assert found.disagreement == ""


@pytest.mark.statement("E001-03")
def test_that_a_conclusion_of_another_sum_is_flagged_and_not_trusted() -> None:
    found = read_quality(SCORES.replace("16", "13"))
    assert isinstance(found, Quality)
    assert (found.total, found.conclusion) == (16, 13)
    assert found.disagreement == (
        "Conclusion says 13, which is the sum of Clinical relevance, Answerability, "
        "Complexity/Reasoning; the four are 16."
    )
    odd = read_quality(SCORES.replace("16", "99"))
    assert isinstance(odd, Quality)
    assert "which no three add up to" in odd.disagreement
    without = read_quality(SCORES.replace("Conclusion: 16", ""))
    assert isinstance(without, Quality)
    assert without.disagreement == "The reply has no Conclusion."


@pytest.mark.parametrize(
    ("old", "new", "status", "reason"),
    [
        ("Answerability: 4", "Answerability: 6", Status.UNPARSED, "Answerability"),
        ("Answerability: 4", "Answerability: four", Status.UNPARSED, "Answerability"),
        ("- Clarity / Precision: 3", "", Status.UNPARSED, "Clarity/Precision"),
        ("Risk flag: No", "Risk flag: Maybe", Status.UNPARSED, "no risk flag"),
        ("- Risk", "- Answerability: 2\n- Risk", Status.AMBIGUOUS, "twice"),
    ],
)
def test_that_scores_are_read_strictly(
    old: str, new: str, status: Status, reason: str
) -> None:
    found = read_quality(SCORES.replace(old, new))
    assert isinstance(found, Unparsed)
    assert found.status is status
    assert reason in found.reason


@pytest.mark.statement("E001-04")
def test_that_all_eight_tags_are_read_and_more_than_four_are_multiple() -> None:
    found = read_tags(f"Tags:\n{TAGGED}")
    assert isinstance(found, Tags)
    assert tuple(found.values) == TAGS
    assert found.values["tag_anatomical_region"] == ("pleura", "lung parenchyma")
    assert found.values["tag_imaging_finding"] == ("Multiple",)
    assert found.values["tag_diagnostic_intent"] == ("None",)
    assert found.values["tag_question_type"] == ("ground-glass", "list")
    assert found.written("tag_anatomical_region") == "pleura – lung parenchyma"


@pytest.mark.statement("E001-04")
@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("tag_subtype: None", "", "missing tag_subtype"),
        ("tag_subtype: None", "tag_subtype:", "empty tag_subtype"),
        ("tag_subtype: None", "tag_size: large", "unknown tag_size"),
        ("tag_subtype: None", "tag_subtype: a\ntag_subtype: b", "twice tag_subtype"),
    ],
)
def test_that_tags_are_read_strictly(old: str, new: str, reason: str) -> None:
    found = read_tags(TAGGED.replace(old, new))
    assert isinstance(found, Unparsed)
    assert found.reason == reason


@pytest.mark.statement("E001-06")
def test_that_tags_are_counted_for_the_breakdown() -> None:
    found = read_tags(TAGGED)
    assert isinstance(found, Tags)
    other = Tags({**found.values, "tag_anatomical_region": ("pleura",)})
    counts = tag_counts([found, other], "tag_anatomical_region")
    assert list(counts.items()) == [("pleura", 2), ("lung parenchyma", 1)]


def selected(**change: object) -> SelectedTask:
    values: dict[str, object] = {
        "item": "s1",
        "id": "t1",
        "task": "Describe all pleural lines.",
        "category": Category.BROAD,
        "source": Source.FINDINGS,
        "candidate": "Describe pleural lines.",
        "rescored": 18,
        "tags": dict.fromkeys(TAGS, ("None",)),
        "temporal": True,
        "answerable": Answerable.TRICK,
        **change,
    }
    return SelectedTask(**values)  # type: ignore[arg-type]


@pytest.mark.statement("E001-05")
def test_that_a_selection_keeps_what_was_changed() -> None:
    edited = selected()
    assert edited.origin is Origin.EDITED
    assert edited.diff == ("+ all",)
    chosen = selected(id="t2", candidate="Describe all pleural lines.")
    written = selected(id="t3", candidate="", source=None, tags=None, rescored=None)
    assert [one.origin for one in (chosen, written)] == [
        Origin.SELECTED,
        Origin.WRITTEN,
    ]
    assert chosen.diff == written.diff == ()
    tasks = (edited, chosen, written)
    assert selection_of_json(selection_as_json(tasks).decode(), "s.json") == tasks


@pytest.mark.statement("E001-05")
def test_that_who_edits_the_words_of_a_draft_need_not_note_the_changes() -> None:
    draft = selected(candidate="Describe all pleural lines.")
    document = json.loads(selection_as_json([draft]))
    assert document["tasks"][0]["diff"] == []
    document["tasks"][0]["task"] = "Describe all pleural lines and their cause."
    (edited,) = selection_of_json(json.dumps(document), "s.json")
    assert edited.origin is Origin.EDITED
    assert edited.diff == ("- lines.", "+ lines", "+ and", "+ their", "+ cause.")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"diff": ["+ some"]},
            "that is different from its candidate with the changes noted.",
        ),
        ({"task": ""}, "number 1, that is without task."),
        ({"category": "x"}, "'category' in task 1 of 's.json' cannot be 'x'."),
        ({"source": "x"}, "'source' in task 1 of 's.json' cannot be 'x'."),
        ({"answerable": "x"}, "'answerable' in task 1 of 's.json' cannot be 'x'."),
        ({"rescored": 3}, "that is scored again with a sum outside 4 to 20."),
        (
            {"rescored": True},
            "'rescored' in task 1 of 's.json' must be a whole number.",
        ),
        ({"tags": {}}, "that is without all eight tags."),
    ],
)
def test_that_a_selection_that_does_not_hold_is_refused(
    change: dict[str, object], words: str
) -> None:
    document = json.loads(selection_as_json([selected()]))
    document["tasks"][0] |= change
    with pytest.raises(UnreadableInputError) as caught:
        selection_of_json(json.dumps(document), "s.json")
    assert words in caught.value.what


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "is not JSON"),
        ("[]", "has no format"),
        ('{"format": "overread rubric tasks"}', "has no list of tasks"),
        (
            '{"format": "overread rubric tasks", "tasks": [1]}',
            "Task 1 of 's.json' must be a table",
        ),
    ],
)
def test_that_what_is_no_selection_is_refused(text: str, words: str) -> None:
    with pytest.raises(UnreadableInputError, match=words):
        selection_of_json(text, "s.json")
    twice = selection_as_json([selected(), selected()]).decode()
    with pytest.raises(UnreadableInputError, match="the task 't1' of 's1' twice"):
        selection_of_json(twice, "s.json")


@pytest.mark.statement("E001-05")
def test_that_coverage_stands_beside_the_papers_shares() -> None:
    def tagged(*regions: str) -> SelectedTask:
        return selected(tags={**dict.fromkeys(TAGS, ("None",)), TAGS[0]: regions})

    tasks = (tagged("Pleura"), tagged("pleura", "Neck"), selected(tags=None))
    named = [replace(task, id=f"t{n}") for n, task in enumerate(tasks)]
    rows = evaluate(COVERAGE, selection_frames(named)).rows
    found = {region: (percent, n, share) for region, percent, n, share in rows}
    assert list(found) == [*TARGETS, "neck"]
    assert found["pleura"] == (15, 2, 2 / 3)
    assert found["neck"] == (None, 1, 1 / 3)
    assert found["airways"] == (3, 0, 0)
    assert sum(TARGETS.values()) == 99
    nothing = evaluate(COVERAGE, selection_frames([])).rows
    assert nothing[0] == ("lung parenchyma", 37, 0, None)
