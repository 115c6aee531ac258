"""The texts of the synthetic cases: eight diagnoses in English and in Chinese.

They are invented and deliberately plain: each piece of visual evidence has an
equivalent expert text, and together they rule out every other option.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from viewer.domain.evidence import EvidenceType, Language
from viewer.services.synthetic.phantom.patient import Finding
from viewer.services.synthetic.phantom.tissue_scene import Tissue


class Drawing(StrEnum):
    """How a piece of evidence is drawn."""

    LAB = "lab"
    RADIOGRAPH = "radiograph"
    CHEST = "chest"
    MASS = "mass"
    NODULE = "nodule"
    BONES = "bones"
    HEAD = "head"
    SKIN = "skin"
    TISSUE = "tissue"


@dataclass(frozen=True, slots=True)
class Told:
    """The same text in both languages."""

    en: str
    zh: str

    def in_(self, language: Language) -> str:
        """Return the text in a language."""
        return self.en if language is Language.ENGLISH else self.zh


@dataclass(frozen=True, slots=True)
class Shown:
    """A piece of evidence: its type, how it is drawn, and an expert's text.

    ``labs`` has name, minimum, maximum and flag of each value; ``images`` is the number
    of pictures.
    """

    type: EvidenceType
    drawing: Drawing
    says: Told
    labs: tuple[tuple[str, int, int, str], ...] = ()
    findings: tuple[Finding, ...] = ()
    tissue: Tissue = Tissue.STROMA
    images: int = 1
    when: str = ""


@dataclass(frozen=True, slots=True)
class Profile:
    """A diagnosis with all its evidence; ``{age}`` is filled in."""

    specialty: str
    diagnosis: Told
    others: tuple[Told, Told, Told]
    history: Told
    examination: Told
    shown: tuple[Shown, ...]


def _labs(en: str, zh: str, *rows: tuple[str, int, int, str]) -> Shown:
    return Shown(EvidenceType.LABORATORY, Drawing.LAB, Told(en, zh), rows)


def _slide(en: str, zh: str, tissue: Tissue) -> Shown:
    type_, drawing = EvidenceType.MICROSCOPY, Drawing.TISSUE
    return Shown(type_, drawing, Told(en, zh), tissue=tissue)


def _film(en: str, zh: str, *findings: Finding) -> Shown:
    type_, drawing = EvidenceType.X_RAY, Drawing.RADIOGRAPH
    return Shown(type_, drawing, Told(en, zh), findings=findings)


def _ct(en: str, zh: str, drawing: Drawing, when: str = "") -> Shown:
    return Shown(EvidenceType.CT, drawing, Told(en, zh), images=2, when=when)


PROFILES: Final = (
    Profile(
        "Respiratory medicine",
        Told("Sarcoidosis", "结节病"),
        (
            Told("Tuberculosis", "结核病"),
            Told("Lymphoma", "淋巴瘤"),
            Told("Histoplasmosis", "组织胞浆菌病"),
        ),
        Told(
            "A {age}-year-old patient has had a dry cough and tiredness for months.",
            "患者，{age}岁，干咳、乏力数月。",
        ),
        Told("The lungs are clear to auscultation.", "双肺听诊清晰。"),
        (
            _labs("Calcium and ACE are raised.", "血钙和血管紧张素转换酶升高。",
                  ("CA", 270, 310, "H"), ("ACE", 90, 140, "H"), ("CRP", 2, 9, "")),
            _film("The mediastinum is wide.", "纵隔增宽。",
                  Finding.ENLARGED_CARDIOMEDIASTINUM),
            _ct("Large nodes lie on both sides of the heart.", "心脏两侧见肿大淋巴结。",
                Drawing.CHEST),
            _slide("Granulomas without necrosis.", "非坏死性肉芽肿。", Tissue.LYMPHOID),
        ),
    ),
    Profile(
        "Haematology",
        Told("Multiple myeloma", "多发性骨髓瘤"),
        (
            Told("Bone metastases", "骨转移癌"),
            Told("Hyperparathyroidism", "甲状旁腺功能亢进"),
            Told("Waldenström macroglobulinaemia", "华氏巨球蛋白血症"),
        ),
        Told(
            "A {age}-year-old patient has had pain in the back for half a year.",
            "患者，{age}岁，腰背痛半年。",
        ),
        Told("The spine is tender.", "脊柱压痛。"),
        (
            _labs("Anaemia, and a high total protein.", "贫血，总蛋白升高。",
                  ("HGB", 72, 95, "L"), ("TP", 96, 120, "H"), ("CREA", 120, 180, "H")),
            _ct("Holes without a rim in a vertebra.", "椎体多发穿凿样骨质破坏。",
                Drawing.BONES),
            _slide("Sheets of plasma cells.", "大量浆细胞成片。", Tissue.LYMPHOID),
        ),
    ),
    Profile(
        "Infectious diseases",
        Told("Legionella pneumonia", "军团菌肺炎"),
        (
            Told("Pulmonary embolism", "肺栓塞"),
            Told("Lung cancer", "肺癌"),
            Told("Pulmonary oedema", "肺水肿"),
        ),
        Told(
            "A {age}-year-old patient came back from a hotel with fever and confusion.",
            "患者，{age}岁，入住酒店后出现发热和意识模糊。",
        ),
        Told("The temperature is 39.8 degrees.", "体温39.8度。"),
        (
            _labs("Sodium is low, CRP very high.", "血钠降低，C反应蛋白显著升高。",
                  ("NA", 121, 128, "L"), ("CRP", 220, 320, "H"), ("WBC", 12, 19, "H")),
            _film("A lobe is consolidated.", "肺叶实变。",
                  Finding.CONSOLIDATION, Finding.AIRSPACE_OPACITY),
            _slide("Dead tissue with neutrophils.", "坏死组织及中性粒细胞。",
                   Tissue.NECROSIS),
        ),
    ),
    Profile(
        "Neurology",
        Told("Glioblastoma", "胶质母细胞瘤"),
        (
            Told("Brain abscess", "脑脓肿"),
            Told("Multiple sclerosis", "多发性硬化"),
            Told("Brain metastasis", "脑转移瘤"),
        ),
        Told(
            "A {age}-year-old patient had a first seizure.",
            "患者，{age}岁，首次癫痫发作。",
        ),
        Told("One arm is weak.", "一侧上肢无力。"),
        (
            _labs("All values are normal.", "各项指标正常。",
                  ("CRP", 1, 5, ""), ("WBC", 5, 9, ""), ("NA", 137, 143, "")),
            Shown(EvidenceType.MRI, Drawing.HEAD,
                  Told("A ring of contrast, dark within.", "环形强化，中心坏死。"),
                  images=2),
            _slide("Necrosis with cells in rows around it.", "坏死及假栅栏状排列细胞。",
                   Tissue.NECROSIS),
        ),
    ),
    Profile(
        "Cardiology",
        Told("Dilated cardiomyopathy", "扩张型心肌病"),
        (
            Told("Pericardial effusion", "心包积液"),
            Told("Constrictive pericarditis", "缩窄性心包炎"),
            Told("Pulmonary hypertension", "肺动脉高压"),
        ),
        Told(
            "A {age}-year-old patient has become short of breath on stairs.",
            "患者，{age}岁，登楼时气促。",
        ),
        Told("The legs are swollen.", "双下肢水肿。"),
        (
            _labs("NT-proBNP is very high.", "脑钠肽显著升高。",
                  ("BNP", 2400, 5200, "H"), ("CREA", 90, 130, ""), ("CRP", 2, 8, "")),
            _film("The heart is large, with oedema.", "心影增大，肺水肿。",
                  Finding.CARDIOMEGALY, Finding.EDEMA),
            _slide("Scarred heart muscle.", "心肌纤维化。", Tissue.STROMA),
        ),
    ),
    Profile(
        "Endocrinology and diabetes mellitus",
        Told("Primary hyperaldosteronism", "原发性醛固酮增多症"),
        (
            Told("Phaeochromocytoma", "嗜铬细胞瘤"),
            Told("Cushing syndrome", "库欣综合征"),
            Told("Renal artery stenosis", "肾动脉狭窄"),
        ),
        Told(
            "A {age}-year-old patient has high blood pressure on three drugs.",
            "患者，{age}岁，服用三种降压药血压仍高。",
        ),
        Told("The blood pressure is 178 over 104.", "血压178/104毫米汞柱。"),
        (
            _labs("Potassium is low, aldosterone high.", "血钾降低，醛固酮升高。",
                  ("K", 2, 3, "L"), ("ALDO", 320, 480, "H"), ("NA", 143, 147, "")),
            _ct("A dark nodule above a kidney.", "肾上方低密度结节。", Drawing.NODULE,
                "day 2"),
            _ct("The nodule is unchanged.", "结节无变化。", Drawing.NODULE, "day 90"),
        ),
    ),
    Profile(
        "Rheumatology",
        Told("Dermatomyositis", "皮肌炎"),
        (
            Told("Systemic lupus erythematosus", "系统性红斑狼疮"),
            Told("Psoriasis", "银屑病"),
            Told("Muscular dystrophy", "肌营养不良"),
        ),
        Told(
            "A {age}-year-old patient can hardly rise from a chair.",
            "患者，{age}岁，从椅子上站起困难。",
        ),
        Told("Both thighs are weak.", "双侧大腿肌力减退。"),
        (
            Shown(EvidenceType.PHOTOGRAPHY, Drawing.SKIN,
                  Told("Violet papules on the skin.", "皮肤紫红色丘疹。")),
            _labs("Creatine kinase is very high.", "肌酸激酶显著升高。",
                  ("CK", 2800, 6400, "H"), ("CRP", 10, 30, "H"), ("HGB", 125, 140, "")),
            _slide("Lymphocytes between muscle fibres.", "肌纤维间淋巴细胞浸润。",
                   Tissue.LYMPHOID),
        ),
    ),
    Profile(
        "Medical oncology",
        Told("Renal cell carcinoma", "肾细胞癌"),
        (
            Told("Angiomyolipoma", "血管平滑肌脂肪瘤"),
            Told("Renal abscess", "肾脓肿"),
            Told("Urothelial carcinoma", "尿路上皮癌"),
        ),
        Told(
            "A {age}-year-old patient saw blood in the urine without pain.",
            "患者，{age}岁，无痛性血尿。",
        ),
        Told("The flank is not tender.", "腰部无压痛。"),
        (
            _labs("Haemoglobin is high.", "血红蛋白升高。",
                  ("HGB", 176, 190, "H"), ("CREA", 80, 100, ""), ("CRP", 5, 20, "")),
            _ct("A bright mass by a kidney.", "肾旁强化肿块。", Drawing.MASS),
            _slide("Nests of malignant cells in glands.", "恶性腺样细胞巢。",
                   Tissue.CARCINOMA),
            _film("A round shadow in a lung.", "肺内圆形阴影。", Finding.LUNG_LESION),
        ),
    ),
)  # fmt: skip
