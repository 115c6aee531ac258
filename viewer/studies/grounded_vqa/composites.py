"""What readers said of the edited images of the visual perturbation test (E002-10).

What any reader rejects, because the anatomy was not really replaced or the image is not
plausible, is left out of the test.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from viewer.domain.item import Item
from viewer.studies.grounded_vqa.params import Params

EDITED_IMAGES: Final = "edited_images"
"""The list in an item's reference with the readers' verdicts.

Each is the reader, the name of the edited question (with its donor), the parameters
that its image was made with, and what the image failed.
"""


def rejected_edits(items: Iterable[Item], params: Params) -> frozenset[str]:
    """Return the names of the edited questions whose image any reader rejected.

    What was made with other parameters is another image, and was not seen.
    """
    how = made_with(params)
    return frozenset(
        str(name)
        for item in items
        for _, name, made, failed in _verdicts(item)
        if failed and made == how
    )


def made_with(params: Params) -> Mapping[str, object]:
    """Return the parameters that an edited image depends on."""
    return {
        "blend": params.blend.value,
        "feather": params.feather,
        "match_histogram": params.match_histogram,
    }


def _verdicts(item: Item) -> Iterator[Any]:
    listed = item.reference.get(EDITED_IMAGES, ())
    yield from listed if isinstance(listed, list) else ()
