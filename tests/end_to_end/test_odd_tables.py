"""An odd table is learned from or refused in words, as its exit code says; never a stack trace."""

from __future__ import annotations

import re

import pytest

from tests.cli.commands import granulearn
from tests.end_to_end import odd_files, odd_refused, odd_text, odd_values
from tests.end_to_end.odd_tables import ODD, OK

pytestmark = pytest.mark.slow

SUBJECT = "granulearn: error: "
# Those whose cells reach the model as they are.
LEARNED = ("numbers: ", "Parquet: ", "labels: infin")
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def test_all_of_them_are_noted():
    modules = (odd_files, odd_refused, odd_text, odd_values)
    assert all(module.odd.__globals__["ODD"] is ODD for module in modules)
    assert len(ODD) > 250


@pytest.mark.parametrize("name", ODD)
def test_an_odd_table_is_read_or_refused_in_words(name, tmp_path):
    record, model = ODD[name], tmp_path / "out.granulearn"
    path = record.make(tmp_path)
    asked = (path, "--target", record.target, *record.options)

    def unsaid(text: str) -> list[str]:
        said = text.replace(str(tmp_path), "")
        return [word for word in record.says if word not in said]

    looked = granulearn("check", *asked)
    assert CONTROL.search(looked.out + looked.err) is None
    assert looked.code in (*OK, *record.codes), looked.err
    assert unsaid(looked.out + looked.err) == []
    if looked.code in OK and record.codes == OK and not name.startswith(LEARNED):
        return
    before = sorted(tmp_path.iterdir())
    done = granulearn("fit", *asked, "--model", "elm", "-o", model)
    assert done.code in record.codes, done.err
    assert CONTROL.search(done.out + done.err) is None
    assert "please report" not in done.err
    if done.code in OK:
        assert model.exists()
        return
    lines = done.err.splitlines()
    assert lines
    assert [line for line in lines if not line.startswith(SUBJECT)] == []
    assert (done.out, sorted(tmp_path.iterdir())) == ("", before)
    assert unsaid(done.err) == []
