"""Export of a run as one file that anybody can verify without this program (M-23).

It contains tables, figures, raw replies, the truth, plan and manifest, an offline page
and verify.py. Patients, images and items have pseudonyms, and there are no pixels but
those of pictures that models returned.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from viewer.domain.answer import Status
from viewer.domain.counting import counted
from viewer.domain.errors import PrivacyError
from viewer.domain.plain import plain
from viewer.domain.report import ReportData
from viewer.domain.rubric import Grades
from viewer.results.spec_json import spec_documents
from viewer.services.configuring.model_colors import assign_model_colors
from viewer.services.exporting.bundling import contents
from viewer.services.exporting.bundling.records import (
    Record,
    Replies,
    json_bytes,
    json_lines,
)
from viewer.services.reporting.report_run import (
    RunReport,
    RunResults,
    context_of,
    manifest_of_report,
    report_files,
    run_results,
    with_items,
    with_reused,
)
from viewer.services.trials.grades import grades_of
from viewer.services.trials.pseudonyms import Pseudonyms, examples_without_names
from viewer.services.trials.run_context import RunContext
from viewer.store import consents
from viewer.store.database import Store, open_store
from viewer.studies.places import PlacesContext, Pointed, pointed_at
from viewer.studies.protocol import ReportContext
from viewer.studies.whole_report import whole_report
from viewer.writers.bundle import bundle_bytes, manifest_schema
from viewer.writers.bundle_html import BundlePage, render_bundle
from viewer.writers.files import write_atomically
from viewer.writers.verify.built_in import BEYOND
from viewer.writers.verify_script import verify_script

_UNREAD: Final = "The file of the radiologists' points cannot be read."


@dataclass(frozen=True)
class _Contents:
    """A bundle's content beside the report."""

    members: Mapping[str, bytes]
    records: Sequence[Record]
    page: BundlePage


def export_bundle(store: Store, run: int, path: Path) -> Path:
    """Write a run's bundle; raises for an unknown run or an unwritable folder."""
    write_atomically(path, run_bundle(store, run))
    return path


def export_stored_bundle(store: Path, run: int, path: Path) -> Path:
    """Write the bundle of a run of the store at a path, as :func:`export_bundle`."""
    with open_store(store) as opened:
        return export_bundle(opened, run, path)


def run_bundle(store: Store, run: int) -> bytes:
    """Return a run's bundle; the same run always gives the same bytes.

    Raises
    ------
    PrivacyError
        The run is about items of a restricted data set, whose text must stay here.
    """
    own = run_results(store, run)
    assign_model_colors(store)
    _check_leaving(store, own.context)
    grades = grades_of(own.context.dataset)
    readers = {*grades.readers, *grades.withdrawn}
    names = Pseudonyms(own.context.dataset, own.results, readers=readers)
    context = context_of(store, run, own.context)
    beside = _beside(context.beside, names)
    report = _report(own, names, replace(context, beside=beside))
    report = replace(report, data=with_reused(store, run, report.data))
    pointed = tuple(_pointed(report.context, beside))
    found = _contents(store, own, report, names, names.grades(grades), pointed)
    members: dict[str, bytes] = {
        **_in_folders(report_files(report)),
        **found.members,
        "specs.json": json_bytes(spec_documents(report.data.specs)),
        "manifest.schema.json": manifest_schema(),
        "verify.py": verify_script(),
        "index.html": render_bundle(found.page),
    }
    manifest = manifest_of_report(store, report, members)
    # bundle_bytes() hashes it again, with the bundle's own entries.
    del manifest["manifest_sha256"]
    about = _about(found, report.data)
    return bundle_bytes(members, {**manifest, **about})


def _check_leaving(store: Store, run_context: RunContext) -> None:
    """Raise if replies may repeat text that has to stay on this machine."""
    if not run_context.study.words.places and _is_restricted(store, run_context):
        name = run_context.spec.dataset
        raise PrivacyError(
            f"'{name}' is restricted: a bundle would contain what replies repeat from "
            "it.",
            "Use overread report RUN --out DIR, or import it again with --unrestricted "
            "if its licence allows it after all.",
        )


def _is_restricted(store: Store, run_context: RunContext) -> bool:
    return run_context.spec.dataset in consents.restricted_datasets(store)


def _check_pictures(store: Store, replies: Replies, own: RunContext) -> None:
    """Raise if replies contain pictures of images that have to stay on this machine."""
    count = sum(map(bool, replies.pictures))
    if count and _is_restricted(store, own):
        replied = counted(count, "reply", "replies")
        raise PrivacyError(
            f"'{own.spec.dataset}' is restricted, and {replied} of the run contain "
            "pictures made from its images.",
            "Use overread report RUN --out DIR, or import it again with --unrestricted "
            "if its licence allows it after all.",
        )


def _check_replies(replies: Replies, own: RunContext) -> None:
    """Raise if replies contain a local name of a case, an image or a patient."""
    count = contents.replies_with_names(replies.told, own.dataset)
    if count:
        raise PrivacyError(
            f"{counted(count, 'reply', 'replies')} of the run contain the name of an "
            "item, an image or a patient, and a bundle would reveal it.",
            "Use overread report RUN --out DIR, or import the data under names that "
            "reveal nothing.",
        )


def _contents(
    store: Store,
    own_results: RunResults,
    report: RunReport,
    names: Pseudonyms,
    grades: Grades,
    pointed: Sequence[Pointed],
) -> _Contents:
    """Return a bundle's content beside the report."""
    replies, own = Replies(store), own_results.context
    records = list(contents.judged_trials(store, own_results, names, replies))
    if not own.study.words.places:
        # By the data set's real names: `report` already has pseudonyms.
        _check_replies(replies, own)
    _check_pictures(store, replies, own)
    plan = contents.plan_of(own, records, names)
    references = contents.references_of(report.context, records, pointed)
    items = report.context.dataset.items
    members = {
        "plan.json": json_bytes(plan),
        "trials.jsonl": json_lines(records),
        "replies.jsonl": json_lines(replies.records),
        "README.txt": contents.README.encode(),
        **contents.people_members(grades, items, records, pointed),
    }
    if own.study.words.places:
        members["references.json"] = json_bytes(references)
    page = BundlePage(
        *(_title(report), report.data.incomplete, plan, records, references),
        about=contents.VERIFIED,
        replies=replies.told,
        pictures={n: pngs for n, pngs in enumerate(replies.pictures) if pngs},
    )
    return _Contents(members, records, page)


def _about(found: _Contents, data: ReportData) -> dict[str, object]:
    """Return the entries of a bundle's manifest beyond those of a report."""
    records = found.records
    items = "\n".join(sorted({str(trial["item"]) for trial in records}))
    worked = {spec.name for spec in data.specs if spec.frame not in BEYOND}
    excluded = Counter(t["reason"] for t in records if t["status"] == Status.EXCLUDED)
    return {
        "pseudonyms": True,
        "pixels": False,
        "returned_pictures": sum(map(len, found.page.pictures.values())),
        "items_sha256": hashlib.sha256(items.encode()).hexdigest(),
        "exclusions": dict(sorted(excluded.items())),
        "recomputed_tables": [t.name for t in data.tables if t.name in worked],
    }


def _in_folders(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return a report's files, with the tables in a folder."""
    return {
        f"tables/{name}" if name.endswith(".csv") else name: data
        for name, data in files.items()
    }


def _beside(own: object, names: Pseudonyms) -> object:
    """Return a report's further files under pseudonyms; unknown kinds are left out."""
    if isinstance(own, Grades):
        return names.grades(own)
    if not isinstance(own, PlacesContext):
        return None
    points = own.human_points.items()
    return replace(
        own,
        validation=own.validation and examples_without_names(own.validation),
        human_points={names.images[i]: of for i, of in points if i in names.images},
        human_problem=_UNREAD if own.human_problem else "",
    )


def _pointed(context: RunContext, beside: object) -> Iterable[Pointed]:
    """Return where radiologists pointed, on the images that the run is about."""
    if not isinstance(beside, PlacesContext):
        return ()
    params = plain(context.params)
    asked = (params.get(name, ()) for name in ("findings", "views"))
    return pointed_at(beside.human_points, context.dataset.images, *asked)


def _report(own: RunResults, names: Pseudonyms, context: ReportContext) -> RunReport:
    """Return a report with pseudonyms instead of names."""
    run_context = names.context(own.context)
    versions = (replace(v, params=names.params(v.params)) for v in context.versions)
    context = ReportContext(run_context.dataset, tuple(versions), context.beside)
    study, spec = run_context.study, run_context.spec
    data = whole_report(study, names.results, spec, context)
    of_run = names.trials(own.trials)
    data = with_items(data, run_context, of_run)
    return RunReport(own.summary, run_context, names.results, of_run, data)


def _title(report: RunReport) -> str:
    spec = report.context.spec
    return f"Run {report.summary.id}: {spec.study.replace('_', ' ')} on {spec.dataset}"
