"""How many questions and images there are, beside the paper's numbers (E003-02)."""

from collections.abc import Iterator, Sequence
from typing import Final

from viewer.studies.pathology_mcq.questions import Mcq
from viewer.studies.pathology_mcq.scopes import ALL, OVERALL, TINY, VAL, Scope, within

QUESTIONS: Final = {
    Scope(VAL, OVERALL): 710,
    Scope(TINY, OVERALL): 1156,
    Scope(ALL, OVERALL): 9677,
    **{
        Scope(part, subset): n
        for subset, tiny, every in (
            ("PubMed", 281, 3068),
            ("SocialPath", 235, 1855),
            ("EduContent", 255, 1938),
            ("Atlas", 208, 1007),
            ("PathCLS", 177, 1809),
        )
        for part, n in ((TINY, tiny), (ALL, every))
    },
    Scope("train", OVERALL): 23_041,
}
"""Questions (Sun 2024, 3.2 and the head of Table 1)."""
IMAGES: Final = {
    Scope(VAL, OVERALL): 510,
    Scope(ALL, OVERALL): 7213,
    Scope("train", OVERALL): 16_344,
}
"""Images (Sun 2024, 3.2)."""


def size_rows(
    mcqs: Sequence[Mcq],
) -> tuple[tuple[str, ...], Iterator[tuple[object, ...]]]:
    """Return the counts of the data set, and the paper's counts."""
    header = ("part", "subset", "questions", "published", "images", "published_images")
    return header, (_size(scope, list(within(mcqs, scope))) for scope in QUESTIONS)


def _size(scope: Scope, questions: Sequence[Mcq]) -> tuple[object, ...]:
    images = {key for mcq in questions for key in mcq.images}
    named = (scope.part, scope.subset)
    return (*named, len(questions), QUESTIONS[scope], len(images), IMAGES.get(scope))
