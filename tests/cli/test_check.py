"""`granulearn check`: everything is said about a table, and nothing is written."""

import gzip
import io

import pytest

from granulearn.cli import exit_codes
from tests.cli.commands import granulearn, people, succeeds, write_people
from tests.shared_data import shared_data_dir

COLUMN_FACTS = {
    "name", "is", "becomes", "left_out", "unit", "missing", "distinct", "examples", "odd",
    "misfits", "n_misfits", "flag",
}  # fmt: skip


@pytest.fixture(name="strange")
def write_strange(tmp_path):
    """Return a table with one column of each kind that is treated in a special way."""
    frame = people(200)
    frame["id"] = [f"K{k:05d}" for k in range(200)]
    frame["price"] = [f"{1 + k % 90}.169,00 €" for k in range(200)]
    frame.loc[3, "price"] = "on demand"
    frame["since"] = [f"{1 + k % 28:02d}.03.2021" for k in range(200)]
    frame["either"] = [f"{1 + k % 12:02d}/{1 + k % 11:02d}/2021" for k in range(200)]
    frame["country"] = "AT"
    frame["code"] = frame["label"].map({"yes": 1, "no": 2})
    frame.loc[5, "label"] = "YES"
    frame.to_csv(tmp_path / "strange.csv", index=False)
    return tmp_path / "strange.csv"


def test_each_column_is_told_with_what_it_becomes_and_what_changes_it(strange):
    facts = succeeds("check", strange, "-t", "label", "--json").json
    columns = {column["name"]: column for column in facts["columns"]}
    assert all(set(column) == COLUMN_FACTS for column in columns.values())
    found = {name: (c["is"], c["left_out"], c["flag"]) for name, c in columns.items()}
    assert found == {
        "age": ("number", "", "--categorical age"),
        "income": ("number", "", "--categorical income"),
        "città": ("category", "", "--ignore città"),
        "id": ("text", "ID", "--include id"),
        "price": ("number", "", "--categorical price"),
        "since": ("date", "", "--ignore since"),
        "either": ("date", "ambiguous date", "--day-first or --month-first"),
        "country": ("category", "constant", "--include country"),
        "code": ("number", "gives the target away", "--include code"),
    }
    assert columns["price"]["unit"] == "€"
    assert columns["price"]["misfits"] == [{"row": 4, "place": "line 5", "cell": "on demand"}]
    assert columns["since"]["becomes"].startswith("year, month, day of year, weekday")
    assert columns["income"]["missing"] == {"": int(people(200)["income"].isna().sum())}
    assert facts["target"]["joined"]["yes"]["YES"] == 1
    assert facts["rows"] == 200
    assert facts["problems"] == []


def test_every_flag_that_is_named_changes_its_column(strange):
    options = {
        "--include": ["id", "country", "code"],
        "--categorical": ["age", "income", "price"],
        "--ignore": ["città", "since"],
    }
    given = [part for option, names in options.items() for name in names for part in (option, name)]
    before = succeeds("check", strange, "-t", "label", "--json").json["columns"]
    after = succeeds("check", strange, "-t", "label", "--json", "--day-first", *given).json
    for old, new in zip(before, after["columns"], strict=True):
        assert (old["is"], old["becomes"]) != (new["is"], new["becomes"]), old["name"]


def test_people_are_shown_the_same_and_warned_on_stderr(strange):
    done = succeeds("check", strange, "-t", "label")
    assert "strange.csv: 200 rows, 10 columns" in done.out
    assert "label, the target: 2 classes: no (" in done.out
    for found in ("left out: ID", "left out: constant", "a number of €", "'on demand' at line 5"):
        assert found in done.out
    warnings = done.err.splitlines()
    assert all(line.startswith("granulearn: warning: ") for line in warnings)
    assert any("'yes' = 'yes' (" in line for line in warnings)
    assert any("Columns leak the target" in line for line in warnings)


def test_without_a_target_every_column_is_an_input(tmp_path):
    facts = succeeds("check", write_people(tmp_path), "--json").json
    assert [column["name"] for column in facts["columns"]] == ["age", "income", "città", "label"]
    assert "target" not in facts


def test_all_problems_are_named_after_the_report_and_the_exit_code_is_3(tmp_path):
    table = write_people(tmp_path)
    wrong = ["-t", "lable", "--ignore", "agee", "--include", "cittá"]
    done = granulearn("check", table, *wrong)
    assert done.code == exit_codes.BAD_DATA
    assert "people.csv: 120 rows" in done.out
    lines = done.err.splitlines()
    assert len(lines) == 3
    for line, name in zip(
        lines, ("'lable' (--target)", "'agee' (--ig", "'cittá' (--in"), strict=True
    ):
        assert line.startswith(f"granulearn: error: {table}: There is no column {name}")
    as_json = granulearn("check", table, *wrong, "--json")
    assert as_json.code == exit_codes.BAD_DATA
    assert len(as_json.json["problems"]) == 3


def test_the_target_cannot_be_ignored(tmp_path):
    done = granulearn("check", write_people(tmp_path), "-t", "label", "--ignore", "label")
    assert done.code == exit_codes.BAD_DATA
    assert "'label' is both the target and to be ignored" in done.err


def _written(kind):
    frame, content = people(60), io.BytesIO()
    if kind == "csv":
        frame.to_csv(content, index=False, sep=";", decimal=",")
    elif kind == "csv.gz":
        content.write(gzip.compress(frame.to_csv(index=False, sep="\t").encode("utf-16")))
    elif kind == "jsonl":
        frame.to_json(content, orient="records", lines=True)
    elif kind == "feather":
        frame.to_feather(content)
    elif kind == "parquet":
        frame.to_parquet(content)
    else:
        frame.to_excel(content, index=False, engine={"xlsx": "openpyxl", "ods": "odf"}[kind])
    return content.getvalue()


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "jsonl", "feather", "parquet", "xlsx", "ods"])
def test_every_format_holds_the_same_columns(tmp_path, kind):
    (tmp_path / f"t.{kind}").write_bytes(_written(kind))
    facts = succeeds("check", tmp_path / f"t.{kind}", "-t", "label", "--json").json
    assert {column["name"]: column["is"] for column in facts["columns"]} == {
        "age": "number", "income": "number", "città": "category",
    }  # fmt: skip
    assert facts["rows"] == 60
    classes = people(60)["label"].value_counts()
    assert facts["target"]["classes"] == {name: int(classes[name]) for name in ("no", "yes")}


def test_nothing_is_written(strange, monkeypatch, tmp_path):
    before = sorted(tmp_path.iterdir())
    monkeypatch.chdir(tmp_path)
    succeeds("check", strange, "-t", "label")
    assert sorted(tmp_path.iterdir()) == before


MESSY = [
    ("kredit.csv", "Bonität", {"Kunden-Nr": "ID", "Währung": "constant"}, "--exact-labels"),
    ("hmda.tsv", "deny", {"decision_code": "gives the target away"}, "decision_code"),
]


@pytest.mark.parametrize(("name", "target", "left_out", "said"), MESSY, ids=lambda v: str(v)[:10])
def test_the_messy_tables_get_in_and_what_was_planted_is_said(name, target, left_out, said):
    done = succeeds("check", shared_data_dir() / "messy" / name, "-t", target, "--json")
    found = {c["name"]: c["left_out"] for c in done.json["columns"] if c["left_out"]}
    assert left_out.items() <= found.items()
    assert any(said in warning for warning in done.json["warnings"])
    assert len(done.json["target"]["classes"]) == 2


def test_of_a_very_wide_table_odd_columns_are_shown_and_the_others_counted(tmp_path):
    names = [f"c{place}" for place in range(400)]
    odd = names.index("c399")
    rows = [
        [("7" if place == odd else f"{(k * 7 + place * 13) % 50 / 10}") for place in range(400)]
        for k in range(12)
    ]
    lines = [",".join([*names, "label"])]
    lines += [",".join([*row, "ab"[k % 2]]) for k, row in enumerate(rows)]
    path = tmp_path / "wide.csv"
    path.write_text("\n".join(lines) + "\n")
    out = succeeds("check", path, "-t", "label").out
    assert "and 100 more columns; --json has them all" in out
    assert "c399 " in out
    assert "c398 " not in out
    assert len(succeeds("check", path, "-t", "label", "--json").json["columns"]) == 400


def test_a_target_that_is_not_there_is_no_column_and_no_label_is_spoken_of(tmp_path):
    table = tmp_path / "twice.csv"
    table.write_text("a,b,y\n" + "".join(f"{k * k % 13},{k % 2},x{k % 3}\n" for k in range(26)) * 2)
    done = granulearn("check", table, "--target", "nope")
    assert done.code == exit_codes.BAD_DATA
    assert "52 rows, 3 columns" in done.out
    assert "There is no column 'nope'" in done.err
    assert "rows repeat an earlier one, in all columns that are used; duplicates" in done.err
    assert "label included" not in done.err
    done = succeeds("check", table, "--target", "y")
    assert "52 rows, 3 columns" in done.out
    assert "rows repeat an earlier one, label included; duplicates" in done.err
