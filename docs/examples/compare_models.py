"""Ask two models the same questions, and compare their records with pandas.

python compare_models.py FOLDER; without one, synthetic radiographs are made.
"""

import sys

import pandas as pd

from viewer import api

MODELS = ("asymmetry", "frequent_cell")
folder = sys.argv[1] if len(sys.argv) > 1 else api.phantom("phantom", n=8)

with api.open_store("compare.sqlite") as store:
    data = store.import_dataset("auto", folder)
    run = store.run(store.plan("grid_localization", data.name, MODELS))
    records = store.records(run)

# The mean of correct is the rate of the report: what is in no rate is missing.
print(records.groupby(["finding", "model"]).correct.agg(["mean", "count"]))

right = records.pivot(
    index=["patient", "item", "condition"], columns="model", values="correct"
)
print(pd.crosstab(right.asymmetry, right.frequent_cell))

differ = right[right.asymmetry != right.frequent_cell]
differ.reset_index().to_csv("where_they_differ.csv", index=False)
print(f"{len(differ)} of {len(right)} questions differ, see where_they_differ.csv")
