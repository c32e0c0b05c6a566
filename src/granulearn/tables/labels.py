"""Classes of a target: spellings joined, missing labels counted, doubtful labels named."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from itertools import islice

import pyarrow as pa
import pyarrow.compute as pc

from granulearn.tables.messages import Message, Setting, TableError
from granulearn.tables.parse.cells import as_text, is_nested, is_null_token
from granulearn.tables.parse.numbers import number_class
from granulearn.utils.text import counted, listed, quoted

LONGEST_LABEL = 1000
# Counting stops here, to bound the memory for a target of ten million distinct numbers.
MAX_SPELLINGS = 10_000
# A search by five-fold cross-validation needs each class in each fold.
ENOUGH_ROWS = 5
# More numbers than this are measurements if some have decimals or have few rows each.
MAX_NUMBER_CLASSES = 20
# More whole numbers than this are measurements if one of them is rare, as ages and counts are.
MAX_WHOLE_CLASSES = 50
# From this share of numbers among the classes on, the target holds measurements.
MOSTLY_NUMBERS = 0.95
# Words that name nearly every row are names or texts, unless there are few.
FEW_CLASSES = 10

_DECIMALS = re.compile(r"[.,]\d*[1-9]|[eE]-", re.ASCII)
_WHOLE = re.compile(r"\+?(-?[0-9]+)(\.0*)?")
_DIGITS = re.compile(r"\d+")
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")  # as `str` writes it


@dataclass(frozen=True)
class LabelProfile:
    """Spellings of the labels in some rows; `+` adds later rows."""

    spellings: Counter[str | None]
    """How often each occurs, in the order of the rows; None for an empty cell."""
    booleans: bool
    """Whether the column is stored as booleans, not as text that may spell some."""

    def __add__(self, later: LabelProfile) -> LabelProfile:
        joined = _first_spellings(self.spellings + later.spellings)
        return LabelProfile(joined, self.booleans and later.booleans)


def _first_spellings(spellings: Mapping[str | None, int]) -> Counter[str | None]:
    return Counter(dict(islice(spellings.items(), MAX_SPELLINGS + 1)))


def profile_labels(column: pa.Array, target: str) -> LabelProfile:
    """Count the spellings in some rows of the target."""
    if is_nested(column.type):
        raise TableError(
            f"Column {target!r}, the target, holds lists or bytes ({column.type}), not one label "
            "per row; choose another column."
        )
    text = as_text(column, trimmed=False)
    longest = pc.max(pc.utf8_length(text)).as_py() or 0
    if longest > LONGEST_LABEL:
        raise TableError(
            f"Column {target!r}, the target, holds a text of {longest:,} characters, and the name "
            f"of a class has at most {LONGEST_LABEL:,}; choose another column or shorten its texts."
        )
    texts, counts = (field.to_pylist() for field in text.value_counts().flatten())
    spellings = _first_spellings(dict(zip(texts, counts, strict=True)))
    return LabelProfile(spellings, pa.types.is_boolean(column.type))


def label_key(label: str) -> str:
    """Return the key of a label: equal for spellings that differ in case, blanks or Unicode form.

    Whole numbers have the key that `str` would write: 1, 1.0 and +1 are one class.
    """
    if not label.isascii():
        label = unicodedata.normalize("NFKC", label)
        # Characters without width, such as a soft hyphen, are invisible.
        label = "".join(sign for sign in label if unicodedata.category(sign) != "Cf")
    key = " ".join(label.casefold().split())
    if not key.isascii():
        key = unicodedata.normalize("NFKC", key)
    whole = _WHOLE.fullmatch(key)
    return whole[1] if whole else key


@dataclass(frozen=True)
class Labels:
    """The classes of a target, and messages about them."""

    classes: dict[str, int] = field(default_factory=dict)
    """Names of the classes, sorted, with their rows."""
    spellings: dict[str, str] = field(default_factory=dict)
    """The class of every spelling as it was read."""
    joined: dict[str, dict[str, int]] = field(default_factory=dict)
    """Classes of several spellings: each spelling with its rows, the most frequent first."""
    misspelt: tuple[tuple[str, str], ...] = ()
    """Rare classes with the frequent one that each looks like; they are not joined."""
    booleans: bool = False
    """Whether the column is stored as booleans."""
    unlabelled: dict[str, int] = field(default_factory=dict)
    """Null tokens with their rows; an empty cell is ''."""
    problems: tuple[str, ...] = ()
    """Why nothing can be learned from this target, and what to do."""
    warnings: tuple[str, ...] = ()
    """Joined spellings, missing and doubtful labels."""

    @property
    def small(self) -> dict[str, int]:
        """Classes with too few rows to learn and to test, with their rows."""
        return {name: rows for name, rows in self.classes.items() if rows < ENOUGH_ROWS}

    @property
    def whole_numbers(self) -> bool:
        """Whether every class is a whole number as `str` writes it."""
        return bool(self.classes) and all(map(_INTEGER.fullmatch, self.classes))


def decide_labels(profile: LabelProfile, target: str, *, exact: bool = False) -> Labels:
    """Return the classes of a target; unless `exact`, spellings with the same key are joined."""
    trimmed = pc.utf8_trim_whitespace(pa.array([*profile.spellings], pa.string()))
    are_missing = is_null_token(trimmed, of_labels=True).to_pylist()
    unlabelled: Counter[str] = Counter()
    counts: dict[str, int] = {}
    for (text, rows), is_missing in zip(profile.spellings.items(), are_missing, strict=True):
        if text is None or is_missing:
            unlabelled[(text or "").strip()] += rows
        else:
            counts[text] = rows
    if len(counts) > MAX_SPELLINGS:
        return Labels(problems=_problems(target, counts))
    groups: dict[str, dict[str, int]] = {}
    for text in sorted(counts, key=lambda text: (-counts[text], text)):
        groups.setdefault(text if exact else label_key(text), {})[text] = counts[text]
    firsts = [(next(iter(texts)), texts) for texts in groups.values()]
    named = {(text if exact else text.strip() or text): texts for text, texts in firsts}
    variants = {name: named[name] for name in sorted(named)}
    classes = {name: sum(texts.values()) for name, texts in variants.items()}
    labels = Labels(
        classes,
        spellings={text: name for name, texts in variants.items() for text in texts},
        joined={name: texts for name, texts in variants.items() if len(texts) > 1},
        misspelt=find_misspelt(classes),
        booleans=profile.booleans,
        unlabelled=dict(sorted(unlabelled.items())),
        problems=_problems(target, classes),
    )
    return replace(labels, warnings=tuple(_warnings(target, labels)))


def read_labels(column: pa.Array, labels: Labels) -> pa.Array:
    """Return the class of each row, null where it has no label.

    A spelling that was not there when the classes were decided is only trimmed.
    """
    encoded = as_text(column, trimmed=False).dictionary_encode()
    trimmed = pc.utf8_trim_whitespace(encoded.dictionary)
    cells = zip(encoded.dictionary.to_pylist(), trimmed.to_pylist(), strict=True)
    names = pa.array([labels.spellings.get(text, plain) for text, plain in cells], pa.string())
    tokens = is_null_token(trimmed, of_labels=True)
    return pc.if_else(tokens, pa.scalar(None, pa.string()), names).take(encoded.indices)


def _is_amount(name: str) -> bool:
    kind = number_class(name)
    return kind is not None and kind.unit in ("", "%", "€", "$", "£", "¥")


def _problems(target: str, classes: Mapping[str, int]) -> tuple[str, ...]:
    """Return why the target cannot be learned, and what to do."""
    rows, is_cut = sum(classes.values()), len(classes) > MAX_SPELLINGS
    found = f"holds {f'more than {MAX_SPELLINGS}' if is_cut else len(classes)} different"
    numbers = {name: classes[name] for name in classes if _is_amount(name.strip())}
    has_decimals = any(map(_DECIMALS.search, numbers))
    few_rows = sum(numbers.values()) < ENOUGH_ROWS * len(numbers)
    rare = len(numbers) > MAX_WHOLE_CLASSES and min(numbers.values()) < ENOUGH_ROWS
    mostly = MAX_NUMBER_CLASSES < len(numbers) >= MOSTLY_NUMBERS * len(classes)
    if len(classes) < 2:
        found = "".join(f"is {quoted(name)} in every row that has one" for name in classes)
        found = f"{found or 'is empty in every row'}; one class is nothing to tell apart"
        step = "choose another column, or add rows of other classes"
    elif mostly and (has_decimals or few_rows or rare):
        kind = "numbers with decimals" if has_decimals else "whole numbers"
        found += f" {kind} ({next(iter(numbers))}, ...), not classes"
        step = (
            "choose another column, group the values (below 10, 10 to 20, ...), or fit a regressor "
            "in Python, such as RVFLRegressor; if they are classes, write a letter before each"
        )
    elif is_cut or len(classes) > max(FEW_CLASSES, rows / 2):
        found += f" labels in {rows} rows ({quoted(next(iter(classes)))}, ...), not classes"
        step = "choose another column, or group the labels"
    else:
        return ()
    return (f"Column {target!r}, the target, {found}: {step}.",)


def _warnings(target: str, labels: Labels) -> Iterator[str]:
    """Yield warnings about the labels of a target."""
    if labels.unlabelled:
        cells = [
            f"{n} {token!r}" if token else f"{n} empty" for token, n in labels.unlabelled.items()
        ]
        rows = counted(sum(labels.unlabelled.values()), "row has", "rows have")
        yield f"{rows} no label in {target!r} ({listed(cells)}); nothing is learned from them."
    if not labels.problems:  # then a list of a thousand small classes helps no one
        for found, items, step in _doubts(labels):
            if items:
                yield Message(f"Labels of {target!r} {found}: {listed(items, '; ')}; ", step, ".")


def _doubts(labels: Labels) -> Iterator[tuple[str, list[str], str]]:
    """Yield kinds of doubtful labels: description, labels (perhaps none), step to take."""
    shown = {n: f"{quoted(n)} ({counted(rows, 'row')})" for n, rows in labels.classes.items()}
    joined = [
        f"{quoted(name)} = " + " + ".join(f"{quoted(text)} ({n})" for text, n in texts.items())
        for name, texts in labels.joined.items()
    ]
    found = "that differ only in case, blanks, Unicode form or a final '.0' were joined"
    yield found, joined, Message("to keep them apart: ", Setting("exact_labels", True))
    misspelt = [f"{shown[rare]} like {shown[meant]}" for rare, meant in labels.misspelt]
    yield "look misspelt and were not joined", misspelt, "correct them if they are"
    are_numbers = len(shown) > MAX_NUMBER_CLASSES and all(map(_is_amount, shown))
    step = "group them, or fit a regressor in Python, if they are measurements"
    yield "are learned without their order", [f"{len(shown)} numbers"] * are_numbers, step
    names = [*shown]
    tokens = is_null_token(pc.utf8_trim_whitespace(pa.array(names, pa.string()))).to_pylist()
    doubtful = [
        shown[name] for name, token in zip(names, tokens, strict=True)
        if token or label_key(name) == "none"
    ]  # fmt: skip
    step = "leave the cells empty if these rows have no label"
    yield "may stand for a missing one", doubtful, step
    found = f"have fewer than {ENOUGH_ROWS} rows and can hardly be learned or checked"
    small = [shown[name] for name in labels.small]
    yield found, small, "add rows, or join them with another class"


# Comparing each label with each takes minutes for thousands of them.
MAX_RARE = 1000
MAX_FREQUENT = 100
# A label is rare, and may be misspelt, up to this share of the rows.
RARE_SHARE = 0.01
TIMES_AS_FREQUENT = 5
# Short words are often one letter apart and both meant, as "yes" and "yet".
SHORTEST = 4
SHORTEST_WITH_TWO_EDITS = 8


def find_misspelt(classes: Mapping[str, int]) -> tuple[tuple[str, str], ...]:
    """Return pairs of a rare label and the frequent one that it probably misspells.

    Labels that differ in their digits only, such as grade 1 and grade 2, are both meant.
    """
    counts: Counter[str] = Counter()
    names: dict[str, str] = {}
    for name in sorted(classes, key=lambda name: classes[name]):
        counts[label_key(name)] += classes[name]
        names[label_key(name)] = name
    most = max(2, RARE_SHARE * counts.total())
    rare = sorted(key for key, rows in counts.items() if rows <= most)
    frequent = sorted(counts, key=lambda key: (-counts[key], key))[:MAX_FREQUENT]
    pairs = []
    for key in rare if len(rare) <= MAX_RARE else ():
        candidates = [
            (edits, position, other)
            for position, other in enumerate(frequent)
            if counts[other] >= TIMES_AS_FREQUENT * counts[key] and (edits := _edits(key, other))
        ]
        if candidates:
            pairs.append((names[key], names[min(candidates)[2]]))
    return tuple(pairs)


def _edits(a: str, b: str) -> int:
    """Return the approximate edit distance; 0 if it is too large for a misspelling."""
    shortest, longest = sorted((len(a), len(b)))
    allowed = 2 if shortest >= SHORTEST_WITH_TWO_EDITS else 1
    if shortest < SHORTEST or longest - shortest > allowed:
        return 0
    if _DIGITS.sub("", a) == _DIGITS.sub("", b):
        return 0
    blocks = SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()
    edits = longest - sum(block.size for block in blocks)
    return edits if edits <= allowed else 0
