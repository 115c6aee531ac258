"""The specifications of this program's own studies, to detect forged ones.

The bundle's specifications are hashed like all it holds, but whoever forges a bundle
hashes anew. So the fingerprint of every specification of a built-in study stands here:
the hash of what tells its numbers, without the words of its page. What depends on the
run is first compared with the plan and the trials and then left out: seed and
replicates, thresholds, the models and the named numbers. A table that lacks its
specification, a specification that departs, and one that should be there and is not are
each told.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from viewer.writers.verify.archive import sha256_of_json
from viewer.writers.verify.control_frames import has_controls
from viewer.writers.verify.fingerprints import FINGERPRINTS
from viewer.writers.verify.frames import Source, number_names, variant_of
from viewer.writers.verify.specs import Document

BEYOND = frozenset(
    {
        *("questions", "threshold_curve_iou", "threshold_curve_ioa"),
        *("reviews", "sizes", "cases", "published", "prompts", "rubric", "inputs"),
        *("selection", "regions", "tags", "cards", "held", "defects", "claims"),
        *("versions", "examples", "mask_origins"),
    }
)
"""Frames of a data set, of a paper or of words, which no bundle holds."""
_OF_DATA = "held"
"""The frame of what a data set holds, whose findings and views are its own."""
_UNSPECIFIED = frozenset({"published"})
"""Tables of built-in studies without a specification."""
_OF_PAGES = frozenset({"title", "text", "shown", "printed", "ranking", "most"})
"""What tells a page how a table looks, and no number."""
_IN_BOTH = ("items", "results")
_PREPARED = ("preparation", "invented")
_OF_CONTROLS = (
    *("image_dependence", "needs_image", "image_dependence_scores"),
    "answered_under_control",
)
_ALWAYS_CONTROLLED = ("question_set", "pathology_mcq")
"""Studies whose own conditions are the controls."""
_DIGITS = 20


def spec_departures(
    source: Source, specs: Sequence[Document], tables: Sequence[str]
) -> Iterator[str]:
    """Yield a sentence for each difference from this program's specifications."""
    known, names = known_to(source.plan["study"]), [spec["name"] for spec in specs]
    for spec in specs:
        name = spec["name"]
        if fingerprint(spec, source) not in known.get(name, ()):
            yield f"specs.json: {name} is not specified as this program does it."
        if names.count(name) > 1:
            yield f"specs.json: {name} is specified {names.count(name)} times."
    for name in sorted({*tables} - {*names} - _UNSPECIFIED):
        what = (
            "has no specification" if name in known else "is not a table of the study"
        )
        yield f"tables/{name}.csv {what}."
    for name in known:
        if name not in {*names, *tables} and is_due(name, source):
            yield f"specs.json: {name} is missing."


def known_to(study: str) -> dict[str, list[str]]:
    """Return the valid fingerprints of each table of a built-in study."""
    lines = FINGERPRINTS.get(study, "").split("\n")
    named = (line.split() for line in lines if line.strip())
    return {name: hashes for name, *hashes in named}


def fingerprint(spec: Document, source: Source) -> str:
    """Return the hash of the parts of a specification that determine its numbers."""
    own = {name: value for name, value in spec.items() if name not in _OF_PAGES}
    trials = source.every if spec["name"] == "items" else source.verdicts
    numbers, of_run = number_names(trials), list[str]()
    if spec["name"] == "items":
        fixed = len(spec["columns"]) - len(numbers)
        if spec["columns"][fixed:] == numbers:
            own["columns"] = spec["columns"][:fixed]
            of_run.append("numbers")
    if "cells" in own:
        if spec["frame"] == _OF_DATA:
            own["keys"] = [{**key, "values": None} for key in own["keys"]]
        own["keys"] = [_without_run(key, source, of_run) for key in own["keys"]]
        cells = [_of_any_run(cell, source, of_run) for cell in own["cells"]]
        means = [cell for cell in cells if cell["names"][0].startswith("mean_")]
        is_results = spec["name"] == "results" and _of(means) == numbers
        own["cells"] = [one for one in cells if not is_results or one not in means]
        if own["where"].get("order") == [source.params.get("content_order")]:
            own["where"] = {**own["where"], "order": None}
            of_run.append("content_order")
    return sha256_of_json([own, of_run])[:_DIGITS]


def _of(means: Sequence[Document]) -> list[str]:
    """Return the columns of means that are made as means are."""
    plain = {"where": {}, "against": {}, "options": {}, "frame": "", "blank": ""}
    return [
        mean["of"][0]
        for mean in means
        if {**mean, **plain, "total": ""} == mean
        and (mean["estimator"], mean["names"]) == ("mean", [f"mean_{mean['of'][0]}"])
    ]


def _without_run(key: Document, source: Source, of_run: list[str]) -> Document:
    """Return a key without values that depend on the run; record which they were."""
    asked, values = {one.finding for one in source.verdicts}, key["values"]
    column = key["column"]
    is_models = column == "model" and values == source.plan["models"]
    is_run_s = is_models or values == source.asked.get(column)
    if is_run_s or (column == "subset" and values and asked <= {*values}):
        of_run.append(column)
        return {**key, "values": None}
    return key


def _of_any_run(cell: Document, source: Source, of_run: list[str]) -> dict[str, Any]:
    """Return a cell without options equal to the plan's; record which."""
    params, options = source.params, dict(cell["options"])
    of_items = cell["estimator"] == "sd over items"
    known = {
        "fewer_than": params.get("small_cases"),
        "replicates": params.get("paper_replicates" if of_items else "replicates"),
        "zero_method": params.get("zero_method"),
        "p_method": params.get("p_method"),
        "seed": source.plan["seed"],
        "answer": options.get("answer"),  # the validation split need not be asked
    }
    for name, value in known.items():
        if name in options and options[name] == value:
            options[name] = None
            of_run.append(name)
    return {**cell, "options": options}


def is_due(name: str, source: Source) -> bool:
    """Tell whether a run of a built-in study must have a table of this name."""
    if name == "prompt_variants":
        return any(variant_of(one.condition) for one in source.planned)
    if name in _OF_CONTROLS and source.plan["study"] not in _ALWAYS_CONTROLLED:
        return has_controls(source)
    due = _DUE.get(source.plan["study"])
    return name in _IN_BOTH or due is None or due(name, source)


def _is_due_of_heal(name: str, source: Source) -> bool:
    if name == "extraction_disagreements":
        return bool(source.params["extraction"] == "model")
    return not name.startswith("threshold_curve_")


def _is_due_of_mcq(name: str, source: Source) -> bool:
    builds: bool = source.params["work"] == "building"
    return name.startswith("built") == builds


def _is_due_of_cases(name: str, source: Source) -> bool:
    params = source.params
    languages = {o.view for o in source.verdicts if "arm" in o.gold}
    arms = {"03": {"expert"}, "04": {"remove_text", "random_text"}, "06": {"refined"}}
    if name in _PREPARED or not languages:
        return name in _PREPARED
    number = name.removeprefix("table_").removesuffix("_zh")
    if number in {"03", "04", "05", "06", "09", "10", "11", "12", "13"}:
        language = "zh" if name.endswith("_zh") else "en"
        asked = {"raw", *arms.get(number, ())} <= {*params["arms"]}
        return language in languages and (number not in arms or asked)
    return name != "positions" or bool(params["cyclic_orders"])


def _is_due_of_grades(name: str, source: Source) -> bool:
    of_tasks = ("selection", "coverage", "tags")
    proposed = ("candidates", "quality_histogram", "proposed")
    if source.params["work"] == "curation":
        return name in (*of_tasks, *proposed)
    if name in (*of_tasks, "outputs", "prompt_difference", "rubric", "inputs"):
        return True
    two = ("table_3", "agreement", "figure_5", "figure_5_points")
    several = len({grade["reader"] for grade in source.grades}) > 1
    return name not in proposed and bool(source.grades) and (name not in two or several)


def _is_due_of_places(name: str, source: Source) -> bool:
    if name in {"replicates", "replicate_agreement"}:
        return any(source.asked["repeat"])
    if name in {"ablation", "ablation_conditions"}:
        return bool(source.params.get("ablation"))
    if name in {"geometry", "rules", "hit_rates_by_rule"}:
        return any(one.placed.measures for one in source.verdicts)
    return True


_DUE = {
    "grid_localization": _is_due_of_places,
    "grounded_vqa": _is_due_of_heal,
    "pathology_mcq": _is_due_of_mcq,
    "evidence_diagnosis": _is_due_of_cases,
    "rubric_reading": _is_due_of_grades,
}
