"""The wording of a question, as the authors use it for each model family (E003-04)."""

import re
from collections.abc import Sequence

from viewer.domain.choice import letter_of
from viewer.studies.pathology_mcq.params import Family, LineBreaks
from viewer.studies.pathology_mcq.templates import PROMPTS, TEXT_ONLY
from viewer.studies.prompts import BUILT_IN, OwnPrompts, fill


def question_text(
    question: str,
    options: Sequence[str],
    template: str,
) -> str:
    """Return a template with its question and its options filled in.

    Options are written ``(A) text``, each with a line break after it.
    """
    listed = "".join(f"({letter_of(i)}) {text}\n" for i, text in enumerate(options))
    return fill(template, {"question": question, "options": listed})


def template(
    family: Family,
    breaks: LineBreaks,
    prompts: OwnPrompts = BUILT_IN,
    *,
    image: bool = True,
) -> str:
    """Return a family's template with its placeholders {question} and {options}.

    Without an image, a sentence before them says so and asks for an educated guess (Sun
    2024, 4.1, which does not print its words). A custom text is not from a YAML file,
    and its line breaks stay.
    """
    text = PROMPTS.text(family, prompts)
    if breaks is LineBreaks.FOLDED and family not in prompts:
        text = folded(text)
    return text if image else f"{PROMPTS.text(TEXT_ONLY, prompts)}\n\n{text}"


def folded(text: str) -> str:
    """Return quoted text of several lines as YAML 1.1 reads it (4.1.4, line folding).

    A single line break becomes a blank, a run of them one break fewer; blanks around a
    break are not part of the text.
    """
    return re.sub(r"[ \t]*\n((?:[ \t]*\n)*)[ \t]*", _fold, text)


def _fold(breaks: re.Match[str]) -> str:
    return "\n" * breaks[1].count("\n") or " "
