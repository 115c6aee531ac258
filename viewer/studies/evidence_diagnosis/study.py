"""Multi-evidence diagnosis (Chen 2026, MEDSYN)."""

from collections.abc import Mapping, Sequence

from viewer.domain.answer import AnyAnswer, ChoiceAnswer, RankedAnswer, Unparsed
from viewer.domain.case import Dataset
from viewer.domain.conditions import control_of
from viewer.domain.controls import Control
from viewer.domain.errors import WrongUseError
from viewer.domain.evidence import EvidenceCase, ShownEvidence
from viewer.domain.exchange import ModelProfile
from viewer.domain.holdings import Wanted
from viewer.domain.interpretability import ATTENTION_NEEDS
from viewer.domain.item import Item
from viewer.domain.report import ReportData
from viewer.domain.result import Score, TrialResult
from viewer.domain.run import Condition, RunSpec, Step, Trial
from viewer.domain.specialties import GROUPS, SPECIALTIES, group_of
from viewer.imaging.resample import shrunk_size
from viewer.studies.benchmarks import Benchmark
from viewer.studies.controls import Controlled
from viewer.studies.evidence_diagnosis import (
    beliefs,
    consistency,
    controlling,
    params,
    people,
    plan,
    preparing,
    published,
    report,
    request,
    score,
)
from viewer.studies.evidence_diagnosis.building import ask_choice, shown_evidence
from viewer.studies.evidence_diagnosis.pack import PACK
from viewer.studies.evidence_diagnosis.params import Arm, Params, RandomText, Task
from viewer.studies.evidence_diagnosis.preparation import is_report
from viewer.studies.evidence_diagnosis.preparing import Preparing
from viewer.studies.evidence_diagnosis.readings import READING_TASKS
from viewer.studies.evidence_diagnosis.showing import Modality, Showing
from viewer.studies.evidence_diagnosis.steps import Asking
from viewer.studies.evidence_diagnosis.templates import (
    DDX,
    DDX_JUDGE,
    EXTRACTION,
    FDX,
    FDX_JUDGE,
    OPEN_FDX,
    PROMPTS,
    REFINEMENT,
    open_prompt,
    printed,
)
from viewer.studies.evidence_diagnosis.words import WORDS
from viewer.studies.presets import PresetStudy
from viewer.studies.protocol import NO_CONTEXT, ReportContext
from viewer.studies.steps import Longest, Question, Sources, Turn

_LONGEST_LIST = "A diagnosis of several words\n" * 20
"""What a long differential takes, for the price of what quotes it."""


class EvidenceDiagnosis(Controlled, PresetStudy[Params]):
    """The study's parts behind the interface that all studies of items share."""

    name = "evidence_diagnosis"
    title = "Multi-evidence diagnosis"
    version = "1"
    parser_version = "3"
    scorer_version = "2"
    words = WORDS
    wanted = Wanted(
        "cases with evidence",
        "Import a folder of cases or reports as MEDSYN cases.",
        lambda held: held.has_item("evidence") or held.has_item("background"),
    )
    pack = PACK
    reading_tasks = READING_TASKS
    scores = (score.JUDGE, 0, 5)
    known_prompts = PROMPTS

    def conditions(self, params_: Params) -> tuple[Condition, ...]:
        """Return every way in which some case may be shown."""
        return plan.conditions(params_)

    def shown_under(self, trial: Trial, control: Control) -> Condition | None:
        """Return how a control shows a case of which the raw images are asked about."""
        return controlling.shown_under(trial, control)

    def image_kinds(self, dataset: Dataset) -> Mapping[str, str]:
        """Return the type of evidence of each image of a case."""
        return controlling.image_kinds(dataset)

    def evidence_shown(self, trial: Trial, item: Item) -> tuple[ShownEvidence, ...]:
        """Return how a trial shows a case; nothing where that is not asked or known."""
        is_case = Task(trial.finding) not in params.PREPARING
        by_model = trial.model != people.PHYSICIANS.name
        if not (is_case and by_model) or control_of(trial.condition.name):
            return ()
        showing = Showing.of_condition(trial.condition)
        return tuple(shown_evidence(EvidenceCase.of_item(item), showing))

    def guess_words(self, prompt: str) -> str:
        """Return what asks to guess before a question, in its language."""
        return controlling.guess_words(prompt)

    def notices(self, params_: Params) -> tuple[str, ...]:
        """Return the notices about these settings."""
        found = []
        judged = {Task.DDX, Task.OPEN_FDX} & {Task(task) for task in params_.tasks}
        if judged and not params_.judge:
            found.append("No judge is named, so differentials are not scored.")
        random = Arm.RANDOM_TEXT in (*params_.arms, *params_.differential_arms)
        if random and params_.random_text is RandomText.WORDS:
            found.append(
                "Random text has the same number of words; its number of tokens may "
                "differ."
            )
        if params_.rapt:
            found.append(ATTENTION_NEEDS)
        return tuple(found)

    def prompts(self, params_: Params) -> tuple[tuple[str, str], ...]:
        """Return the name and template of every prompt that may be asked with."""
        own = {
            Task.DDX: (DDX,),
            Task.FDX: (FDX,),
            Task.OPEN_FDX: (DDX, OPEN_FDX),
            Task.DISTRACTORS: (DDX,),
        }
        tasks = [Task(task) for task in params_.tasks]
        names = [n for task in tasks for n in own.get(task, ())]
        if Arm.REFINED in params_.arms and Task.FDX in params_.tasks:
            names.append(REFINEMENT)
        asked = [
            f"{name}_{language}" for name in names for language in params_.languages
        ]
        if params_.judge:
            judges = {Task.DDX: DDX_JUDGE, Task.OPEN_FDX: FDX_JUDGE}
            asked += [judges[task] for task in tasks if task in judges]
        shown = params_.announce_examples
        listed = tuple(
            (name, open_prompt(name, params_.prompts, announce_examples=shown))
            for name in dict.fromkeys(asked)
        )
        return (*listed, *preparing.prompts(tasks, params_.prompts))

    def roles(self, params_: Params) -> Mapping[str, str]:
        """Return the judges, if any is named."""
        return params_.judges

    def people(self, dataset: Dataset, params_: Params) -> tuple[ModelProfile, ...]:
        """Return the data set's physicians, if a judge is to score them."""
        return people.judged_people(dataset, params_)

    def plan(self, dataset: Dataset, spec: RunSpec) -> tuple[Trial, ...]:
        """Return every trial, case by case; exclusions carry their reason."""
        return plan.plan(dataset, spec)

    def next_step(self, turn: Turn, params_: Params) -> Step | None:
        """Return the next question, None if a trial is complete."""
        if is_report(turn.item):
            return Preparing(turn).next_step()
        return Asking(turn, params_).next_step()

    def question(
        self, turn: Turn, step: Step, sources: Sources, params_: Params
    ) -> Question:
        """Return the question of a step."""
        if is_report(turn.item):
            return Preparing(turn, params_.prompts).question(step)
        return request.question(turn, step, sources, params_)

    def parse(self, turn: Turn, params_: Params) -> AnyAnswer | Unparsed:
        """Return the option, the differential or the open diagnosis of a trial.

        For a report, the result of preparing it.
        """
        if is_report(turn.item):
            return Preparing(turn).answer()
        asking = Asking(turn, params_)
        return asking.choice() if asking.task is Task.FDX else asking.words()

    def score(self, turn: Turn, answer: AnyAnswer | Unparsed, params_: Params) -> Score:
        """Return the verdict, with the posterior's numbers."""
        if is_report(turn.item):
            return Preparing(turn).score()
        asking = Asking(turn, params_)
        if isinstance(answer, ChoiceAnswer) or asking.task is Task.FDX:
            return _score_choice(asking, answer)
        return _score_ranked(asking, answer)

    def gold(self, turn: Turn, params_: Params) -> Mapping[str, object]:
        """Return the right answer to a trial as JSON."""
        return _gold(turn, params_)

    def longest(self, dataset: Dataset, params_: Params) -> tuple[Longest, ...]:
        """Return the longest question of each step of a trial."""
        cases = [
            EvidenceCase.of_item(item) for item in dataset.items if not is_report(item)
        ]
        if not cases:
            return _longest_report(dataset, params_)
        sizes = {one.key: shrunk_size(one.geometry, None) for one in dataset.images}
        order = (0, 1, 2, 3)
        texts = (
            ask_choice(
                case, Showing(Modality.TEXT), order, prompts=params_.prompts
            ).text
            for case in cases
        )
        text = max(texts, key=len, default="")
        shown = max((case.images for case in cases), key=len, default=())
        images = tuple(sizes[key] for key in shown)
        own = Longest(f"{text}\n{_LONGEST_LIST}", images)
        judged = _longest_judged(params_) if params_.judge else ()
        retried = judged * (1 + params_.judge_retries)
        return (*(own,) * _most_questions(params_), *retried)

    def benchmark(self) -> Benchmark:
        """Return the paper's printed values, with their checks."""
        return Benchmark(self.name, published.rows(), consistency.checks())

    def report(
        self,
        results: Sequence[TrialResult],
        spec: RunSpec,
        context: ReportContext = NO_CONTEXT,
    ) -> ReportData:
        """Return the tables and figures of a run."""
        return report.report(results, spec, context)


def _longest_report(dataset: Dataset, params_: Params) -> tuple[Longest, ...]:
    """Return the longest questions about a report: its text with a prompt, thrice."""
    texts = [f"{i.facts['background']}{i.facts['caption']}" for i in dataset.items]
    prompt = printed(EXTRACTION, params_.prompts)
    asked = Longest(prompt + max(texts, key=len, default=""), (), 1)
    return (asked,) * 3


def _longest_judged(params_: Params) -> tuple[Longest, ...]:
    own, announced = params_.prompts, params_.announce_examples
    prompts = (
        printed(name, own, announce_examples=announced)
        for name in (DDX_JUDGE, FDX_JUDGE)
    )
    text = f"{max(prompts, key=len)}\n{_LONGEST_LIST}"
    return tuple(Longest(text, (), 1, role) for role in params_.judges)


def _most_questions(params_: Params) -> int:
    most = plan.most_answers(params_)
    return max(most, 2 if Task.OPEN_FDX in params_.tasks else 1)


def _score_choice(asking: Asking, answer: AnyAnswer | Unparsed) -> Score:
    chosen = answer if isinstance(answer, ChoiceAnswer | Unparsed) else asking.choice()
    found = score.score_choice(chosen, asking.case, asking.order())
    numbers = beliefs.numbers_of(beliefs.posterior(asking))
    first = asking.turn.replies()[0]
    seen = beliefs.rapt_numbers(first) if asking.params.rapt else ()
    return score.with_numbers(found, (*numbers, *seen))


def _score_ranked(asking: Asking, answer: AnyAnswer | Unparsed) -> Score:
    ranked = answer if isinstance(answer, RankedAnswer | Unparsed) else asking.words()
    judged, diagnosis = asking.judged(), asking.case.diagnosis
    if judged is None:
        return score.not_judged(ranked, diagnosis)
    least, by = asking.params.covered_from, asking.verdicts()
    return score.score_ranked(ranked, judged, diagnosis, least, by)


def _gold(turn: Turn, params: Params) -> Mapping[str, object]:
    """Return the options with the order of the letters, or the diagnosis.

    ``right`` is the index in the case's order from 0; ``covered_from`` is the judge's
    score from which a list covers the diagnosis, None without a judge. ``arm`` is the
    intervention, ``turned`` the rotation of the options; specialty and group follow
    their order in the paper's tables. A report being prepared has no truth.
    """
    if is_report(turn.item):
        return {}
    asking = Asking(turn, params)
    specialty = asking.case.specialty
    group = group_of(specialty)
    shown = {
        "arm": str(asking.showing.arm or ""),
        "turned": asking.showing.order,
        "specialty": [SPECIALTIES.index(specialty), specialty],
        "group": [list(GROUPS).index(group), group],
    }
    if not asking.case.diagnosis or asking.case.answer < 0:
        raise WrongUseError(
            f"The case '{asking.case.key}' has no diagnosis.",
            "Import its data set again, with the correct option of each case.",
        )
    if asking.task is Task.FDX:
        return {
            **shown,
            "options": list(asking.case.options),
            "order": list(asking.order()),
            "right": asking.case.answer,
        }
    return {
        **shown,
        "diagnosis": asking.case.diagnosis,
        "covered_from": params.covered_from if params.judge else None,
        "levels": list(asking.levels),
    }


STUDY = EvidenceDiagnosis(
    params.read_params,
    params.PRESET_TITLES,
    {
        "tasks": ["ddx", "fdx", "open_fdx"],
        "arms": list(params.ARMS),
        "sensitivity": True,
        "rapt": True,
    },
)
