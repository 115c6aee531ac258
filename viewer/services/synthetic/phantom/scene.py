"""A patient assembled from every solid that a ray can hit."""

from dataclasses import dataclass
from functools import lru_cache

from viewer.services.synthetic.phantom.anatomy import Anatomy, build_anatomy
from viewer.services.synthetic.phantom.findings import (
    Changes,
    enlargements,
    make_changes,
)
from viewer.services.synthetic.phantom.patient import PhantomPatient
from viewer.services.synthetic.phantom.skeleton import Skeleton, build_skeleton
from viewer.services.synthetic.phantom.tubes import Tube
from viewer.services.synthetic.phantom.vessels import grow_vessels


@dataclass(frozen=True)
class Scene:
    """Everything a ray can hit in one patient; ``vessels`` left and right."""

    patient: PhantomPatient
    anatomy: Anatomy
    skeleton: Skeleton
    vessels: tuple[tuple[Tube, ...], tuple[Tube, ...]]
    changes: Changes


@lru_cache(maxsize=4)
def build_scene(patient: PhantomPatient) -> Scene:
    """Return a patient's scene.

    Vessels and findings are placed in the anatomy without enlargement, so that an
    enlarged heart does not move anything else.
    """
    plain = build_anatomy(patient.build, patient.stream("gas"))
    heart, mediastinum = enlargements(patient)
    return Scene(
        patient=patient,
        anatomy=build_anatomy(patient.build, patient.stream("gas"), heart, mediastinum),
        skeleton=build_skeleton(patient.build),
        vessels=(
            grow_vessels(plain, 1, patient.stream("left vessels")),
            grow_vessels(plain, -1, patient.stream("right vessels")),
        ),
        changes=make_changes(patient, plain),
    )
