"""The ``Results`` mixin of the API's store: records, tables and figures."""

from pathlib import Path
from typing import TYPE_CHECKING

from viewer.api.data import Figure, Run, Table
from viewer.api.opened import AnyRun, Opened

if TYPE_CHECKING:
    import pandas as pd


class Results(Opened):
    """The methods of a store that return results of runs."""

    def runs(self, *, single_questions: bool = False) -> tuple[Run, ...]:
        """Return the runs, oldest first; ``single_questions`` adds those of ``ask``."""
        from viewer.api.made import run_of
        from viewer.services.reporting.grading import score_changed_grades
        from viewer.store import runs

        score_changed_grades(self._opened)
        summaries = runs.run_summaries(self._opened, include_adhoc=single_questions)
        return tuple(map(run_of, summaries))

    def records(self, run: AnyRun) -> "pd.DataFrame":
        """Return every trial of a run, in the order planned: one row each.

        Names, types and values are those of ``items.csv`` in the run's report:
        ``viewer.api.ITEM_COLUMNS`` has the name, the type and the meaning of each.
        After ``view`` come the study's own strata, such as an anatomy, and last its
        measurements of the answer. Missing text is "", missing numbers are NaN or NA.
        ``correct`` is missing for trials that count in no rate, so that its mean is the
        rate.

        Raises
        ------
        MissingDependencyError
            pandas is not installed.
        WrongUseError
            There is no such run.
        """
        from viewer.api.frames import dataframe
        from viewer.services.reporting.records import items_of_run

        return dataframe(items_of_run(self._opened, self._number(run)))

    def tables(self, run: AnyRun) -> tuple[str, ...]:
        """Return the names of the tables in a run's report, such as ``results``."""
        from viewer.services.inspecting.runs import table_names

        return table_names(self.path, self._number(run))

    def table(self, run: AnyRun, name: str = "results") -> Table:
        """Return one table of a run's report by name.

        Raises
        ------
        WrongUseError
            There is no such run, or it has no such table.
        """
        from viewer.services.inspecting.runs import printed_table, run_table

        number = self._number(run)
        found = run_table(self.path, number, name)
        shown = printed_table(self.path, number, name)
        return Table(name, found.header, found.rows, found, shown)

    def figures(self, run: AnyRun) -> tuple[str, ...]:
        """Return the names of a run's figures: the paper's, then the report's.

        This reads images of the data set; figures that need an image which cannot be
        read are left out.
        """
        from viewer.services.inspecting.drawn_figures import figure_names

        return figure_names(self.path, self._number(run))

    def figure(self, run: AnyRun, name: str) -> Figure:
        """Return a figure of a run, drawn as SVG.

        Raises
        ------
        WrongUseError
            There is no such run, or it has no such figure.
        """
        from viewer.services.inspecting.drawn_figures import drawn_figure

        found = drawn_figure(self.path, self._number(run), name)
        return Figure(name, found.title, found.words, found.svg)

    def report(self, run: AnyRun, folder: str | Path) -> tuple[Path, ...]:
        """Write a run's tables, figures, page and manifest; return the files.

        Raises
        ------
        WrongUseError
            There is no such run, or the folder cannot be written to.
        """
        from viewer.services.reporting.figures import write_report

        return write_report(self._opened, self._number(run), Path(folder))

    def export_replies(self, run: AnyRun, file: str | Path, model: str = "") -> Path:
        """Write the replies of a run's models to a file and return its path.

        The format is JSON lines, or CSV if the file name ends in ``.csv``.
        :meth:`Store.import_replies` reads it in any store with the same data set.

        Raises
        ------
        WrongUseError
            There is no such run or model, or the file cannot be written.
        """
        from viewer.services.exporting.export_replies import export_replies

        number = self._number(run)
        return export_replies(self._opened, number, Path(file), model).path

    def export_requests(
        self,
        run_or_study: AnyRun | Path,
        folder: str | Path,
        model: str = "",
        *,
        following: bool = False,
    ) -> Path:
        """Write the exact questions and images of a study, for other code to answer.

        Parameters
        ----------
        run_or_study : Run, int, "last" or path
            A run, or the ``Path`` of a study file.
        folder : path
            Where ``requests.jsonl``, whose path is returned, and ``images`` are
            written.
        model : str, optional
            Write the requests as sent to this model; default: the run's first.
        following : bool
            Write only the requests that follow from the replies the run has.

        Raises
        ------
        WrongUseError
            There is no such run or model, or the folder cannot be written to.
        """
        from viewer.services.exporting import export_requests

        out = Path(folder)
        if isinstance(run_or_study, Path):
            export_requests.export_study_requests(
                self._opened, self._settings, run_or_study, out, model
            )
        else:
            number = self._number(run_or_study)
            export_requests.export_run_requests(
                self._opened, number, out, model, following=following
            )
        return out / export_requests.REQUESTS
