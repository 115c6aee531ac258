"""Replies with what they must be read as: a letter, or a status and its reason."""

OPTIONS = (
    "Necrosis",
    "Fibrosis",
    "B-cell lymphoma",
    "Necrosis with haemorrhage (acute)",
)
SEVERAL = "ambiguous:several"
DIFFER = "ambiguous:letter_and_text_differ"
NO_OPTION = "unparsed:no_option"
EMPTY = "unparsed:empty"
OUTSIDE = "out_of_range:out_of_range"
DECLINED = "refused:declined"
CUT = "truncated:length"

LETTERS = (
    ("A", "A"),
    ("b", "B"),
    ("(C)", "C"),
    ("D.", "D"),
    (" B) ", "B"),
    ("**B**", "B"),
    ("`C`", "C"),
    ("[D]", "D"),
    ("Option D", "D"),
    ("answer: b", "B"),
    ("Ｂ", "B"),
    ("β", "B"),
    ("Δ.", "D"),
    ("\\boxed{C}", "C"),
    ("$\\boxed{\\text{C}}$", "C"),
    ("<think>A, or maybe B</think>D", "D"),
    ("E", OUTSIDE),
    ("(Z)", OUTSIDE),
    ("ж", OUTSIDE),
    ("2", NO_OPTION),
)
WORDS = (
    ("fibrosis", "B"),
    ("FIBROSIS.", "B"),
    ("B-cell lymphoma", "C"),
    ("necrosis with\nhaemorrhage (acute)", "D"),
    ("B) Fibrosis", "B"),
    ("(B) Fibrosis.", "B"),
    ("B: fibrosis", "B"),
    ("(D) Necrosis with haem", "D"),
    ("A) Fibrosis", DIFFER),
    ("E) Fibrosis", OUTSIDE),
    ("B) Fungi", "B"),
    ("The answer is (A) Fibrosis", DIFFER),
    ("The image shows B-cell lymphoma.", "C"),
    ("The image shows necrosis with haemorrhage (acute).", "D"),
    ("Necrosis, not fibrosis.", "A"),
    ("The tissue shows fibrosis rather than necrosis.", "B"),
    ("Fibrosis is unlikely, so it must be necrosis.", "A"),
    ("Either necrosis or fibrosis.", SEVERAL),
    ("A biopsy shows fibrosis of the stroma.", "B"),
)
MARKED = (
    ("The answer is B.", "B"),
    ("The correct answer is (C) B-cell lymphoma.", "C"),
    ("The correct answer is **C**", "C"),
    ("The correct answer is: necrosis with haemorrhage (acute).", "D"),
    ("Final answer: A", "A"),
    ("Answer: A because nuclei are pale", "A"),
    ("Answer: A fibrous band is seen", NO_OPTION),
    ("A is incorrect, B is correct", "B"),
    ("Answer: A. No, the answer is B", "B"),
    ("Answer: B or C", SEVERAL),
    ("Answer: B, C and D", SEVERAL),
    ("I would choose option b because of the stroma", "B"),
    ("The best choice is C, since T cells abound", "C"),
    ("B is the most likely. I cannot provide a diagnosis.", "B"),
    ("答案是B", "B"),
    ("La respuesta es C", "C"),
    ("The answer is unclear, but (B) fits", "B"),
    ("The correct option is F", OUTSIDE),
)
PROSE = (
    ("(A) or (B)", SEVERAL),
    ("It is not A but C", "C"),
    ("Not (A), not (B), not (C)", NO_OPTION),
    ("Hepatitis B is seen", NO_OPTION),
    ("T cells and H&E staining", NO_OPTION),
    ("α-SMA positive", NO_OPTION),
    ("The nuclei are small.\nB", "B"),
    ("The nuclei are small.\nB\nC", SEVERAL),
    ("A) Necrosis\nB) Fibrosis", SEVERAL),
    ("A) Necrosis\nB) Fibrosis\nAnswer: B", "B"),
    ("I see (B) here, and again (B)", "B"),
    ("No idea", NO_OPTION),
    ("", EMPTY),
    (" ... ", EMPTY),
    ("<think>it is B", EMPTY),
    ("I'm sorry, I can't assist with that.", DECLINED),
    ("I cannot determine the diagnosis, but (B) fits.", DECLINED),
    ("I am sorry for the delay: (B) fits.", "B"),
)
JSON = (
    ('{"answer": "C"}', "C"),
    ('```json\n{"final_answer": "B) Fibrosis"}\n```', "B"),
    ('{"answer": null}', "unparsed:null_answer"),
    ('{"answer": ["A", "B"]}', SEVERAL),
    ('[{"choice": "A"}, {"choice": "A"}]', "A"),
    ('{"reason": "C", "answer": "I think it is B."}', "B"),
    ('{"cell": "see"} (C)', "C"),
    ('{"answer": "B" (as said', "B"),
    ('["A", {"option": "D"}]', "D"),
)
LISTS = tuple(
    (reply, SEVERAL)
    for reply in (
        *("A or B", "B or A", "A OR B.", "Either A or C", "Both A and D", "A and B"),
        *("(A or B)", "A / B", "A & B", "A (or B)", "A and/or B", "**A** or **B**"),
        *("A or maybe B", "A, or possibly B", "A as well as B", "A vs. B", "B or E"),
        *(
            "Option A or option B",
            "Options A and B",
            "A\nor\nB",
            "A, B or C",
            "B or I.",
        ),
        *("The answer is A or B", "The answer is either A or B.", "\\boxed{A or B}"),
        *(
            "The answer is both A and D",
            "The answer is A or perhaps B",
            "Answers: C, D",
        ),
        *(
            "Both A and D are correct.",
            "Either A or B is correct.",
            "It could be A or B.",
        ),
        *("The correct options are A and B", "I cannot decide between A and B"),
        *("La respuesta es A o B", "La respuesta es C o D", "La réponse est A ou B"),
        *("Die Antwort ist C oder D", "La risposta è C e D", "A resposta é A ou B"),
        *(
            "答案是A或B",
            "答案：A、B",
            "C和D",
            "答えはAまたはB",
            "정답은 C 또는 D입니다",
        ),
        *('{"answer": "A or B"}', '{"answer": "Either A or C"}'),
    )
)
DECIDED = (
    ("A, not B", "A"),
    ("B rather than A", "B"),
    ("I considered A, but the answer is B", "B"),
    ("A or B? The answer is B.", "B"),
    ("A or B? I choose B.", "B"),
    ("C, not A or B", "C"),
    ("C rather than A or B", "C"),
    ("The answer is not A or B, but C", "C"),
    ("Options A and B can be excluded; C", "C"),
    ("Neither A nor B is correct.", NO_OPTION),
    ("It is B and I think of a scar.", "B"),
    ("La risposta è B e il tessuto è fibroso", "B"),
    ("Hepatitis B and C are seen", NO_OPTION),
    ("T and B cells, H and E stain: (B)", "B"),
    ("Option A/B", NO_OPTION),
    ("A/B", NO_OPTION),
    ("a or b", NO_OPTION),
    ("X and Y chromosomes, so (B)", "B"),
)
ALL = (*LETTERS, *WORDS, *MARKED, *PROSE, *JSON, *LISTS, *DECIDED)
