"""VLMEvalKit's multiple-choice questions: a table with its images inside.

``NAME.tsv`` has a row for each question: ``index``, ``question``, options ``A``, ``B``
and so on, ``answer`` (a letter), ``image`` (base64, a list of such, or the index of the
row whose image it shares) or ``image_path``; ``category`` names the subset and
``split`` the split, else the file's name does. As in VLMEvalKit, images are unpacked
into a folder beside the table, ``NAME_images``, unless they exist already.
"""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from viewer.domain.case import Dataset, View
from viewer.domain.choice import LETTERS, letter_of
from viewer.domain.errors import UnreadableInputError
from viewer.readers.datasets.annotated import Collection
from viewer.readers.datasets.choice_rows import ChoiceRow, items_of
from viewer.readers.datasets.embedded_images import EmbeddedImages, with_notices
from viewer.readers.datasets.files import Progress
from viewer.readers.datasets.tiles import of_tiles
from viewer.readers.files.regular import regular_file
from viewer.readers.files.text_files import LONGEST_LINE, bounded_lines, header_cells

COLUMNS: Final = frozenset({"index", "question", "answer", "A", "B"})
_SUBSETS: Final = ("category", "l2-category")
_SPLITS: Final = {"dev": "val", "tiny": "test_tiny", "testtiny": "test_tiny"}
_Row = Mapping[str | None, str | None]
_CUT_OFF: Final = (
    "Its row has {there} of the table's {all} cells; the file may be cut off."
)
_OVERLONG: Final = "Its row has more cells than the table has columns."


def looks(path: Path) -> bool:
    """Tell whether a file, or the only table of a folder, is such a table."""
    return bool(_tables(path))


def read(
    root: Path, name: str, view: View | None = None, progress: Progress | None = None
) -> Dataset:
    """Read the questions of a table and unpack their images beside it.

    Parameters
    ----------
    root : Path
        The table, or a folder with one of them.
    name : str
        The name the data set is registered under.
    view : View, optional
        The view of its images; they are not radiographs.
    progress : callable, optional
        Called with the number of files read so far.

    Raises
    ------
    UnreadableInputError
        There is no such table, or no question can be asked, or images cannot be
        unpacked.
    """
    table = _table(root)
    folder = table.with_name(f"{table.stem}_images")
    embedded = EmbeddedImages(folder)
    items, notices = items_of(_rows(table, embedded))
    if not items:
        raise UnreadableInputError(
            f"{table.name} contains no usable question.",
            "Each needs a question, 2 to 26 options and an answer among them.",
        )
    keys = dict.fromkeys(key for item in items for key in item.images)
    beside = "image_path" in header_cells(table, "\t") or not folder.is_dir()
    images = table.parent if beside else folder
    collection = Collection(name, "vlmevalkit", images, view or View.OTHER)
    dataset = of_tiles(collection, keys, items, notices, progress)
    return with_notices(replace(dataset, root=table.parent), embedded.problems)


def _tables(path: Path) -> list[Path]:
    found = sorted(path.glob("*.tsv")) if path.is_dir() else [path]
    tables = (p for p in found if p.suffix == ".tsv" and p.is_file())
    return [p for p in tables if set(header_cells(p, "\t")) >= COLUMNS]


def _table(root: Path) -> Path:
    tables = _tables(root)
    if len(tables) != 1:
        raise UnreadableInputError(
            f"'{root.name}' is not a table of questions, nor a folder with one.",
            f"Name the .tsv file; it has the columns {', '.join(sorted(COLUMNS))}.",
        )
    return tables[0]


def _rows(table: Path, embedded: EmbeddedImages) -> Iterator[ChoiceRow]:
    # An image in base64 is longer than csv's own limit of 128 KiB.
    csv.field_size_limit(LONGEST_LINE)
    try:
        regular_file(table)
        with table.open(encoding="utf-8-sig", newline="") as stream:
            # strict: else an unclosed quote makes one cell of the rest of the file.
            rows = csv.DictReader(bounded_lines(stream), delimiter="\t", strict=True)
            for place, row in enumerate(rows, 1):
                yield _row(row, place, embedded.of_row(row), table)
    except csv.Error as error:
        raise UnreadableInputError(
            f"{table.name} has a quote that is never closed, or that does not close "
            "its cell.",
            "Download it again, or write it again with pandas.",
        ) from error
    except (OSError, ValueError) as error:
        raise UnreadableInputError(
            f"{table.name} cannot be read as tab-separated values.",
            "Download it again.",
        ) from error


def _row(row: _Row, place: int, images: tuple[str, ...], table: Path) -> ChoiceRow:
    options = [row.get(letter) or "" for letter in _letters(row)]
    last = max((i for i, text in enumerate(options) if text.strip()), default=-1)
    subset = next((text for name in _SUBSETS if (text := row.get(name))), table.stem)
    return ChoiceRow(
        subset=subset,
        split=_split(row.get("split") or "", table),
        number=row["index"] or "",
        place=place,
        images=images,
        question=row.get("question") or "",
        options=tuple(
            f"{letter_of(i)}) {text.strip()}" if i < len(LETTERS) else text
            for i, text in enumerate(options[: last + 1])
        ),
        answer=row.get("answer") or "",
        explanation=row.get("explanation") or "",
        problem=_problem(row),
    )


def _letters(row: _Row) -> Iterator[str]:
    """Yield the names of option columns: A to Z, then AA and so on."""
    yield from LETTERS
    if "AA" in row:
        # One more than can be lettered: such a row is refused, not shortened.
        yield "AA"


def _problem(row: _Row) -> str:
    if None in row:
        return _OVERLONG
    there = sum(cell is not None for cell in row.values())
    return "" if there == len(row) else _CUT_OFF.format(there=there, all=len(row))


def _split(written: str, table: Path) -> str:
    """Return the split in a row or the table's name, else ``test``."""
    if written:
        plain = written.strip().lower().replace("-", "_")
        return _SPLITS.get(plain.replace("_", ""), _SPLITS.get(plain, plain))
    words = table.stem.lower().replace("-", "_").split("_")
    known = ("tiny", "testtiny", "val", "dev", "train")
    word = next((word for word in known if word in words), "test")
    return _SPLITS.get(word, word)
