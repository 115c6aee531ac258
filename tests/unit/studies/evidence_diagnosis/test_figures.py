from dataclasses import replace
from typing import Any

import pytest
from statsmodels.stats.proportion import proportion_confint

from tests.helpers.evidence_cases import (
    CHINESE,
    ENGLISH,
    frames_of,
    lines_of,
    random_rows,
    table_of,
)
from viewer.domain.answer import Status
from viewer.domain.evidence import Language
from viewer.domain.exchange import ModelProfile
from viewer.domain.figure import RateFigure, StackFigure
from viewer.domain.run import RunSpec
from viewer.domain.specialties import group_of
from viewer.results.evaluate import evaluate
from viewer.results.page import sections
from viewer.studies.evidence_diagnosis.cells import IN_BRACKETS
from viewer.studies.evidence_diagnosis.figures import (
    attention_figures,
    case_figures,
    class_figure,
    classes_of,
    proportion_figures,
    scatter_figures,
    score_figures,
)
from viewer.studies.evidence_diagnosis.judge_tables import SCORES_GIVEN, judge_spec
from viewer.studies.evidence_diagnosis.makers import maker_of, related_to_judge
from viewer.studies.evidence_diagnosis.params import Params, Task
from viewer.studies.evidence_diagnosis.report import DEFINITIONS
from viewer.studies.evidence_diagnosis.tables import specs

NAMED = {"one": "Claude Opus 4.5", "two": "o3", "three": "mine"}
ROWS = [replace(row, model=NAMED[row.model]) for row in random_rows(4)]
MINE = Params(model_classes="mine = Small, nonsense", judge="judge")


def profile(name: str, adapter: str, **settings: object) -> ModelProfile:
    return ModelProfile(name, adapter, settings)


def judged_by(judge: ModelProfile) -> RunSpec:
    models = (
        profile("Claude Opus 4.5", "openai_api", model="claude-opus-4-5"),
        profile("o3", "openai_api", model="o3-2025-04-16"),
        profile("mine", "scripted", answer="A"),
    )
    return RunSpec(
        "evidence_diagnosis", "d", "medsyn2026", 0, 1, models, helpers=(judge,)
    )


@pytest.mark.statement("E004-25")
def test_that_figures_of_the_cases_count_each_case() -> None:
    figures = {f.head.name: f for f in case_figures([ENGLISH, ENGLISH, CHINESE])}
    types = figures["fig_03a"]
    assert isinstance(types, StackFigure)
    assert types.segments == ("en", "zh")
    by_type = {stack.group: stack.counts for stack in types.stacks}
    assert by_type == {
        "Laboratory": (2.0, 1.0),
        "CT": (2.0, 0.0),
        "X-ray": (0.0, 1.0),
        "Microscopy": (2.0, 0.0),
    }
    per_case = figures["fig_03b"]
    assert isinstance(per_case, StackFigure)
    assert {s.group: s.counts for s in per_case.stacks} == {
        "1": (0.0, 0.0),
        "2": (0.0, 1.0),
        "3": (2.0, 0.0),
    }
    groups = figures["fig_09b"]
    assert isinstance(groups, StackFigure)
    assert sum(sum(stack.counts) for stack in groups.stacks) == 3


@pytest.mark.statement("E004-12", "E004-25")
def test_that_figure_four_is_the_mean_over_each_classs_models() -> None:
    figure = class_figure(lines_of("table_11", ROWS), MINE)
    assert isinstance(figure, RateFigure)
    (panel,) = figure.panels
    assert [series.name for series in panel.series] == ["Proprietary", "Small"]
    group = panel.groups[0]
    rates = []
    for model in ("Claude Opus 4.5", "o3"):
        of = [
            row
            for row in ROWS
            if (row.model, group_of(row.case.specialty), row.task)
            == (model, group, Task.FDX)
            and row.showing.name == "raw"
            and row.case.language is Language.ENGLISH
            and row.status not in {Status.EXCLUDED, Status.PENDING}
        ]
        rates.append(sum(row.status is Status.SCORED_CORRECT for row in of) / len(of))
    assert panel.series[0].values[0] == pytest.approx(sum(rates) / 2, abs=1e-12)
    assert class_figure([], MINE) is None
    unknown = [replace(row, model="mine") for row in ROWS]
    assert class_figure(lines_of("table_11", unknown), Params()) is None
    assert classes_of(["mine", "o3"], MINE) == {
        "Small": ("mine",),
        "Proprietary": ("o3",),
    }


@pytest.mark.statement("E004-25")
def test_that_figures_ten_and_eleven_count_the_judges_scores() -> None:
    first, second = score_figures(lines_of(SCORES_GIVEN, ROWS))
    assert (first.head.name, second.head.name) == ("fig_10", "fig_11")
    assert isinstance(first, StackFigure)
    assert first.share
    stack = next(s for s in first.stacks if (s.group, s.name) == ("English", "o3"))
    scores = [
        row.judge
        for row in ROWS
        if (row.model, row.task, row.showing.name) == ("o3", Task.DDX, "raw")
        and row.case.language is Language.ENGLISH
    ]
    for segment, count in zip(first.segments, stack.counts, strict=True):
        assert count == scores.count(float(segment.removeprefix("grade_")))
    unjudged = [replace(row, judge=None) for row in ROWS]
    assert list(score_figures(lines_of(SCORES_GIVEN, unjudged))) == []


@pytest.mark.statement("E004-19", "E004-25")
def test_that_figures_fourteen_and_fifteen_tell_the_proportions() -> None:
    def compared(model: str, evidence: str, *counts: int) -> dict[str, Any]:
        of = dict(zip(("image_above", "image_below", "tied"), counts, strict=True))
        return {"model": model, "evidence": evidence, **of, "cases": sum(counts)}

    plain: list[dict[str, Any]] = [
        compared("m", "Microscopy", 1, 7, 2),
        compared("m", "CT", 4, 4, 0),
        compared("k", "Microscopy", 0, 1, 0),
        {"model": "m", "evidence": "Average", "cases": None},
    ]
    refined = [compared("m", "Microscopy", 3, 6, 1), compared("m", "CT", 1, 1, 1)]
    fourteen, fifteen = proportion_figures(plain, refined)
    assert isinstance(fourteen, StackFigure)
    assert [(s.group, s.name, s.counts) for s in fourteen.stacks] == [
        ("Microscopy", "m", (1.0, 7.0, 2.0)),
        ("Microscopy", "k", (0.0, 1.0, 0.0)),
        ("CT", "m", (4.0, 4.0, 0.0)),
    ]
    assert isinstance(fifteen, StackFigure)
    assert [(s.name, s.counts) for s in fifteen.stacks] == [
        ("baseline", (1.0, 7.0, 2.0)),
        ("refined", (3.0, 6.0, 1.0)),
    ]
    assert list(proportion_figures([], [])) == []


@pytest.mark.statement("E004-21")
def test_that_models_of_the_judges_maker_are_marked() -> None:
    judge = profile("judge", "openai_api", model="gpt-5", server="openai")
    spec, related = judge_spec(judge), related_to_judge(judged_by(judge), MINE)
    (told,) = sections([spec], [evaluate(spec, frames_of(ROWS, MINE, related=related))])
    assert told.title == "Mean scores by the judge"
    assert "The judge is judge (openai_api, model gpt-5, server openai)." in told.text
    assert "made by OpenAI" in told.text
    marks = {row[0]: row[-1] for row in told.table.rows}
    assert marks == {"Claude Opus 4.5": "no", "o3": "yes", "mine": "no"}
    assert maker_of(profile("m", "gguf_local", model="Qwen3-VL-8B.gguf")) == "Alibaba"


@pytest.mark.parametrize("name", ["judge", "gpt-5"])
def test_that_of_a_scripted_judge_no_maker_is_guessed(name: str) -> None:
    judge = profile(name, "scripted", answer="Score: 5")
    spec = judge_spec(judge)
    (told,) = sections([spec], [evaluate(spec, frames_of(ROWS, MINE))])
    assert told.text == f"The judge is {name} (scripted). {IN_BRACKETS}"
    assert "OpenAI" not in str(told)
    assert related_to_judge(judged_by(judge), MINE) == frozenset()


def test_that_the_page_prints_per_cent_with_the_cases_counted() -> None:
    table = table_of("table_02", frames_of(ROWS))
    (first,) = sections(specs(MINE, ()), [table])
    assert first.table is not None
    assert first.table.header[:5] == ("Model", "DDx %", "FDx %", "Rank", "Gap, pp")
    assert first.groups[:2] == (("", 1), ("English", 4))
    found = table.records()[0]
    k, n = found["ddx_en_k"], found["ddx_en_n"]
    low, high = (100 * end for end in proportion_confint(k, n, method="beta"))
    within = f"[{low:.2f}, {high:.2f}]"
    assert first.table.rows[0][1] == f"{100 * k / n:.2f} ({k} / {n}) {within}"
    assert DEFINITIONS["nmse"].endswith("not symmetric")


@pytest.mark.statement("E004-16")
def test_that_attention_is_averaged_over_cases_by_layer() -> None:
    rows = [
        replace(ROWS[0], rapt=(("image", 0, value), ("text", 0, 1.0)))
        for value in (0.5, 1.5)
    ]
    table = table_of("rapt", frames_of(rows))
    assert table.rows[0][2:] == ("image", 0, 1.0, 2)


@pytest.mark.statement("E004-16", "E004-25")
def test_that_figure_twelve_has_a_line_for_images_and_one_for_text() -> None:
    rows = [
        replace(ROWS[0], rapt=(("image", 0, v), ("image", 1, 2.0), ("text", 0, 1.0)))
        for v in (0.5, 1.5)
    ]
    (figure,) = attention_figures(lines_of("rapt", [*rows, ROWS[1]]))
    (panel,) = figure.panels
    assert panel.title == "raw images"
    image, text = panel.series
    assert (image.x, image.y) == ((0.0, 1.0), (1.0, 2.0))
    assert (text.name, text.y) == ("text", (1.0,))
    assert list(attention_figures(lines_of("rapt", ROWS))) == []


@pytest.mark.statement("E004-19", "E004-25")
def test_that_figure_thirteen_has_a_point_for_each_case() -> None:
    points = ((0.5, 0.1), (0.1, 0.4), (0.2, 0.2), (None, 0.2))
    (figure,) = scatter_figures(
        [
            {"model": "m", "evidence": "CT", "image_corrected": x, "text_corrected": y}
            for x, y in points
        ]
    )
    assert figure.identity
    above, below, alike = figure.panels[0].series
    assert (above.name, above.x, above.y) == ("image above text", (0.1,), (0.5,))
    assert (below.x, below.y) == ((0.4,), (0.1,))
    assert (alike.name, alike.x) == ("alike", (0.2,))
