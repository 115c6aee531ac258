"""The functional groups of a multi-frame DICOM file (PS3.3 C.7.6.16)."""

from typing import cast

from pydicom.dataset import Dataset


def functional_group(dataset: Dataset, frame: int, name: str) -> Dataset:
    """Return the frame's functional group, the shared one, or the top level.

    ``frame`` is 0-based, ``name`` the keyword of the group's sequence.
    """
    per_frame = dataset.get("PerFrameFunctionalGroupsSequence") or ()
    shared = dataset.get("SharedFunctionalGroupsSequence") or ()
    for holder in (*per_frame[frame : frame + 1], *shared[:1]):
        for item in holder.get(name) or ():
            return cast("Dataset", item)
    return dataset
