"""Checks of a table before training: leakage, duplicates and contradictory labels.

A pass over the rows counts in bounded memory: how often each value of a column of few
values occurs with each class, and hashes of rows (a bottom-k sample if there are very many).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from granulearn.tables.labels import label_key
from granulearn.tables.messages import Message, Setting, listed
from granulearn.tables.schema import Schema, TypedRows

# A column of more different values is not a code of the target.
FEW_VALUES = 1000
# Pairs of value and class that are counted; a code of the target has hardly more than values.
MAX_PAIRS = 100_000
# Different rows that are kept: up to this number duplicates are counted exactly.
MAX_ROWS = 1 << 20
# Fewer rows than this can agree by chance.
MIN_ROWS = 20
# Leakage: the share of rows whose class the column tells, of all rows and as the mean over the
# classes. The second keeps a class of one row in a thousand from being overlooked.
LEAK_SHARE = 0.995
LEAK_BALANCED_SHARE = 0.99
# Nearly leakage. Of some 200 public tables, five have such a column that is honest.
NEAR_SHARE = 0.97
# A leak that is missing in most rows still decides the others.
MIN_KNOWN = 0.2
# A value that occurs once tells any class; a few of them among many others do no harm.
MIN_REPEATED = 0.9
# Twenty values of twenty rows each may tell three classes, two hundred of two rows may not.
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

# Columns of these kinds are left out, the most severe first; of the others users are warned.
_LEAKS = {
    "copy": "it holds the labels themselves",
    "code": "each of its values stands for one class",
    "filled": "whether it is filled in tells the class",
}
_WARNINGS = {
    "separated": "The values of the classes do not overlap in",
    "named": "Cells name the label of their row in",
    "near": "A single column tells the class of nearly all rows:",
    "prediction": "Output of `granulearn predict` seems to be in",
}
_KINDS = (*_LEAKS, *_WARNINGS)
_LISTED = 5
_COLUMNS = ["value", "label", "rows", "lowest", "highest"]


@dataclass(frozen=True, eq=False)
class CheckStatistics:
    """Counts over some rows; `+` adds those of the rows that follow."""

    columns: dict[str, pa.Table]
    """By feature: `value`, `label` (code of the class), `rows`, `lowest` and `highest` (of
    numbers). The value is null for a missing cell, and one for all others if there are many.
    Features with too many pairs of value and label are left out."""
    rows: pa.Table
    """`inputs` (hash), `label` (code, -1 for none), `rows` and `first` (row number)."""
    bound: int = 2**64
    """Hashes of inputs from here on are left out."""

    def __add__(self, later: CheckStatistics) -> CheckStatistics:
        both = self.columns.keys() & later.columns.keys()
        columns = {
            name: _added(["value", "label"], table, later.columns[name])
            for name, table in self.columns.items()
            if name in both
        }
        columns = {name: table for name, table in columns.items() if table.num_rows <= MAX_PAIRS}
        joined = CheckStatistics(
            columns, pa.concat_tables([self.rows, later.rows]), min(self.bound, later.bound)
        )
        # Grouping now and then costs less than after every batch.
        return joined if joined.rows.num_rows <= 2 * MAX_ROWS else joined.sampled()

    def sampled(self) -> CheckStatistics:
        """Return the statistics with equal rows added up; of very many, those of lowest hash."""
        complete = pc.less_equal(self.rows["inputs"], pa.scalar(self.bound - 1, pa.uint64()))
        rows, bound = _added(["inputs", "label"], self.rows.filter(complete)), self.bound
        if rows.num_rows > MAX_ROWS:
            rows = rows.sort_by("inputs")
            bound = rows["inputs"][MAX_ROWS].as_py()
            rows = rows.filter(pc.less(rows["inputs"], pa.scalar(bound, pa.uint64())))
        return CheckStatistics(self.columns, rows, bound)


def _added(keys: list[str], *tables: pa.Table) -> pa.Table:
    """Return the rows of several tables, those with equal keys added up."""
    how = {"rows": "sum", "first": "min", "lowest": "min", "highest": "max"}
    table = pa.concat_tables(tables)
    names = [name for name in table.column_names if name in how]
    grouped = table.group_by(keys).aggregate([(name, how[name]) for name in names])
    return grouped.rename_columns([*keys, *names])


def check_rows(
    typed: TypedRows, names: pa.Array | None, schema: Schema, classes: Sequence[str], first_row: int
) -> CheckStatistics:
    """Count what the checks need of some rows.

    Parameters
    ----------
    typed : TypedRows
        The rows as `schema` reads them.
    names : pyarrow Array of strings, or None
        Class of each row, null for none; None if the table has no target.
    schema : Schema
        Of the table.
    classes : sequence of str
        All classes of the target.
    first_row : int
        Number of the first row in the table.
    """
    import pandas as pd

    # Adding zero makes -0.0 the same as 0.0.
    cells = {n: c + 0.0 if isinstance(c, np.ndarray) else c for n, c in typed.cells.items()}
    hashes = pd.util.hash_pandas_object(TypedRows(cells, {}).to_frame(), index=False).to_numpy()
    names = pa.nulls(len(hashes), pa.string()) if names is None else names
    label = pc.index_in(names, pa.array(classes, pa.string())).fill_null(-1)
    is_labelled = pc.greater_equal(label, 0)
    ones, row = np.ones(len(label), np.int64), np.arange(first_row, first_row + len(label))
    rows = pa.table({"inputs": hashes, "label": label, "rows": ones, "first": row})
    few = {f for c in schema.used if c.distinct <= FEW_VALUES for f in c.feature_names}
    columns = {}
    for name, column in cells.items():
        value = pa.array(column, from_pandas=True)
        number = value if isinstance(column, np.ndarray) else pa.nulls(len(value), pa.float64())
        if pa.types.is_dictionary(value.type):
            value = value.dictionary_decode()
        if name not in few:
            value = pc.if_else(value.is_valid(), "", pa.scalar(None, pa.string()))
        table = pa.table([value, label, ones, number, number], _COLUMNS).filter(is_labelled)
        columns[name] = _added(["value", "label"], table)
    return CheckStatistics(columns, _added(["inputs", "label"], rows))


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
    """Return the findings of all checks.

    Parameters
    ----------
    statistics : CheckStatistics
        Of all rows.
    schema : Schema
        Of the table.
    classes : sequence of str
        All classes of the target; none if there is no target.
    include : collection of str
        Columns to use even if they leak.
    """
    found: dict[str, tuple[str, float, str]] = {}
    predictions = _predictions([column.name for column in schema.used])
    for column in schema.used:
        leakages = [("prediction", 1.0, column.name)] if column.name in predictions else []
        for feature in column.feature_names:
            if feature in statistics.columns:
                kind, share = _leakage(statistics.columns[feature], classes)
                leakages += [(kind, share, feature)] if kind else []
        if leakages:
            found[column.name] = min(leakages, key=lambda leakage: _KINDS.index(leakage[0]))
    leaks = [name for name, (kind, _, _) in found.items() if kind in _LEAKS]
    left_out = [name for name in leaks if name not in include and len(leaks) < len(schema.used)]
    warnings: list[str] = []
    for name in leaks:
        kind, share, feature = found[name]
        by = "" if feature == name else f"by {feature!r}, which it becomes: "
        warnings.append(
            Message(
                f"Column {name!r} leaks the target ({by}{_LEAKS[kind]}, right in "
                f"{100 * share:.1f} % of its rows): ",
                "it is left out; to use it anyway: "
                if name in left_out
                else "it is used; to leave it out: ",
                Setting("include" if name in left_out else "ignore", (name,)),
                ".",
            )
        )
    for kind, about in _WARNINGS.items():
        shares = {name: share for name, (own, share, _) in found.items() if own == kind}
        shown = [f"{n!r} ({100 * s:.1f} %)" if s < 1 else repr(n) for n, s in shares.items()]
        if shown:
            advice = "; if not known before the label, pass "
            step = Setting("ignore", tuple(shares)[:_LISTED])
            warnings.append(Message(f"{about} {listed(shown, most=_LISTED)}{advice}", step, "."))
    duplicates, conflicts, more = _duplicates(statistics.sampled(), labelled=bool(classes))
    return Findings(tuple(left_out), duplicates, conflicts, (*warnings, *more))


def _predictions(names: list[str]) -> list[str]:
    """Return columns named like predictions; those of several outputs are numbered and last."""
    n_numbered = sum(bool(re.fullmatch("prediction_[1-9][0-9]*", name)) for name in names)
    numbered = [f"prediction_{number}" for number in range(1, n_numbered + 1)]
    return numbered if n_numbered > 1 and names[-n_numbered:] == numbered else ["prediction"]


def _leakage(table: pa.Table, classes: Sequence[str]) -> tuple[str, float]:
    """Return how a feature tells the class, and of what share of rows; '' if it does not."""
    encoded = table["value"].combine_chunks().dictionary_encode(null_encoding="encode")
    values = np.array(encoded.dictionary.to_pylist(), object)
    counts = np.zeros((len(values), len(classes)), np.int64)
    counts[np.asarray(encoded.indices), table["label"].to_numpy()] = table["rows"].to_numpy()
    is_known = np.array([value is not None for value in values], bool)
    known = counts[is_known] if counts[is_known].sum() >= MIN_KNOWN * counts.sum() else counts[:0]
    share, told = told_classes(known)
    if share:
        pairs = zip(values[is_known], told, strict=True)
        copy = all(label_key(str(v)) == label_key(classes[c]) for v, c in pairs if c >= 0)
        return "copy" if copy else "code", share
    if not is_known.all() and (share := told_classes(counts)[0]):
        return "filled", share
    if _is_separated(table):
        return "separated", 1.0
    if share := _naming_share(values, counts, classes):
        return "named", share
    share, _ = told_classes(known, NEAR_SHARE, NEAR_SHARE)
    return ("near" if share else ""), share


def told_classes(
    counts: np.ndarray,
    min_share: float = LEAK_SHARE,
    min_balanced_share: float = LEAK_BALANCED_SHARE,
) -> tuple[float, np.ndarray]:
    """Return the share of rows that are of the class of their value, and this class.

    The share is 0 if the values do not tell the classes, and the class -1 for a value that
    occurs once.

    Parameters
    ----------
    counts : ndarray of shape (n_values, n_classes)
        Rows of each value and class.
    min_share, min_balanced_share : float
        Share of rows to be told, of all and as the mean over the classes.
    """
    total, n_classes = counts.sum(), np.count_nonzero(counts.any(axis=0))
    told = (
        np.where(counts.sum(axis=1) > 1, counts.argmax(axis=1), -1)
        if counts.size
        else np.full(0, -1)
    )
    repeated, codes = counts[told >= 0], told[told >= 0]
    of_class = repeated.sum(axis=0)
    is_present = of_class > 0
    if (
        total < MIN_ROWS
        or len(counts) > max(VALUES_PER_CLASS * n_classes, total / ROWS_PER_VALUE)
        or of_class.sum() < MIN_REPEATED * total
        or is_present.sum() < 2
    ):
        return 0.0, told
    right = np.bincount(codes, repeated.max(axis=1), minlength=counts.shape[1])
    share = float(right.sum() / of_class.sum())
    balanced_share = (right[is_present] / of_class[is_present]).mean()
    return (share if share >= min_share and balanced_share >= min_balanced_share else 0.0), told


def _is_separated(table: pa.Table) -> bool:
    """Return whether the numbers of the classes do not overlap."""
    ranges = _added(["label"], table.filter(table["lowest"].is_valid()))
    ranges = ranges.filter(pc.greater_equal(ranges["rows"], SEPARATED_ROWS)).sort_by("lowest")
    n_known, n_rows = pc.sum(ranges["rows"]).as_py() or 0, pc.sum(table["rows"]).as_py() or 0
    if ranges.num_rows < 2 or n_known < max(MIN_ROWS, MIN_KNOWN * n_rows):
        return False
    return bool((ranges["highest"].to_numpy()[:-1] < ranges["lowest"].to_numpy()[1:]).all())


def _naming_share(values: np.ndarray, counts: np.ndarray, classes: Sequence[str]) -> float:
    """Return the share of texts that name the label of their row; 0 if it is too small."""
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
    if naming < max(MIN_ROWS, MIN_NAMING * total) or naming - right > allowed * naming:
        return 0.0
    return float(right / total)


def _duplicates(statistics: CheckStatistics, *, labelled: bool) -> tuple[int, int, list[str]]:
    """Return how many rows repeat others, how many contradict others, and messages."""
    pairs, scale = statistics.rows.to_pandas(), 2**64 / max(statistics.bound, 1)
    duplicates = round((pairs["rows"].sum() - len(pairs)) * scale)
    conflicting = pairs[pairs["label"] >= 0].sort_values("first")
    conflicting = conflicting[conflicting.duplicated("inputs", keep=False)]
    conflicts = round(conflicting["rows"].sum() * scale)
    about, messages = "" if scale == 1 else "About ", []
    if duplicates:
        repeat = "row repeats" if duplicates == 1 else "rows repeat"
        how = "label included" if labelled else "in all columns that are used"
        messages.append(
            f"{about}{duplicates} {repeat} an earlier one, {how}; duplicates in the test rows "
            "inflate the scores: remove them unless they are different cases."
        )
    if conflicts:
        some = conflicting[conflicting["inputs"].isin(conflicting["inputs"].unique()[:3])]
        groups = [rows.tolist() for _, rows in some.groupby("inputs", sort=False)["first"]]
        examples = ", ".join(f"{a + 1} and {b + 1}" for a, b, *_ in groups)
        messages.append(
            f"{about}{conflicts} rows have the same inputs as a row with another label (data rows "
            f"{examples}): one of the labels is wrong, or an input is missing."
        )
    return duplicates, conflicts, messages
