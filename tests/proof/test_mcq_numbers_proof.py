"""Every number of the pathology questions against brute force, 10,000 times."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest

from tests.helpers.official_script import official_run
from tests.unit.studies.pathology_mcq.small import item, result
from tests.unit.studies.pathology_mcq.test_baselines import told
from tests.unit.studies.pathology_mcq.test_experts import scored
from tests.unit.studies.pathology_mcq.test_official import samples
from viewer.domain.answer import Status
from viewer.domain.choice import ExpertChoice, letter_of
from viewer.results.evaluate import evaluate
from viewer.studies.pathology_mcq.baselines import random_rate
from viewer.studies.pathology_mcq.frames import ANSWERS, answer_frame
from viewer.studies.pathology_mcq.guessing import audit
from viewer.studies.pathology_mcq.params import FrequentFrom, Pooling, read_params
from viewer.studies.pathology_mcq.questions import Mcq, mcq_of
from viewer.studies.pathology_mcq.scopes import OVERALL
from viewer.studies.pathology_mcq.tables import accuracy_paper

pytestmark = pytest.mark.proof
CASES = 10_000
RATES = accuracy_paper(read_params("pathmmu2024", {}), ())
STATUSES = (*[Status.SCORED_CORRECT] * 4, *[Status.SCORED_WRONG] * 3, *Status)


def some(chance: Random) -> list[Mcq]:
    """Return up to twelve questions of two subsets and three splits."""
    return [_one(chance, number) for number in range(chance.randint(1, 12))]


def _one(chance: Random, number: int) -> Mcq:
    split = chance.choice(("val", "test_tiny", "test"))
    key, options = f"{chance.choice('PQ')}-{split}-{number}", chance.randint(2, 10)
    return mcq_of(item(key, chance.randrange(options), options))


@pytest.mark.statement("E003-03")
def test_that_both_baselines_are_what_counting_by_hand_gives() -> None:
    chance = Random(1)
    for _ in range(CASES):
        mcqs, validation = some(chance), some(chance)
        tests = [replace(m, split="test") for m in mcqs]
        others = [replace(m, split="val", key=f"{m.key}v") for m in validation]
        parts = [Fraction(1, len(m.options)) for m in mcqs]
        exact = sum(parts, Fraction(0)) / len(mcqs)
        assert abs((random_rate(mcqs) or 0) - float(exact)) <= 1e-15
        for source, known in (
            (FrequentFrom.VAL, validation),
            (FrequentFrom.SAME_SPLIT, mcqs),
        ):
            counts = Counter(m.correct for m in known)
            letter = min(o for o in counts if counts[o] == max(counts.values()))
            _, rate, found = told(tests, others, source)
            assert found == letter_of(letter)
            assert rate == sum(m.correct == letter for m in mcqs) / len(mcqs)


@pytest.mark.statement("E003-02", "E003-18")
def test_that_every_accuracy_is_what_counting_by_hand_gives() -> None:
    chance = Random(2)
    for _ in range(CASES):
        mcqs = some(chance)
        kept = [item(m.key, m.correct, len(m.options)) for m in mcqs]
        results = [result(one, chance.choice(STATUSES)) for one in kept]
        rates = {
            (row[2], row[3]): dict(zip(RATES.header, row, strict=True))
            for row in evaluate(RATES, {ANSWERS: answer_frame(results, mcqs)}).rows
        }
        for part, splits in (("val", {"val"}), ("all", {"test", "test_tiny"})):
            for subset in (OVERALL, "P", "Q"):
                own = [
                    r.score.status
                    for r in results
                    if r.view in splits and subset in {OVERALL, r.finding}
                ]
                n = sum(s not in {Status.EXCLUDED, Status.PENDING} for s in own)
                rate = rates.get((part, subset))
                assert (rate is None) == (not own)
                if rate is not None:
                    k = own.count(Status.SCORED_CORRECT)
                    assert (rate["k"], rate["n"]) == (k, n)
                    assert rate["accuracy"] == (k / n if n else None)


@pytest.mark.statement("E003-08", "E003-11")
def test_that_experts_and_guesses_are_what_counting_by_hand_gives() -> None:
    chance = Random(3)
    for _ in range(CASES):
        mcqs = [mcq_of(item(f"P-test_tiny-{i}", chance.randrange(4))) for i in range(5)]
        choices = [
            ExpertChoice(group, reader, m.key, chance.randrange(4))
            for group, reader in (("I", "a"), ("I", "b"), ("II", "c"), ("II", "d"))
            for m in mcqs
            if chance.random() < 0.8
        ]
        truth = {m.key: m.correct for m in mcqs}
        means = []
        for group in sorted({c.group for c in choices}):
            own = [c for c in choices if c.group == group]
            readers = [
                [c.option == truth[c.item] for c in own if c.reader == reader]
                for reader in sorted({c.reader for c in own})
            ]
            rates = [Fraction(sum(r), len(r)) for r in readers]
            means.append(sum(rates, Fraction(0)) / len(rates))
        rows = scored(choices, mcqs, Pooling.AVERAGE)
        score = rows.get(("tiny", OVERALL, "mean"), (None,))[0]
        wanted = sum(means, Fraction(0)) / len(means) if means else None
        assert (score is None) == (wanted is None)
        assert wanted is None or abs(Fraction(str(score or 0)) - wanted) <= Fraction(
            1, 10**14
        )
        _check_guesses(chance)


def _check_guesses(chance: Random) -> None:
    one, threshold = item("P-test-1"), chance.randint(1, 4)
    right = [chance.random() < 0.5 for _ in range(4)]
    results = [
        result(
            one,
            Status.SCORED_CORRECT if ok else Status.UNPARSED,
            "text_only",
            f"m{i}",
        )
        for i, ok in enumerate(right)
    ]
    found = audit(results, threshold)
    assert bool(found.guessable) == (sum(right) >= threshold)
    assert found.items[0].by == tuple(f"m{i}" for i, ok in enumerate(right) if ok)


@pytest.mark.statement("E003-05")
def test_that_the_officials_count_adds_up_over_every_kind_of_reply() -> None:
    found = official_run(tuple(samples(CASES)))
    assert found.n + sum(bool(r.dropped) for r in found.readings) == CASES
    assert found.k == sum(r.correct for r in found.readings if not r.dropped)
    assert {r.dropped for r in found.readings} == {"", "no_reply", "options_or_answer"}
    assert 0 < found.at_random < found.n
