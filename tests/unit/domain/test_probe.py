from viewer.domain.probe import ProbeReport, ProbeRow, Verdict


def test_that_what_was_not_looked_at_is_unknown() -> None:
    rows = (
        ProbeRow("reachable", Verdict.YES, "It answered."),
        ProbeRow("image input", Verdict.NO, "It refused an image."),
    )
    report = ProbeReport("m", "host:80", rows)
    assert report.is_reachable
    assert report.verdict("image input") is Verdict.NO
    assert report.verdict("seed") is Verdict.UNKNOWN
    assert not ProbeReport("m", "host:80", ()).is_reachable
