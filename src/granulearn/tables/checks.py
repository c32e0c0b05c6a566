"""Checks of a table before training: leakage, duplicates and contradictory labels.

A pass over the rows counts in bounded memory: how often each value of a column of few
values occurs with each class, and hashes of rows (a bottom-k sample if there are very many).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from granulearn.tables.labels import label_key
from granulearn.tables.messages import Message, Setting
from granulearn.tables.schema import Schema, TypedRows
from granulearn.utils.text import counted, listed

# A column of more distinct values is no code of the target.
FEW_VALUES = 1000
# Pairs of value and class that are counted; a code of the target has hardly more than values.
MAX_PAIRS = 100_000
# Distinct rows to keep: up to this number duplicates are counted exactly.
MAX_ROWS = 1 << 20
# Fewer rows than this can agree by chance.
MIN_ROWS = 20
# Leakage: the share of rows whose class the column predicts, of all rows and as the mean over the
# classes. The second keeps a class of one row in a thousand from being overlooked.
LEAK_SHARES = (0.995, 0.99)
# Nearly leakage. Of some 200 public tables, five have such a column that is honest.
NEAR_SHARE = 0.97
# A leak that is missing in most rows still decides the others.
MIN_KNOWN = 0.2
# A value that occurs once predicts any class; a few of them among many others do no harm.
MIN_REPEATED = 0.9
# Twenty values of twenty rows each may predict three classes, two hundred of two rows may not.
VALUES_PER_CLASS = 2
ROWS_PER_VALUE = 10
# A class of fewer rows is separated from the others by chance.
SEPARATED_ROWS = 5
# Cells that name the label: the share of cells that name a class, and how often they may be
# wrong, as a share and relative to always naming the most frequent class.
MIN_NAMING = 0.5
MAX_MISNAMED = 0.03
MAX_MISNAMED_OF_CHANCE = 0.3
# Shorter names, as "no" or "a", are words of any text; more classes take long to look for.
SHORTEST_NAME = 3
MAX_NAMES = 200

# How a column predicts the class, the most severe first; columns of the first three are dropped.
_KINDS = {
    "copy": "leak the target (they hold the labels themselves)",
    "code": "leak the target (each value stands for one class)",
    "filled": "leak the target (whether a cell is filled in predicts the class)",
    "separated": "may leak the target (their values do not overlap between classes)",
    "named": "may leak the target (their cells name the label)",
    "near": "may leak the target (their values predict the class of nearly all rows)",
    "prediction": "may leak the target (they are named like output of `granulearn predict`)",
    "": "do not leak the target",
}
_LEAKS = ("copy", "code", "filled")
_COLUMNS = ["value", "label", "rows", "lowest", "highest"]


@dataclass(frozen=True, eq=False)
class CheckStatistics:
    """Counts of value and label, and hashes of rows; `+` adds later rows."""

    columns: dict[str, pa.Table]
    """By feature: `value`, `label` (code of the class), `rows`, `lowest` and `highest` (of
    numbers). The value is null for a missing cell, and one for all others if there are many.
    Features with too many pairs of value and label are left out."""
    rows: pa.Table
    """`inputs` (hash), `label` (code, -1 for none), `rows` and `first` (row number)."""
    bound: int = 2**64
    """Hashes of inputs from here on are left out."""

    def __add__(self, later: CheckStatistics) -> CheckStatistics:
        both = [name for name in self.columns if name in later.columns]
        keys = ["value", "label"]
        columns = {n: add_up(keys, self.columns[n], later.columns[n]) for n in both}
        columns = {name: table for name, table in columns.items() if table.num_rows <= MAX_PAIRS}
        rows, bound = pa.concat_tables([self.rows, later.rows]), min(self.bound, later.bound)
        joined = CheckStatistics(columns, rows, bound)
        # Grouping now and then costs less than after every batch.
        return joined if rows.num_rows <= 2 * MAX_ROWS else joined.sampled()

    def sampled(self) -> CheckStatistics:
        """Add up equal rows; keep a bottom-k sample by hash if there are very many."""
        bound = self.bound
        # A bound of 2**64 is none, and does not fit into 64 bits.
        below_bound = pc.less_equal(self.rows["inputs"], pa.scalar(bound - 1, pa.uint64()))
        rows = add_up(["inputs", "label"], self.rows.filter(below_bound))
        if rows.num_rows > MAX_ROWS:
            rows = rows.sort_by("inputs")
            bound = rows["inputs"][MAX_ROWS].as_py()
            below_bound = pc.less(rows["inputs"], pa.scalar(bound, pa.uint64()))
            rows = rows.filter(below_bound)
        return CheckStatistics(self.columns, rows, bound)


def add_up(keys: list[str], *tables: pa.Table) -> pa.Table:
    """Concatenate tables, and aggregate the rows of equal keys."""
    how = {"rows": "sum", "first": "min", "lowest": "min", "highest": "max"}
    table = pa.concat_tables(tables)
    names = [name for name in table.column_names if name in how]
    grouped = table.group_by(keys).aggregate([(name, how[name]) for name in names])
    return grouped.rename_columns([*keys, *names])


def check_rows(
    typed: TypedRows, names: pa.Array | None, schema: Schema, classes: Sequence[str], first_row: int
) -> CheckStatistics:
    """Count some rows for the checks; `names` has the class of each row, null for none."""
    import pandas as pd

    # Adding zero makes -0.0 the same as 0.0.
    cells = {n: c + 0.0 if isinstance(c, np.ndarray) else c for n, c in typed.cells.items()}
    hashes = pd.util.hash_pandas_object(TypedRows(cells, {}).to_frame(), index=False).to_numpy()
    names = pa.nulls(len(hashes), pa.string()) if names is None else names
    label = pc.index_in(names, pa.array(classes, pa.string())).fill_null(-1)
    ones, row = np.ones(len(label), np.int64), np.arange(first_row, first_row + len(label))
    few = {f for c in schema.used if c.distinct <= FEW_VALUES for f in c.feature_names}
    columns = {}
    for name, column in cells.items():
        value = pa.array(column, from_pandas=True)
        number = value if isinstance(column, np.ndarray) else pa.nulls(len(value), pa.float64())
        if name not in few:
            value = pc.if_else(value.is_valid(), "", pa.scalar(None, pa.string()))
        table = pa.table([value, label, ones, number, number], _COLUMNS)
        labelled = table.filter(pc.greater_equal(label, 0))
        columns[name] = add_up(["value", "label"], labelled)
    rows = pa.table([hashes, label, ones, row], ["inputs", "label", "rows", "first"])
    return CheckStatistics(columns, add_up(["inputs", "label"], rows))


@dataclass(frozen=True)
class Findings:
    """Results of all checks."""

    leaks: tuple[str, ...]
    """Columns that alone tell the class and are not to be used."""
    duplicates: int
    """Rows that repeat an earlier one, label included."""
    conflicts: int
    """Labelled rows whose inputs occur under another label as well."""
    warnings: tuple[str, ...]
    """Messages about these, and about columns that may leak the class."""


def find(
    statistics: CheckStatistics, schema: Schema, classes: Sequence[str], include: Collection[str]
) -> Findings:
    """Return the findings of all checks; columns to include are used even if they leak."""
    found: dict[str, Leakage] = {}
    severity = [*_KINDS]
    for column in schema.used:
        features = [name for name in column.feature_names if name in statistics.columns]
        leakages = [find_leakage(name, statistics.columns[name], classes) for name in features]
        if re.fullmatch("prediction(_[0-9]+)?", column.name):
            leakages.append(Leakage("prediction", 1.0, column.name))
        worst = min(leakages, key=lambda leakage: severity.index(leakage.kind), default=_NONE)
        if worst.kind:
            found[column.name] = worst
    leaks = [name for name, leakage in found.items() if leakage.kind in _LEAKS]
    dropped = [name for name in leaks if name not in include and len(leaks) < len(schema.used)]
    warnings: list[str] = []
    for kind, drop in product(_KINDS, (True, False)):
        own = [name for name, leakage in found.items() if leakage.kind == kind]
        own = [name for name in own if (name in dropped) == drop]
        if own:
            shown = listed([found[name].shown for name in own])
            step = "dropped unless you pass" if drop else "if not known before the label, pass"
            setting = Setting("include" if drop else "ignore", tuple(own)[:10])
            warnings.append(Message(f"Columns {_KINDS[kind]}: {shown}; {step} ", setting, "."))
    duplicates, conflicts, more = _duplicates(statistics.sampled(), labelled=bool(classes))
    return Findings(tuple(dropped), duplicates, conflicts, (*warnings, *more))


class Leakage(NamedTuple):
    """How a feature predicts the class."""

    kind: str
    """A key of `_KINDS`; '' if it does not."""
    share: float
    """Of the rows with a value, those whose class it predicts."""
    feature: str

    @property
    def shown(self) -> str:
        """The feature with its share, for messages."""
        share = f" ({100 * self.share:.1f} % of the rows)" if self.share < 1 else ""
        return f"{self.feature!r}{share}"


_NONE = Leakage("", 0.0, "")


def find_leakage(feature: str, table: pa.Table, classes: Sequence[str]) -> Leakage:
    """Return how a feature predicts the class, from its counts in `CheckStatistics.columns`."""
    encoded = table["value"].combine_chunks().dictionary_encode(null_encoding="encode")
    values = np.array(encoded.dictionary.to_pylist(), object)
    counts = np.zeros((len(values), len(classes)), np.int64)
    counts[np.asarray(encoded.indices), table["label"].to_numpy()] = table["rows"].to_numpy()
    is_known = np.array([value is not None for value in values], bool)
    known = counts[is_known] if counts[is_known].sum() >= MIN_KNOWN * counts.sum() else counts[:0]
    share, majority = majority_classes(known)
    if share:
        pairs = zip(values[is_known], majority, strict=True)
        is_copy = all(label_key(str(v)) == label_key(classes[c]) for v, c in pairs if c >= 0)
        return Leakage("copy" if is_copy else "code", share, feature)
    if not is_known.all() and (share := majority_classes(counts)[0]):
        return Leakage("filled", share, feature)
    if _is_separated(table):
        return Leakage("separated", 1.0, feature)
    if share := _naming_share(values, counts, classes):
        return Leakage("named", share, feature)
    share = majority_classes(known, (NEAR_SHARE, NEAR_SHARE))[0]
    return Leakage("near" if share else "", share, feature)


def majority_classes(
    counts: np.ndarray, min_shares: tuple[float, float] = LEAK_SHARES
) -> tuple[float, np.ndarray]:
    """Return the share of rows in the majority class of their value, and this class per value.

    The share is 0 if it is too small for leakage, and the class -1 for a value that occurs once.
    `counts` has a row per value and a column per class; `min_shares` are the least shares: of all
    rows, and as the mean over the classes.
    """
    total, n_classes = counts.sum(), np.count_nonzero(counts.any(axis=0))
    majority = np.full(len(counts), -1)
    if counts.size:
        majority = np.where(counts.sum(axis=1) > 1, counts.argmax(axis=1), -1)
    repeated, codes = counts[majority >= 0], majority[majority >= 0]
    of_class = repeated.sum(axis=0)
    is_present = of_class > 0
    too_few = total < MIN_ROWS or of_class.sum() < MIN_REPEATED * total or is_present.sum() < 2
    if too_few or len(counts) > max(VALUES_PER_CLASS * n_classes, total / ROWS_PER_VALUE):
        return 0.0, majority
    right = np.bincount(codes, repeated.max(axis=1), minlength=counts.shape[1])
    share = float(right.sum() / of_class.sum())
    balanced_share = (right[is_present] / of_class[is_present]).mean()
    enough = share >= min_shares[0] and balanced_share >= min_shares[1]
    return (share if enough else 0.0), majority


def _is_separated(table: pa.Table) -> bool:
    """Return whether the numbers of the classes do not overlap."""
    ranges = add_up(["label"], table.filter(table["lowest"].is_valid()))
    ranges = ranges.filter(pc.greater_equal(ranges["rows"], SEPARATED_ROWS)).sort_by("lowest")
    n_known, n_rows = pc.sum(ranges["rows"]).as_py() or 0, pc.sum(table["rows"]).as_py() or 0
    if ranges.num_rows < 2 or n_known < max(MIN_ROWS, MIN_KNOWN * n_rows):
        return False
    return bool((ranges["highest"].to_numpy()[:-1] < ranges["lowest"].to_numpy()[1:]).all())


def _naming_share(values: np.ndarray, counts: np.ndarray, classes: Sequence[str]) -> float:
    """Return the share of cells that name the label of their row; 0 if it is too small."""
    texts = [code for code, value in enumerate(values) if isinstance(value, str)]
    of_class = counts[texts].sum(axis=0)
    total = of_class.sum()
    keys = np.array([label_key(name) for name in classes], object)
    names = {key for key in keys if sum(map(str.isalpha, key)) >= SHORTEST_NAME}
    if total < MIN_ROWS or np.count_nonzero(of_class) < 2 or not 0 < len(names) <= MAX_NAMES:
        return 0.0
    # The longest first: "not good" does not name "good".
    words = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    pattern = re.compile(rf"(?<!\w)(?:{words})(?!\w)")
    naming = right = 0
    for code in texts:
        named = set(pattern.findall(label_key(values[code])))
        naming += counts[code].sum() if named else 0
        right += counts[code, keys == named.pop()].sum() if len(named) == 1 else 0
    allowed = min(MAX_MISNAMED, MAX_MISNAMED_OF_CHANCE * (1 - of_class.max() / total))
    enough = naming >= max(MIN_ROWS, MIN_NAMING * total) and naming - right <= allowed * naming
    return float(right / total) if enough else 0.0


def _duplicates(statistics: CheckStatistics, *, labelled: bool) -> tuple[int, int, list[str]]:
    """Return the numbers of duplicates and of conflicting rows, and messages."""
    pairs, scale = statistics.rows.to_pandas(), 2**64 / max(statistics.bound, 1)
    duplicates = round((pairs["rows"].sum() - len(pairs)) * scale)
    conflicting = pairs[pairs["label"] >= 0].sort_values("first")
    conflicting = conflicting[conflicting.duplicated("inputs", keep=False)]
    conflicts = round(conflicting["rows"].sum() * scale)
    about, messages = "" if scale == 1 else "About ", []
    if duplicates:
        how = "label included" if labelled else "in all columns that are used"
        messages.append(
            f"{about}{counted(duplicates, 'row repeats', 'rows repeat')} an earlier one, {how}; "
            "duplicates in the test rows inflate the scores: remove them unless they are different "
            "cases."
        )
    if conflicts:
        groups = conflicting.groupby("inputs", sort=False)["first"].agg(list)[:3]
        examples = ", ".join(f"{a + 1} and {b + 1}" for a, b, *_ in groups)
        messages.append(
            f"{about}{conflicts} rows have the same inputs as a row with another label (data rows "
            f"{examples}): one of the labels is wrong, or an input is missing."
        )
    return duplicates, conflicts, messages
