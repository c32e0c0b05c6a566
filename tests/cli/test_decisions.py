"""`granulearn decisions merge`."""

import pytest

from granulearn.cli import exit_codes
from granulearn.review import Review, read_decisions
from tests.cli.commands import fails, people, succeeds, write_people

HEAD = "row,given,decision,new_label,who,when\n"
ANN = HEAD + (
    "1,no,change,yes,ann,2026-01-01T10:00:00+00:00\n"
    "2,yes,keep,,ann,2026-01-01T10:00:00+00:00\n"
    "3,no,unsure,,ann,2026-01-01T10:00:00+00:00\n"
)
BEN = HEAD + (
    "2,yes,change,no,ben,2026-01-01T11:00:00+00:00\n"
    "3,no,keep,,ben,2026-01-01T11:00:00+00:00\n"
    "4,no,exclude,,ben,2026-01-01T11:00:00+00:00\n"
)


@pytest.fixture
def both(tmp_path):
    """Return the paths of two files that disagree on the second row."""
    paths = tmp_path / "ann.csv", tmp_path / "ben.csv"
    for path, said in zip(paths, (ANN, BEN), strict=True):
        path.write_text(said)
    return paths


def test_conflicts_are_listed_and_left_out(both, tmp_path):
    shown = succeeds("decisions", "merge", *both, "-o", tmp_path / "m.csv").out
    assert f"{both[0]}: 3 decisions by ann" in shown
    assert "agree on 0 of 1 rows that both decide on, too few for Cohen's kappa" in shown
    assert "joined: 3 decisions, 1 row in conflict" in shown
    listed = " ".join(shown.split())
    assert "2 yes keep (ann) change to no (ben)" in listed
    assert "--prefer latest takes the latest" in shown
    assert [d.row for d in read_decisions(tmp_path / "m.csv")] == [1, 3, 4]


def test_the_order_of_files_is_of_no_matter(both, tmp_path):
    succeeds("decisions", "merge", *both, "-o", tmp_path / "m.csv")
    succeeds("decisions", "merge", *both[::-1], "-o", tmp_path / "n.csv")
    assert (tmp_path / "m.csv").read_bytes() == (tmp_path / "n.csv").read_bytes()


def test_the_latest_counts_if_asked_for(both, tmp_path):
    done = succeeds("decisions", "merge", *both, "-o", tmp_path / "m.csv", "--prefer", "latest")
    assert "joined: 4 decisions, 0 rows in conflict" in done.out
    assert [d.who for d in read_decisions(tmp_path / "m.csv")] == ["ann", "ben", "ben", "ben"]
    both[1].write_text(BEN.replace("11:00", "10:00"))
    done = succeeds("decisions", "merge", *both, "-o", tmp_path / "m.csv", "--prefer", "latest")
    assert "which is the latest cannot be told there" in done.out


def test_json_has_all_that_is_shown(both, tmp_path):
    facts = succeeds("decisions", "merge", *both, "-o", tmp_path / "m.csv", "--json").json
    assert facts == {
        "file": str(tmp_path / "m.csv"),
        "files": [{"file": str(path), "decisions": 3} for path in both],
        "joined": 3,
        "conflicts": [
            {
                "row": 2,
                "given": "yes",
                "said": [
                    {"file": str(both[0]), "who": "ann", "decision": "keep", "new_label": ""},
                    {"file": str(both[1]), "who": "ben", "decision": "change", "new_label": "no"},
                ],
            }
        ],
        "agreement": [
            {
                "files": [str(path) for path in both],
                "rows": 1,
                "same": 0,
                "kappa": None,
                "words": "agree on 0 of 1 rows that both decide on, too few for Cohen's kappa",
            }
        ],
    }


def test_many_conflicts_are_counted_rather_than_shown(tmp_path):
    for name, word in (("a", "keep"), ("b", "exclude")):
        rows = "".join(f"{row},{word}\n" for row in range(1, 31))
        (tmp_path / f"{name}.csv").write_text(f"row,decision\n{rows}")
    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    shown = succeeds("decisions", "merge", *files, "-o", tmp_path / "m.csv").out
    assert "and 10 more; --json has them all" in shown


def test_reviews_of_two_people_become_one_journal_and_the_conflict_is_asked_again(tmp_path):
    table = write_people(tmp_path, 60)
    for who, decided in (("ann", "keep"), ("ben", "exclude")):
        path = tmp_path / f"{who}.csv"
        with Review(table, "label", decisions=path, who=who) as review:
            review.decide_many([2, 3, 5], "keep")
            review.decide(4, decided)
    journal = tmp_path / "people.decisions.csv"
    done = succeeds("decisions", "merge", tmp_path / "ann.csv", tmp_path / "ben.csv", "-o", journal)
    assert "joined: 3 decisions, 1 row in conflict" in done.out
    with Review(table, "label") as review:
        assert [d.row for d in review.journal.lines] == [2, 3, 5]
        assert 4 in review.rows()
        assert 3 not in review.rows()


def test_a_filled_in_list_becomes_a_journal(tmp_path):
    table, listed = write_people(tmp_path, 60), tmp_path / "list.csv"
    listed.write_text(f"row,decision,new_label\n3,keep,\n4,change,{other_label(4)}\n")
    succeeds("decisions", "merge", listed, "-o", tmp_path / "people.decisions.csv")
    with Review(table, "label") as review:
        assert review.summary().counts == {"keep": 1, "change": 1}


def other_label(row):
    return "no" if people(60)["label"][row - 1] == "yes" else "yes"


def test_what_cannot_be_joined_is_refused(both, tmp_path):
    output = tmp_path / "m.csv"
    assert "is also an input" in fails(exit_codes.USAGE, "decisions", "merge", *both, "-o", both[0])
    assert both[0].read_text() == ANN
    assert "ends in '.xlsx'" in fails(
        exit_codes.USAGE, "decisions", "merge", *both, "-o", tmp_path / "m.xlsx"
    )
    both[1].write_text(BEN.replace("2,yes", "2,maybe"))
    assert "were made for different tables" in fails(
        exit_codes.BAD_DATA, "decisions", "merge", *both, "-o", output
    )
    assert "cannot be read" in fails(
        exit_codes.BAD_DATA, "decisions", "merge", tmp_path / "no.csv", "-o", output
    )
    said = fails(exit_codes.USAGE, "decisions", "merge", *both, "-o", output, "--prefer", "ann")
    # What stands between them is typer's, and differs from version to version.
    assert "'--prefer'" in said
    assert "'ann' is not" in said
    assert "'latest'" in said
    assert not output.exists()


def test_help_of_merge_has_an_example():
    assert "Example: granulearn decisions merge" in succeeds("decisions", "merge", "--help").out
