"""A small DX image to write."""

import numpy as np

from viewer.domain.case import View
from viewer.writers.dicom_dx import DxHeader

HEADER = DxHeader(
    collection="phantom-0-40x50",
    patient_id="patient00001",
    study_name="patient00001/study1",
    name="patient00001_study1_view1_frontal",
    number=1,
    view=View.FRONTAL,
    sex="F",
    spacing_mm=0.875,
    inverted=False,
    compressed=False,
)
VALUES = np.random.default_rng(0).integers(0, 4096, (50, 40), dtype=np.uint16)
