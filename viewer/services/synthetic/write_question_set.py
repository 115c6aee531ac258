"""A generated benchmark on disk: questions.csv, and the TOML file that describes it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from viewer.services.synthetic.phantom.chest_questions import ChestQuestion
from viewer.writers.files import write_atomically
from viewer.writers.tables import csv_bytes

TABLE, DESCRIPTION = "questions.csv", "question_set.toml"
_OPTIONS: Final = ("A", "B", "C", "D")
_TOML: Final = """\
# What the columns of questions.csv mean: overread import question-set FOLDER
[data]
table = "questions.csv"

[columns]
item = "id"
patient = "patient"
image = "image"
question = "question"
options = ["A", "B", "C", "D"]
answer = "answer"
kind = "kind"

[answer]
kind = "choice"

[prompts]
choice = \"\"\"
This is a frontal chest radiograph.
{question}

{options}
Answer with the letter of one option.\"\"\"

[report]
groups = ["topic", "finding", "sex"]
metrics = ["accuracy"]
"""


@dataclass(frozen=True)
class AskedChest:
    """A radiograph's file and patient, and the questions about it."""

    key: str
    sex: str
    questions: tuple[ChestQuestion, ...]


def write_question_set(root: Path, chests: Sequence[AskedChest], n: int) -> None:
    """Write the table of the first ``n`` questions about radiographs, and its TOML."""
    asked = [(chest, one) for chest in chests for one in chest.questions][:n]
    rows = [
        (
            *(f"q{number:04d}", chest.key, f"images/{chest.key}.png"),
            *(one.topic, one.finding, chest.sex),
            *("choice" if one.options else "yes_no", one.text),
            *(one.options or ("",) * len(_OPTIONS)),
            one.answer,
        )
        for number, (chest, one) in enumerate(asked, 1)
    ]
    header = (
        *("id", "patient", "image", "topic", "finding", "sex", "kind", "question"),
        *(*_OPTIONS, "answer"),
    )
    write_atomically(root / TABLE, csv_bytes(header, rows))
    write_atomically(root / DESCRIPTION, _TOML.encode())
