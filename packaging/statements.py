"""Print which test proves each statement of the five studies, and its result.

Tests name their statements with ``pytest.mark.statement("E000-07")``. Exits with 1 if a
statement has no test and waits for nothing, a named one is unknown, or a test did not
pass.

    python packaging/statements.py            run the tests, proofs left out
    python packaging/statements.py --proof    run the proofs as well
    python packaging/statements.py --list     run nothing, list the tests only

Other arguments are pytest's, such as ``-n 2``.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pytest

GRID_LOCALIZATION: Mapping[str, str] = {
    "E000-01": "CheXlocalize's masks, polygons and points are read; RLE as pycocotools",
    "E000-02": "image id, patient and view from the path; Airspace is Lung Opacity",
    "E000-03": "nine findings; Support Devices excluded; names in the prompt",
    "E000-04": "counts beside the expected ones, labels and masks apart",
    "E000-05": "known defects by name; a label without a mask is excluded(no_gt)",
    "E000-06": "images by finding and view of any split",
    "E000-07": "centre crop, resize to 256; the transform kept; other ways as options",
    "E000-08": "the part of the mask outside the crop, per item; wholly outside",
    "E000-09": "grids of any size, labels, styles; same bytes every time",
    "E000-10": "labels that cannot be read are warned of",
    "E000-11": "examples from a validation split, patients disjoint",
    "E000-12": "one fresh conversation for each image and finding",
    "E000-13": "the prompt word for word",
    "E000-14": "the three models as the paper asked them; replicates",
    "E000-15": "what model answered; a change within a run is warned of",
    "E000-16": "hit from half a cell on, inclusive; fallback and its rate",
    "E000-17": "paper and exact masks; how many verdicts differ",
    "E000-18": "the rule is not monotone, and says so",
    "E000-19": "random baseline, exact",
    "E000-20": "bootstrap of items as the paper, of patients as recommended; Wilson",
    "E000-21": "macro mean over findings; micro beside it",
    "E000-22": "unparsed and refused are misses, in columns of their own",
    "E000-23": "human and CNN rows; human points recomputed where they are there",
    "E000-24": "error classes; frontal only; fallback hits marked",
    "E000-25": "capped review: seeded sample, estimate, exact interval",
    "E000-26": "review blinded to model and reference; undo, second reader, log",
    "E000-27": "Figure 3: error categories, stacked",
    "E000-28": "every figure, exported",
    "E000-29": "what was run on the test split is counted and printed",
    "E000-30": "the CNN comparator: Grad-CAM's most salient point",
    "E000-31": "the paper's claims, checked on a run that has the models",
    "E000-32": "absent findings: capitulation beside the hit rate",
}
RUBRIC_READING: Mapping[str, str] = {
    "E001-01": "study of images with views, prior, indication and findings",
    "E001-02": "five candidate tasks in three categories, from indication or findings",
    "E001-03": "Likert scores and Conclusion parsed; sums recomputed, never trusted",
    "E001-04": "eight tag dimensions, always all; Multiple above four values",
    "E001-05": "candidates by score, edits kept as diffs, coverage, age of the prior",
    "E001-06": "histogram of quality scores; breakdown of tags",
    "E001-07": "all views, or one PA else AP; both only for a temporal task; recorded",
    "E001-08": "prompts equal but for the box instruction; the difference shown",
    "E001-09": "text, any number of images and boxes; token limit as a status",
    "E001-10": "six dimensions with the paper's headings and our anchor sentences",
    "E001-11": "Content is the minimum, computed and never entered",
    "E001-12": "two readers averaged; both orders of minimum and average",
    "E001-13": "shares of 5 and below 3 on final scores; 5 is exactly 5.0",
    "E001-14": "paired Wilcoxon on common items, Benjamini-Hochberg over the five",
    "E001-15": "mean and SD with n - 1",
    "E001-16": "QWK with fixed labels, MAD, cluster bootstrap, AC2, per category",
    "E001-17": "figures 3, 4 and 5",
    "E001-18": "blinded readers, random order, comments, timing, autosave",
    "E001-19": "unanswerable and trick tasks; appropriate abstention",
    "E001-20": "MIMIC-CXR-JPG: metadata, report sections, priors by date, sampling",
    "E001-21": "presets of the proposer and of both models",
    "E001-22": "the paper's own examples and its box sentence",
    "E001-23": "failure codes",
    "E001-24": "figure 2 as help; Style high by Content low",
}
GROUNDED_VQA: Mapping[str, str] = {
    "E002-01": "disease boxes and masks of a list of anatomies that can be edited",
    "E002-02": "a disease is in an anatomy from a threshold on; its whole curve",
    "E002-03": "closed and open questions by template, seeded",
    "E002-04": "published rows imported; run-length order checked, never guessed",
    "E002-05": "temperature 0.1, one beam",
    "E002-06": "yes/no and labels read deterministically; model extractor optional",
    "E002-07": "micro precision, recall, F1, with and without no finding",
    "E002-08": "columns of data set, question kind and metric",
    "E002-09": "TPT: anatomy or disease replaced by what co-occurs and is absent here",
    "E002-10": "VPT: healthy region of a donor pasted, every composite kept",
    "E002-11": "sham controls; flip less sham flip with a paired interval",
    "E002-12": "common true positives of the models compared",
    "E002-13": "ablation, efficiency and weight-sweep tables",
    "E002-14": "LobA: localize, then added attention weight and contrastive decoding",
    "E002-15": "crop or contour for API models, labelled as an approximation",
    "E002-16": "first pass against reference; answers of each pass side by side",
    "E002-17": "relevance of text tokens; attention mass inside the mask",
    "E002-18": "where masks come from; both spellings of the segment token",
    "E002-19": "the gain of 5.44 % is relative",
}
PATHOLOGY_MCQ: Mapping[str, str] = {
    "E003-01": "data.json and TSV read; no item twice; answers by index and text",
    "E003-02": "counts beside the expected ones; overall is micro",
    "E003-03": "two to ten options; random and frequent-choice baselines",
    "E003-04": "prompts per family; text only",
    "E003-05": "typed parser, official-compatible parser, their difference",
    "E003-06": "eight corruptions at five levels, byte-deterministic",
    "E003-07": "images replaced by noise",
    "E003-08": "guess audit over several models",
    "E003-09": "questions deranged within a subset, options kept",
    "E003-10": "next-sentence baseline",
    "E003-11": "two groups of experts; their mean",
    "E003-12": "validity of items by four criteria; explanations afterwards",
    "E003-13": "rows for reference only; several images to an item",
    "E003-14": "tables 1 to 4",
    "E003-15": "builder: description, three questions, guess filter",
    "E003-16": "builder from folders of labelled tiles",
    "E003-17": "figure 5: experts against guessing models, mismatched questions",
    "E003-18": "validation by seven pathologists; sizes of the splits",
    "E003-19": "colour and quality corruptions apart",
}
EVIDENCE_DIAGNOSIS: Mapping[str, str] = {
    "E004-01": "case with text, typed visual evidence, language, specialty, options",
    "E004-02": "an evidence is images or its text, never both",
    "E004-03": "extraction with a verbatim check, summaries, distractors",
    "E004-04": "validation of cases by readers; a fifth validated again",
    "E004-05": "anonymisation checklist",
    "E004-06": "differential judged 5, 4, 3, 2 or 0; coverage, mean, first match",
    "E004-07": "final diagnosis: seeded option order, position bias",
    "E004-08": "open final diagnosis judged",
    "E004-09": "judge read strictly, asked once more, never dropped; calibrated",
    "E004-10": "competition ranks without the physicians",
    "E004-11": "overall is pooled; printed rows checked",
    "E004-12": "gap of differential and final; specialties, groups, classes",
    "E004-13": "raw images against expert findings, paired",
    "E004-14": "text removed; text replaced by random tokens of the same number",
    "E004-15": "refined prompt",
    "E004-16": "RAPT per layer; its weighted sum is 1",
    "E004-17": "Evidence Sensitivity with five declared posterior estimators",
    "E004-18": "both modality contexts",
    "E004-19": "scatter per evidence type, proportions, NMSE",
    "E004-20": "reader study with a differential locked before the options",
    "E004-21": "judge's family declared",
    "E004-22": "prompts that the paper does not print are ours, versioned",
    "E004-23": "distractors reviewed; cases excluded with a reason",
    "E004-24": "evidence types by colour; profile of readers; mean or consensus",
    "E004-25": "figures 3, 4 and 9 to 15",
    "E004-26": "one's own cases, a folder with a case.json each",
}
SHARED: Mapping[str, str] = {
    "X-01": "statuses add up to the plan; whatever is no hit is a miss",
    "X-02": "paper-mode and recommended numbers share no column",
    "X-03": "any answer under any rule",
    "X-04": "gain over the prior-only rate, exact",
    "X-05": "published rows with their badge, edited by no run",
    "X-06": "full precision kept; rounded as printed; what matches the paper",
    "X-07": "intervals by patient, repeats once, none without width",
    "X-08": "models, chance and people on the same items, n printed",
    "X-09": "adversaries come out at 0 in every control score",
}
STATEMENTS: Mapping[str, str] = {
    **GRID_LOCALIZATION,
    **RUBRIC_READING,
    **GROUNDED_VQA,
    **PATHOLOGY_MCQ,
    **EVIDENCE_DIAGNOSIS,
    **SHARED,
}
"""Every statement of the five papers and of all studies, in a few words."""
WAITING: Mapping[str, str] = {
    "E001-18": "comments are imported; blinding, order, timing wait for the screens",
}
"""Why a statement without a test waits for a screen."""


@dataclass
class Book:
    """A pytest plugin that notes each marked test, and how it ended."""

    runs: bool = False
    named: dict[str, list[str]] = field(default_factory=dict)
    results: dict[str, str] = field(default_factory=dict)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Note which test names which statement."""
        for item in items:
            for mark in item.iter_markers("statement"):
                for statement in mark.args:
                    tests = self.named.setdefault(str(statement), [])
                    if item.nodeid not in tests:
                        tests.append(item.nodeid)
        if not self.runs:
            items.clear()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note how a test ended; what failed at its end failed."""
        if report.when == "call" or report.outcome != "passed":
            self.results[report.nodeid] = report.outcome


@dataclass(frozen=True)
class Line:
    """A line of the table: the cases of one test function together."""

    statement: str
    test: str
    result: str


def lines(book: Book) -> Iterator[Line]:
    """Yield a line for every test of every statement, "no test" where none is."""
    for statement in [*STATEMENTS, *sorted(set(book.named) - set(STATEMENTS))]:
        functions: dict[str, list[str]] = {}
        for test in book.named.get(statement, []):
            functions.setdefault(test.split("[", 1)[0], []).append(test)
        if not functions:
            why = WAITING.get(statement)
            yield Line(statement, "-", f"waits: {why}" if why else "no test")
        for name, tests in functions.items():
            outcomes = [book.results.get(test, "not run") for test in tests]
            yield Line(statement, name, _together(outcomes))


def _together(outcomes: Sequence[str]) -> str:
    counts = {o: outcomes.count(o) for o in dict.fromkeys(outcomes)}
    if len(outcomes) == 1:
        return outcomes[0]
    return ", ".join(f"{outcome} {n}" for outcome, n in counts.items())


def problems(found: Iterable[Line], *, only_list: bool) -> Iterator[str]:
    """Yield a sentence for each statement that is not proved."""
    by_statement: dict[str, list[Line]] = {}
    for line in found:
        by_statement.setdefault(line.statement, []).append(line)
    for statement, of_it in by_statement.items():
        if statement not in STATEMENTS:
            yield f"{statement} is no statement."
        elif of_it[0].result == "no test":
            yield f"{statement} has no test: {STATEMENTS[statement]}."
        elif not only_list and of_it[0].test != "-":
            yield from _unproved(statement, of_it)


def _unproved(statement: str, of_it: Sequence[Line]) -> Iterator[str]:
    failed = [line.test for line in of_it if "failed" in line.result]
    if failed:
        yield f"{statement} fails: {', '.join(failed)}."
    elif not any("passed" in line.result for line in of_it):
        yield f"{statement} was proved by no test that ran."


def printed(found: Iterable[Line]) -> Iterator[str]:
    """Yield the table's rows as Markdown; what a statement says stands once."""
    yield "| Statement | Test | Result |"
    yield "| --- | --- | --- |"
    before = ""
    for line in found:
        if line.statement != before:
            yield f"| **{line.statement}** | *{STATEMENTS.get(line.statement)}* | |"
        before = line.statement
        file, _, name = line.test.removeprefix("tests/").rpartition("::")
        sentence = name.removeprefix("test_that_").replace("_", " ")
        yield f"| {line.statement} | {file}: {sentence} | {line.result} |"


def main(arguments: Sequence[str]) -> int:
    """Run the marked tests, print the table and return the exit code."""
    only_list, proof = "--list" in arguments, "--proof" in arguments
    book = Book()
    chosen = "statement" if proof or only_list else "statement and not proof"
    options = ["-q", "-m", chosen, "-o", "qt_log_level_fail=WARNING"]
    quiet = ["-o", "qt_log_ignore=This plugin does not support", "--no-header"]
    code = pytest.main([*options, *quiet], plugins=[book])  # collects, runs nothing
    if not only_list:
        book.runs = True
        rest = [a for a in arguments if a != "--proof"]
        code = pytest.main([*options, *quiet, *rest], plugins=[book])
    found = tuple(lines(book))
    wrong = list(problems(found, only_list=only_list))
    sys.stdout.write("\n".join(["", *printed(found), "", *wrong, ""]))
    proved = len(STATEMENTS) - len({w.split()[0] for w in wrong})
    word = "have a test" if only_list else "are proved"
    sys.stdout.write(f"{proved} of {len(STATEMENTS)} statements {word}\n")
    fine = {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}
    return 1 if wrong or code not in fine else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
