"""Let your own code answer a study's questions, and read the study's tables.

python answer_elsewhere.py FOLDER; without one, synthetic tiles of tissue are made.
"""

import json
import sys
from pathlib import Path

from viewer import api

if len(sys.argv) > 1:
    tiles = Path(sys.argv[1])
else:
    tiles = api.phantom("tiles", n=6, study="pathology_mcq")


def my_model(messages: list[dict], images: list[Path]) -> str:
    """Stand for any model: it sees the exact messages and the exact image files."""
    asks_for_a_letter = "letter" in messages[-1]["content"][-1]["text"]
    return "(A)" if images and asks_for_a_letter else "(B)"


with api.open_store("elsewhere.sqlite") as store:
    store.import_dataset("pathmmu", tiles, tiles.name)
    study = tiles / "study.toml"
    requests = store.export_requests(study, "questions")

    with Path("replies.jsonl").open("w", encoding="utf-8") as replies:
        for line in requests.read_text(encoding="utf-8").splitlines():
            asked = json.loads(line)
            images = [requests.parent / name for name in asked["images"]]
            key = {k: asked[k] for k in ("item", "condition", "repeat", "step")}
            reply = my_model(asked["messages"], images)
            replies.write(json.dumps({**key, "reply": reply}) + "\n")

    run = store.import_replies("replies.jsonl", study=study, name="my-model")
    print(f"run {run.id}: {dict(run.counts)}")
    print(store.table(run, "accuracy_paper").csv())
