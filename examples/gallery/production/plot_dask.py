"""
Dask on a laptop
================

A table that does not fit in memory is read in blocks. `granulearn.dask` fits
block by block, and what comes out is the ordinary classifier. It needs no cluster:
Dask's own threads are enough.

In the guide: :doc:`/guide/dask`.
"""

# %%
# A directory of Parquet files stands for the large table. Here it is small, so that the
# page is built quickly, and lives in a temporary directory.

import tempfile
import tracemalloc
from pathlib import Path

import dask
import dask.dataframe as dd
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import make_classification

from granulearn import RVFLClassifier
from granulearn.dask import DaskRVFLClassifier

plt.style.use("granulearn.bench.style")
COLUMNS = [f"sensor {number}" for number in range(20)]
ROWS, BLOCKS = 5_000, 16
X, y = make_classification(ROWS * BLOCKS, 20, n_informative=10, random_state=0)
folder = tempfile.TemporaryDirectory()
for number in range(BLOCKS):
    part = slice(number * ROWS, (number + 1) * ROWS)
    frame = pd.DataFrame(X[part], columns=COLUMNS).assign(fails=y[part])
    frame.to_parquet(Path(folder.name) / f"{number:03}.parquet")

# %%
# The same rows, fitted by blocks and whole in memory. It is the same sum in another
# order, so only the last digits differ.

files = sorted(Path(folder.name).glob("*.parquet"))
table = dd.read_parquet(files)
by_blocks = DaskRVFLClassifier(random_state=0).fit(table[COLUMNS], table["fails"])
frame = pd.read_parquet(files)
whole = RVFLClassifier(random_state=0).fit(frame[COLUMNS], frame["fails"])
print(table.npartitions, "blocks,", len(frame), "rows")
difference = np.abs(by_blocks.coef_ - whole.coef_).max()
print(f"largest difference of an output weight: {difference:.1g}")
print("what was fitted:", by_blocks.estimator_)

# %%
# Predictions are lazy, too: nothing is computed before they are written, or asked for.

predicted = by_blocks.predict(table[COLUMNS])
share = (predicted == table["fails"]).mean().compute(scheduler="synchronous")
print(f"{share:.1%} of the rows are predicted right")

# %%
# What it is for: the memory that a fit needs at its peak, as the table grows. Blocks
# are read one after the other here (``scheduler="synchronous"``); with threads a few
# are in memory at a time.


def peak_megabytes(fit):
    tracemalloc.start()
    fit()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def fit_whole(files):
    frame = pd.read_parquet(files)
    RVFLClassifier(random_state=0).fit(frame[COLUMNS], frame["fails"])


def fit_by_blocks(files):
    table = dd.read_parquet(files)
    with dask.config.set(scheduler="synchronous"):
        DaskRVFLClassifier(random_state=0).fit(table[COLUMNS], table["fails"])


sizes = [2, 4, 8, 16]
peaks = {
    "whole, in memory": [
        peak_megabytes(lambda n=n: fit_whole(files[:n])) for n in sizes
    ],
    "by blocks": [peak_megabytes(lambda n=n: fit_by_blocks(files[:n])) for n in sizes],
}
folder.cleanup()

figure, ax = plt.subplots(figsize=(7, 3.8))
for (name, numbers), marker in zip(peaks.items(), "so", strict=True):
    ax.plot(np.array(sizes) * ROWS, numbers, marker=marker, label=name)
ax.set(xlabel="rows of the table", ylabel="peak memory of arrays, MB", xlim=0, ylim=0)
ax.xaxis.set_major_formatter("{x:,.0f}")
ax.grid(axis="y")
ax.legend()
plt.show()

# %%
# More cores, or more machines? The same code inside of ``open_client`` runs on a
# cluster:
#
# .. code-block:: python
#
#     from granulearn.dask import open_client
#
#     if __name__ == "__main__":  # worker processes import this file
#         with open_client("local"):  # or open_client("tcp://10.0.0.1:8786")
#             model = DaskRVFLClassifier(random_state=0)
#             model.fit(table[COLUMNS], table["fails"])
