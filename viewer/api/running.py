"""The ``Running`` mixin of the API's store: plan runs and ask their questions."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from viewer.api.data import Progress, Run
from viewer.api.opened import AnyRun, Opened, one_of
from viewer.api.progress import Tell, progress_of, text_bar
from viewer.domain.errors import WrongUseError


class Running(Opened):
    """The methods of a store that plan and ask runs."""

    def plan_file(
        self,
        study_file: str | Path,
        *,
        models: Sequence[str] = (),
        limit: int | None = None,
        ceiling_usd: float | None = None,
        new: bool = False,
    ) -> Run:
        """Plan the run of a study file (TOML); nothing is asked yet.

        The same plan gives the same run, which continues where it stopped.

        Parameters
        ----------
        study_file : path
            As ``overread run`` takes it; docs/batch.md shows one.
        models : sequence of str, optional
            Replace the models of the file.
        limit : int, optional
            Ask about the first N items only.
        ceiling_usd : float, optional
            The most that the run may cost; it pauses before more.
        new : bool
            Create another run of the same plan; replies in the store are reused.

        Raises
        ------
        UnreadableInputError
            The file cannot be read, or is not TOML.
        WrongUseError
            A name in it is unknown, a parameter out of range, a model cannot be asked,
            or the study has nothing to ask about the data set.
        """
        from viewer.services.configuring.study_file import read_study_file
        from viewer.services.running.plan_run import plan_run

        spec = read_study_file(
            Path(study_file),
            self._settings.models_file,
            models=models,
            limit=limit,
            ceiling=ceiling_usd,
        )
        return self._run(plan_run(self._opened, spec, new=new))

    def plan(
        self,
        study: str,
        dataset: str,
        models: Sequence[str | Mapping[str, object]],
        *,
        params: Mapping[str, object] | None = None,
        prompts: Mapping[str, str] | None = None,
        preset: str | None = None,
        seed: int = 0,
        repeats: int | None = None,
        limit: int | None = None,
        ceiling_usd: float | None = None,
        new: bool = False,
    ) -> Run:
        """Plan a run without a study file; nothing is asked yet.

        Parameters
        ----------
        study, dataset : str
            The study's name, such as ``grid_localization``, and the data set's.
        models : sequence of str or mapping
            Names of models, or ``[[model]]`` tables such as ``{"name": "d4", "adapter":
            "scripted", "answer": "D4"}``.
        params : mapping, optional
            Parameters of the study that differ from its preset, such as ``{"grids": [8,
            16]}``.
        prompts : mapping, optional
            Your own prompts, by the names of those they replace; docs/prompts.md has
            the rules.
        preset : str, optional
            One of the study's presets; default: the paper's.
        seed : int
            Seed of everything drawn at random.
        repeats : int, optional
            How often each question is asked; default: the preset's value.
        limit, ceiling_usd, new
            As for :meth:`plan_file`.

        Raises
        ------
        WrongUseError
            As for :meth:`plan_file`.
        """
        from viewer.services.configuring.study_file import study_spec
        from viewer.services.running.plan_run import plan_run

        table = _as_in_a_file(
            models,
            study=study,
            dataset=dataset,
            params=dict(params or {}),
            prompts=dict(prompts or {}),
            preset=preset,
            seed=seed,
            repeats=repeats,
        )
        file, models_file = Path("the plan"), self._settings.models_file
        spec = study_spec(table, file, models_file, limit=limit, ceiling=ceiling_usd)
        return self._run(plan_run(self._opened, spec, new=new))

    def run(
        self,
        run: AnyRun,
        *,
        progress: Tell | None = text_bar,
        concurrency: int = 0,
        retry_failed: bool = False,
        orphans: str | None = None,
    ) -> Run:
        """Ask the pending trials of a run, and return the run afterwards.

        Replies are stored as they arrive: an interrupted run continues where it was,
        and no reply is paid for twice. A refused, unreadable or failed question is a
        trial like any other; see ``counts`` of the run.

        Parameters
        ----------
        run : Run, int or "last"
            A planned run.
        progress : callable, optional
            Called with a :class:`Progress` at each step; default: a text bar on
            standard error; None for no output.
        concurrency : int
            The most questions in flight; 0: 4 on this machine, up to 32 to others.
        retry_failed : bool
            Ask again the questions that failed at the provider.
        orphans : str, optional
            What to do with questions left without a reply when a process was killed:
            retry, ask or skip; default: each model's profile decides.

        Raises
        ------
        PrivacyError
            Images may not leave this machine until ``overread allow`` says so.
        StoreError
            Another process asks this run, or the disk is full; what is stored stays.
        WrongUseError
            There is no such run, or a model of it cannot be asked.
        """
        number = self._number(run)
        steps = self.follow(
            number, concurrency=concurrency, retry_failed=retry_failed, orphans=orphans
        )
        with closing(steps):
            for step in steps:
                if progress is not None:
                    progress(step)
        return self._run(number)

    def follow(
        self,
        run: AnyRun,
        *,
        concurrency: int = 0,
        retry_failed: bool = False,
        orphans: str | None = None,
    ) -> Generator[Progress]:
        """Ask the pending trials of a run and yield its progress step by step.

        Leaving the loop ends the run; requests in flight are awaited and stored.
        Parameters and errors are those of :meth:`run`.
        """
        from threading import Event

        from viewer.domain.run import OrphanPolicy
        from viewer.services.running.batch_options import BatchOptions
        from viewer.services.running.run_batch import run_batch

        policies = {policy.value: policy for policy in OrphanPolicy}
        policy = None if orphans is None else one_of(policies, orphans, "policy")
        options = BatchOptions(concurrency, policy, retry_failed)
        number = self._number(run)
        return progress_of(number, run_batch(self._opened, number, options, Event()))


def _as_in_a_file(
    models: Sequence[str | Mapping[str, object]], **entries: object
) -> dict[str, object]:
    """Return entries and models as a study file has them; None is left out."""
    if not models:
        raise WrongUseError(
            "The plan names no model.", 'Add for example models=["asymmetry"].'
        )
    return {
        **{name: value for name, value in entries.items() if value is not None},
        "models": [m if isinstance(m, str) else m.get("name") for m in models],
        "model": [dict(one) for one in models if not isinstance(one, str)],
    }
