"""Ask where findings are on a folder of radiographs, and plot how often it is right.

python localize.py FOLDER; without one, synthetic radiographs are made and asked about.
"""

import sys

import matplotlib.pyplot as plt

from viewer import api

folder = sys.argv[1] if len(sys.argv) > 1 else api.phantom("phantom", n=8)

with api.open_store("localize.sqlite") as store:
    data = store.import_dataset("auto", folder)
    plan = store.plan(
        "grid_localization", data.name, ["asymmetry"], params={"grids": [8]}
    )
    run = store.run(plan)
    print(f"{run.planned} trials: {dict(run.counts)}")
    rates = store.table(run, "results").dataframe()

shown = rates[(rates.view == "all") & ~rates.finding.isin(["(macro)", "(micro)"])]
place = range(len(shown))
ends = [shown.hit_rate - shown.ci_low, shown.ci_high - shown.hit_rate]
plt.barh(place, shown.hit_rate, xerr=ends, color="#0072b2", label="hit rate, 95 %")
plt.plot(shown.random_baseline, place, "k|", markersize=16, label="random cell")
plt.yticks(place, shown.finding)
plt.xlim(0, 1)
plt.legend(loc="upper center", bbox_to_anchor=(0.5, -0.08), ncols=2)
plt.savefig("hit_rates.png", bbox_inches="tight")
