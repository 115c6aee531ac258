"""Ask one question about one image, and save the picture of the answer.

python ask_one.py IMAGE; without one, a synthetic radiograph is made and asked about.
"""

import sys

from viewer import api

if len(sys.argv) > 1:
    image = sys.argv[1]
else:
    image = next(api.phantom("phantom", n=1).rglob("view1_frontal.dcm"))

with api.open_store("ask.sqlite") as store:
    answer = store.ask(image, "Pleural Effusion", model="asymmetry", grid=8)

print(f"{answer.model} says {answer.cell}: {answer.reply}")
for box in answer.boxes:
    print(f"native pixels: x {box.x0:g} to {box.x1:g}, y {box.y0:g} to {box.y1:g}")
answer.save("overlay.png")
