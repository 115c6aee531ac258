"""What Gosai 2025 prints, as reference rows that no run edits (X-05, App. B.1)."""

from dataclasses import dataclass

SOURCE = "Gosai 2025, arXiv 2509.18015"


@dataclass(frozen=True, slots=True)
class Published:
    """A printed percentage; ``k`` of ``n`` where they reproduce it to the decimal."""

    where: str
    finding: str
    who: str
    value: float
    decimals: int = 1
    k: int | None = None
    n: int | None = None


_MEAN = "Mean of nine findings"
_EC = "Enlarged Cardiomediastinum"
_TEXT = "section 4.1, Fig. 2"

HIT_RATES = (
    Published(_TEXT, _MEAN, "Radiologists (Saporta 2022)", 80.1),
    Published(_TEXT, _MEAN, "CNN, Grad-CAM (Saporta 2022)", 59.9),
    Published(_TEXT, _MEAN, "GPT-5", 49.7),
    Published(_TEXT, _MEAN, "GPT-4 (gpt-4o-2024-05-13)", 39.1),
    Published(_TEXT, _MEAN, "MedGemma 27B", 17.7),
    Published(_TEXT, _MEAN, "Random cell", 11.9),
    Published(_TEXT, _EC, "GPT-4 (gpt-4o-2024-05-13)", 92.3, k=275, n=298),
    Published(_TEXT, _EC, "GPT-5", 89.6, k=267, n=298),
    Published(_TEXT, _EC, "CNN, Grad-CAM (Saporta 2022)", 49.8),
    Published(_TEXT, "Cardiomegaly", "GPT-4 (gpt-4o-2024-05-13)", 89.1, k=156, n=175),
    Published(_TEXT, "Cardiomegaly", "GPT-5", 72.0, k=126, n=175),
    Published(_TEXT, "Cardiomegaly", "CNN, Grad-CAM (Saporta 2022)", 50.7),
)
"""Hit rates in per cent on the CheXlocalize test set with an 8 x 8 grid."""
