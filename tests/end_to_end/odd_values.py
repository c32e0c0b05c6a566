"""Tables whose cells or labels are odd: numbers, dates, classes."""

from __future__ import annotations

from tests.end_to_end.odd_tables import OK, REFUSED, labelled, odd, sized

# Labels: what is in the place of "a" and of "b".
for name, labels, code in (
    ("one class", ["a"], REFUSED),
    ("no labels", [""], REFUSED),
    ("labels that are all NA", ["NA"], REFUSED),
    ("labels nearly all missing", ["a", "b", *[""] * 18], REFUSED),
    ("a label once", ["a"] * 20 + ["b"] * 19 + ["c"], OK),
    ("every label once", [f"k{i}" for i in range(40)], REFUSED),
    ("true and false", ["true", "false"], OK),
    ("zeros of all kinds", ["0", "0.0", "00", "1"], OK),
    ("a class in spellings", ["yes", "Yes ", "YES", "no"], OK),
    ("numbers with fractions", [f"{i}.{i}" for i in range(40)], REFUSED),
    ("huge integers", [str(10**30), str(10**30 + 1)], OK),
    ("integers of 64 bits", [str(2**63 - 1), str(2**63)], OK),
    ("infinities", ["inf", "-inf"], OK),
    ("overflowing numbers", ["1e400", "1"], OK),
    ("dates", ["2020-01-01", "2021-01-01"], OK),
    ("formulas", ["=1+1", "@sum"], OK),
    ("letters of other scripts", ["да", "нет"], OK),
    ("a letter in two forms", ["caf\u00e9", "cafe\u0301"], REFUSED),
    ("tags", ["<script>alert(1)</script>", "&amp;"], OK),
    ("labels of 1,001 letters", ["a" * 1001, "b" * 1001], REFUSED),
    ("labels of several words", ['"a\nb"', '"b\na"'], OK),
    ("signs only", ["+", "-"], OK),
    ("words for missing", ["none", "unknown"], OK),
):  # fmt: skip
    odd(f"labels: {name}", "t.csv", labelled(labels), code)

# Numbers: one column of them, beside a plain one.
for name, cells, code in (
    ("integers of 31 digits", [str(10**30 + i) for i in range(40)], OK),
    ("integers of 400 digits", [str(10**400 + i) for i in range(40)], OK),
    ("2 to the 64", [str(2**64 + i) for i in range(40)], OK),
    ("1e309", ["1e309", "1", "2"], OK),
    ("1e200", [f"{i}e200" for i in range(40)], OK),
    ("denormal numbers", [f"{i}e-320" for i in range(40)], OK),
    ("infinity", ["inf", "1", "2"], OK),
    ("the sign of infinity", ["∞", "1", "2"], OK),
    ("nan", ["nan", "1", "2"], OK),
    ("#DIV/0!", ["#DIV/0!", "1", "2"], OK),
    ("underscores", [f"1_{i:03}" for i in range(40)], OK),
    ("thousands in two ways", ['"1,000.5"', '"1.000,5"'] * 20, OK),
    ("two currencies", ["$1", "€1"] * 20, OK),
    ("two minus signs", ["--5", "1", "2"], OK),
    ("brackets for minus", [f"({i})" for i in range(40)], OK),
    ("a minus of typesetters", [f"−{i}" for i in range(40)], OK),
    ("an exponent without digits", ["1e", "2e"] * 20, OK),
    ("digits of Arabic", ["٣", "٤", "٥"], OK),
    ("fractions", ["½", "¼"], OK),
    ("one text, else numbers", ["x", *map(str, range(39))], OK),
    ("numbers of 1,000 digits after the point", ["0." + "1" * 1000, "1", "2"], OK),
    ("one cell filled", ["1", *[""] * 39], OK),
    ("a text of a megabyte", ["x" * 2**20, "1", "2"], REFUSED),
):  # fmt: skip
    odd(f"numbers: {name}", "t.csv", sized(cells), code)
