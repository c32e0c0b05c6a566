r"""Score tables as LaTeX, in the form of the paper's: booktabs, best bold, second underlined.

A document that takes them in needs ``\usepackage{booktabs}``; ``\usepackage{graphicx}`` if a table
is wide, and ``\usepackage{longtable}`` if it is longer than a page. One that is both is several
tables under one number.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping

import numpy as np
import pandas as pd

from granulearn.bench.statistics import average_ranks

_ESCAPES = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip

LONGEST_ON_A_PAGE = 40
"""Lines of a table; a longer one goes on on the next page. A plain article has room for 42."""
WIDEST_AT_FULL_SIZE = 60
"""Signs of a line, with room between columns; a wider table is made to fit the text."""
WIDEST_IN_SMALL_PRINT = 95
"""Signs of a line that fit the text in small print."""
# A box is made smaller if it is wider than the text, and left as it is otherwise.
_FITTED = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
_CLOSER_COLUMNS = r"\setlength{\tabcolsep}{3pt}"


def latex_table(
    scores: pd.DataFrame,
    *,
    caption: str = "",
    label: str = "",
    average: str = "Average accuracy",
    ranks: Mapping[str, float] | None = None,
    higher_is_better: bool = True,
    digits: int = 2,
) -> str:
    r"""Return a table of scores as LaTeX.

    Parameters
    ----------
    scores : DataFrame
        One column per method. One row per data set; or one per data set and condition, then
        each data set gets a line with its average, and the last line is the average of these
        as they are shown.
    caption, label : str, default=""
        Of the table; what is empty is left out.
    average : str, default="Average accuracy"
        Head of the line of averages.
    ranks : mapping, default=None
        Average rank of each method, as a comparison found them; those it lacks are dashes, and
        without any there is no line of ranks. By default rows are ranked as they are given.
    higher_is_better : bool, default=True
        Whether the largest score is the best.
    digits : int, default=2
        Decimals.

    Returns
    -------
    str
        A ``table`` environment, or a ``longtable`` with its head on every page; one that is
        too wide for that is a ``table`` for each page. In each line the best is bold and the
        second best underlined, by what is shown: equal figures are marked alike. A data set
        that lacks a score is in no average and no rank.

    Examples
    --------
    >>> import pandas as pd
    >>> from granulearn.bench.report import latex_table
    >>> scores = pd.DataFrame({"a": [90.0, 70.0], "b": [80.0, 75.0]}, index=["x_1", "y"])
    >>> print(latex_table(scores))
    \begin{table}
    \centering
    \begin{tabular}{lrr}
    \toprule
    Data set & a & b \\
    \midrule
    x\_1 & \textbf{90.00} & \underline{80.00} \\
    y & \underline{70.00} & \textbf{75.00} \\
    \midrule
    Average accuracy & \textbf{80.00} & \underline{77.50} \\
    Average rank & \textbf{1.50} & \textbf{1.50} \\
    \bottomrule
    \end{tabular}
    \end{table}
    """
    rounded = scores.astype(float).round(digits)
    grouped = rounded.index.nlevels == 2
    heads = ["Data set", "Condition"] if grouped else ["Data set"]
    body = _grouped_lines(rounded, higher_is_better, digits) if grouped else [
        _line([name], row, higher_is_better, digits) for name, row in _rows(rounded)
    ]  # fmt: skip
    foot = [
        *_averages(scores.astype(float), rounded, average, higher_is_better, digits),
        *_ranks(scores.astype(float), ranks, higher_is_better),
    ]
    lines = [*body, *([r"\midrule", *foot] if foot else [])]
    head = _joined([*heads, *(escaped(str(name)) for name in scores.columns)])
    columns = "l" * len(heads) + "r" * scores.shape[1]
    width = _width(rounded, heads, average, digits)
    wide = width > WIDEST_AT_FULL_SIZE
    about = [
        *([rf"\caption{{{escaped(caption)}}}"] if caption else []),
        *([rf"\label{{{label}}}"] if label else []),
    ]
    if len(lines) <= LONGEST_ON_A_PAGE:
        return "\n".join(_table(columns, about, head, lines, wide))
    if width <= WIDEST_IN_SMALL_PRINT:
        return "\n".join(_longtable(columns, about, head, lines, wide))
    return "\n".join(_tables(columns, about, head, lines, bool(caption)))


def _width(rounded: pd.DataFrame, heads: list[str], average: str, digits: int) -> int:
    """Return about how many signs a line takes: the longest of each column, and three between."""
    firsts = [
        max(map(len, [head, *map(str, rounded.index.get_level_values(level))]))
        for level, head in enumerate(heads)
    ]
    firsts[0] = max(firsts[0], len(average))
    figures = [
        max(len(str(name)), *(len(f"{value:.{digits}f}") for value in rounded[name]), 0)
        for name in rounded
    ]
    return sum(width + 3 for width in [*firsts, *figures])


def _table(columns: str, about: list[str], head: str, lines: list[str], wide: bool) -> list[str]:
    return [
        r"\begin{table}", r"\centering", *about, *([_CLOSER_COLUMNS, _FITTED] if wide else []),
        rf"\begin{{tabular}}{{{columns}}}", r"\toprule", head, r"\midrule", *lines, r"\bottomrule",
        r"\end{tabular}" + ("}" if wide else ""), r"\end{table}",
    ]  # fmt: skip


def _longtable(
    columns: str, about: list[str], head: str, lines: list[str], wide: bool
) -> list[str]:
    """Return a table over several pages: its head is on each of them, its caption on the first."""
    heading = [r"\toprule", head, r"\midrule"]
    table = [
        rf"\begin{{longtable}}{{{columns}}}",
        *([*about, r"\\"] if about else []), *heading, r"\endfirsthead",
        *heading, r"\endhead", r"\bottomrule", r"\endfoot", *lines, r"\end{longtable}",
    ]  # fmt: skip
    # No box holds what goes over several pages.
    return [r"{\scriptsize" + _CLOSER_COLUMNS, *table, "}"] if wide else table


def _tables(
    columns: str, about: list[str], head: str, lines: list[str], has_caption: bool
) -> list[str]:
    """Return a table for each page, all made to fit the text; only the first has a new number."""
    pages: list[str] = []
    rest = lines
    while rest:
        end = _page_end(rest)
        # A caption that goes on takes the number of the one before.
        go_on = [r"\addtocounter{table}{-1}", r"\caption[]{(continued)}"] if has_caption else []
        pages += _table(columns, go_on if pages else about, head, rest[:end], wide=True)
        rest = rest[end:]
        rest = rest[1:] if rest[:1] == [r"\midrule"] else rest
    return pages


def _page_end(lines: list[str]) -> int:
    """Return how many lines go on a page: up to a rule in its second half, if there is one."""
    if len(lines) <= LONGEST_ON_A_PAGE:
        return len(lines)
    rules = [
        place
        for place in range(LONGEST_ON_A_PAGE // 2, LONGEST_ON_A_PAGE + 1)
        if lines[place] == r"\midrule"
    ]
    return rules[-1] if rules else LONGEST_ON_A_PAGE


def escaped(text: str) -> str:
    """Return a text that LaTeX prints as it is.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    str
        With signs that mean something to LaTeX spelt out.
    """
    return "".join(_ESCAPES.get(sign, sign) for sign in text)


def _grouped_lines(rounded: pd.DataFrame, higher_is_better: bool, digits: int) -> list[str]:
    lines = []
    for position, (dataset, rows) in enumerate(rounded.groupby(level=0, sort=False)):
        lines += [r"\midrule"] if position else []
        for number, (place, row) in enumerate(_rows(rows)):
            assert isinstance(place, tuple)
            first = dataset if number == 0 else ""
            lines.append(_line([first, place[1]], row, higher_is_better, digits))
        if len(rows) > 1:
            means = _means(rows, digits)
            lines.append(_line(["", "Average"], means, higher_is_better, digits))
    return lines


def _averages(
    scores: pd.DataFrame, rounded: pd.DataFrame, average: str, higher_is_better: bool, digits: int
) -> list[str]:
    complete = scores.dropna()
    if len(complete) < 2:
        return []
    blank = [""] * (scores.index.nlevels - 1)
    if scores.index.nlevels == 2:
        # The mean of what stands above it, so that a reader finds it again.
        each = [_means(rows, digits) for _, rows in rounded.groupby(level=0, sort=False)]
        means = pd.DataFrame(each).mean(skipna=False)
    else:
        means = complete.mean()
    return [_line([average, *blank], means.to_numpy(), higher_is_better, digits)]


def _ranks(
    scores: pd.DataFrame, given: Mapping[str, float] | None, higher_is_better: bool
) -> list[str]:
    complete = scores.dropna()
    if given is not None:
        ranks = np.array([given.get(str(name), np.nan) for name in scores.columns], dtype=float)
    elif len(complete) > 1 and scores.shape[1] > 1:
        ranks = average_ranks(complete, higher_is_better=higher_is_better)
    else:
        return []
    heads = ["Average rank", *[""] * (scores.index.nlevels - 1)]
    return [_line(heads, ranks, False, 2)] if np.isfinite(ranks).any() else []


def _means(rows: pd.DataFrame, digits: int) -> np.ndarray:
    """Return means of columns, rounded; none for a method that lacks a score."""
    return rows.mean(skipna=False).round(digits).to_numpy()


def _rows(table: pd.DataFrame) -> Iterable[tuple[Hashable, np.ndarray]]:
    return zip(table.index, table.to_numpy(), strict=True)


def _line(heads: list, values: np.ndarray, higher_is_better: bool, digits: int) -> str:
    shown = np.asarray(values, dtype=float).round(digits)
    order = np.unique(shown[np.isfinite(shown)])
    best = order[::-1] if higher_is_better else order
    cells = [_cell(value, best, digits) for value in shown]
    return _joined([*(escaped(str(head)) for head in heads), *cells])


def _cell(value: float, best_first: np.ndarray, digits: int) -> str:
    if not np.isfinite(value):
        return "--"
    text = f"{value:.{digits}f}"
    if value == best_first[0]:
        return rf"\textbf{{{text}}}"
    return rf"\underline{{{text}}}" if value == best_first[1] else text


def _joined(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"
