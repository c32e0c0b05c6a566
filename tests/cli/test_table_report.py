"""What is said about a table: short beside results, whole in a table, at any width."""

import sys

import pytest

from granulearn.cli import table_report
from granulearn.tables import ColumnOptions, inspect_table, open_table

if sys.platform == "win32":
    pytest.skip("no terminals of a chosen width here", allow_module_level=True)

from tests.cli.terminals import in_terminal

LONG = "a column with a really quite long name"
WARNED = "granulearn: warning: "


@pytest.fixture(name="table", scope="module")
def write_table(tmp_path_factory):
    """Return a table with columns that are left out, parsed and odd."""
    header = ["Nr", "price", "either", LONG, "half", "[b]", "label"]
    rows = [
        [
            str(k + 1),
            "ask" if k == 4 else f"{1 + k}.169,00 €",
            f"{1 + k % 12:02d}/{1 + k % 11:02d}/2021",
            "xyz"[k % 3],
            "n.b." if k % 3 == 0 else str(k % 40),
            ["?", "[/red]", ":smile:"][k % 3],
            "yes" if k % 2 else "no",
        ]
        for k in range(200)
    ]
    path = tmp_path_factory.mktemp("report") / "odd.csv"
    text = "\n".join(";".join(row) for row in [header, *rows])
    path.write_text(text + "\n", encoding="utf-8")
    return path


def shown(capsys, show, path, target="label", **options):
    """Return the lines that are printed about a table, at the width of pipes."""
    with open_table(path) as file:
        report = inspect_table(file, target, ColumnOptions(**options))
        show(report, file.place)
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()]


def test_the_short_form_has_a_line_for_what_was_left_out_parsed_odd_and_missing(table, capsys):
    lines = shown(capsys, table_report.show_short, table)
    left_out, parsed, misfit, date, mixed = lines[:5]
    assert left_out == (
        "left out: Nr (row number), either (ambiguous date); --include NAME uses one all the same"
    )
    assert parsed == "read as: price (numbers of €, decimal comma)"
    assert misfit.startswith("price: 1 cell differs from the others and counts as missing: 'ask'")
    assert date.endswith("; --day-first or --month-first says which")
    assert mixed == (
        "half: 133 cells are numbers of one form, but 67 are not, so all are categories"
    )
    assert lines[-1] == "missing: 67 cells ('?'); granulearn check has more"


def test_the_short_form_of_a_plain_table_is_empty(tmp_path, capsys):
    rows = "".join(f"{k * 7 % 31},{k % 2}\n" for k in range(60))
    (tmp_path / "plain.csv").write_text("x,label\n" + rows)
    assert shown(capsys, table_report.show_short, tmp_path / "plain.csv") == []


def test_columns_that_a_user_ignores_are_not_said_again(table, capsys):
    lines = shown(capsys, table_report.show_short, table, ignore=("Nr", "either", "half"))
    assert not any("left out" in line or "half" in line for line in lines)


def test_the_short_form_stays_short(tmp_path, capsys):
    names = [f"x{k}" for k in range(60)]
    rows = [[("n.b." if i % 3 == 0 else f"{i % 7 + k}") for k in range(60)] for i in range(60)]
    constants = [f"c{k}" for k in range(60)]
    lines = [",".join([*names, *constants, "label"])]
    lines += [",".join([*row, *["1"] * 60, str(i % 2)]) for i, row in enumerate(rows)]
    (tmp_path / "wide.csv").write_text("\n".join(lines) + "\n")
    lines = shown(capsys, table_report.show_short, tmp_path / "wide.csv")
    text = " ".join(lines)
    assert "c7 (constant) and 52 more; --include" in text
    assert "112 more oddities; granulearn check names them" in text
    assert len(lines) < 25


def test_the_whole_is_a_row_per_column_and_what_is_odd_below(table, capsys):
    lines = shown(capsys, table_report.show_whole, table)
    assert lines[:2] == [
        "odd.csv: 200 rows, 7 columns",
        "label, the target: 2 classes: no (100), yes (100)",
    ]
    header = next(line for line in lines if line.lstrip().startswith("column "))
    assert header.split() == [
        *["column", "is", "becomes", "missing", "distinct", "examples", "changed", "by"]
    ]
    firsts = [line.split()[0] for line in lines if line.startswith("  ") and line[2:3].strip()]
    for name in ("Nr", "price", "either", "half", "[b]"):
        assert name in firsts
    below = lines[lines.index("what is odd") :]
    assert "  price: 1 cell differs from the others and counts as missing: 'ask' at line 6" in below


def test_without_oddities_nothing_stands_below(tmp_path, capsys):
    (tmp_path / "plain.csv").write_text("x,label\n" + "1,a\n2,b\n" * 30)
    assert "what is odd" not in shown(capsys, table_report.show_whole, tmp_path / "plain.csv")


def test_many_classes_are_named_in_part(tmp_path, capsys):
    rows = "".join(f"{k % 7},class {k % 12}\n" for k in range(240))
    (tmp_path / "t.csv").write_text("x,label\n" + rows)
    text = " ".join(shown(capsys, table_report.show_whole, tmp_path / "t.csv"))
    assert "12 classes: class 0 (20)" in text
    assert "and 4 more" in text


def test_names_and_cells_give_no_orders_to_the_terminal(tmp_path, capsys):
    rows = "".join(f'"\x1b[31m{k % 3}\n",{k % 2}\n' for k in range(60))
    (tmp_path / "t.csv").write_text('"\x1b[2Jx",label\n' + rows)
    for show in (table_report.show_whole, table_report.show_short):
        text = "\n".join(shown(capsys, show, tmp_path / "t.csv"))
        assert "\x1b" not in text
    assert "\\x1b[2Jx" in "\n".join(shown(capsys, table_report.show_whole, tmp_path / "t.csv"))


@pytest.mark.parametrize("width", [60, 80])
def test_a_narrow_terminal_gets_lines_and_nothing_is_cut(table, width):
    lines = in_terminal(width, "check", table, "-t", "label")
    ours = [line for line in lines if not line.startswith(WARNED)]
    assert max(map(len, ours)) <= width
    assert "Nr: number; left out: row number (--include)" in lines
    assert "price: number, €; a number of € (--categorical)" in lines
    assert "  200 distinct: 1.169,00 €, 2.169,00 €, 3.169,00 €" in lines
    text = " ".join(" ".join(lines).split())
    assert f"{LONG}: category (--ignore)" in text
    assert "'ask' at line 6" in text
    assert "67 '?' missing; 2 distinct: [/red], :smile:" in text


@pytest.mark.parametrize("width", [100, 140])
def test_a_wide_terminal_gets_the_table_and_no_word_is_cut(table, width):
    lines = in_terminal(width, "check", table, "-t", "label")
    ours = [line for line in lines if not line.startswith(WARNED)]
    assert max(map(len, ours)) <= width
    text = "\n".join(ours)
    for whole in ("--categorical", "--include", "--month-first", "1.169,00 €", "category"):
        assert whole in text
    assert "…" not in text
    assert "what is odd" in ours
