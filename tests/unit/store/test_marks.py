from pathlib import Path

from viewer.domain.case import ImageRef
from viewer.domain.geometry import PointPx
from viewer.domain.mark import Mark, MarkKind
from viewer.store.database import open_store
from viewer.store.marks import all_marks, keep_marks

LENGTH = Mark(MarkKind.LENGTH, (PointPx(1.5, 2.25), PointPx(3, 1 / 3)))
ELLIPSE = Mark(MarkKind.ELLIPSE, (PointPx(0, 0), PointPx(9, 9)), "tumour é")


def test_that_marks_are_kept_by_image_and_frame_in_the_order_drawn(
    tmp_path: Path,
) -> None:
    path = tmp_path / "s.sqlite"
    first, second = (ImageRef(Path("/films/a é.dcm"), frame) for frame in (0, 1))
    with open_store(path) as store:
        keep_marks(store, first, (LENGTH, ELLIPSE))
        keep_marks(store, second, (ELLIPSE,))
        keep_marks(store, second, (LENGTH,))
    with open_store(path) as store:
        assert all_marks(store) == {first: (LENGTH, ELLIPSE), second: (LENGTH,)}
        keep_marks(store, first, ())
        assert all_marks(store) == {second: (LENGTH,)}
