from viewer.domain.report import PaperRows


def test_that_published_rows_name_their_paper_and_its_table_if_it_has_one() -> None:
    assert PaperRows("Gosai 2025", "Table 2", ()).words == (
        "Published: Gosai 2025, Table 2"
    )
    assert PaperRows("Gosai 2025", "", ()).words == "Published: Gosai 2025"
