"""Tables on the screen as files: the ending says as what."""

import zipfile
from pathlib import Path

import pytest

from viewer.domain.errors import WrongUseError
from viewer.domain.report import Table
from viewer.services.exporting.export_table import (
    TABLE_FILES,
    export_table,
    table_as_csv,
)

TABLE = Table("results", ("model", "hit_rate"), (("=a", 1 / 3), ("b_1", None)))


def test_that_the_ending_says_what_is_written(tmp_path: Path) -> None:
    from pyarrow.parquet import read_table

    paths = {kind: tmp_path / f"t.{kind}" for kind in ("csv", "XLSX", "parquet", "tex")}
    for path in paths.values():
        export_table(TABLE, path)
        assert f"*{path.suffix.lower()}" in TABLE_FILES
    assert paths["csv"].read_text() == table_as_csv(TABLE)
    assert table_as_csv(TABLE) == "model,hit_rate\n'=a,0.3333333333333333\nb_1,\n"
    assert zipfile.is_zipfile(paths["XLSX"])
    assert read_table(paths["parquet"])["hit_rate"].to_pylist() == [1 / 3, None]
    assert "b\\_1 &  \\\\\n" in paths["tex"].read_text()
    assert "=a & 0.333 \\\\\n" in paths["tex"].read_text()


def test_that_another_ending_is_refused_and_nothing_written(tmp_path: Path) -> None:
    with pytest.raises(WrongUseError, match=r"'t.doc' does not have a file ending"):
        export_table(TABLE, tmp_path / "t.doc")
    assert not list(tmp_path.iterdir())
