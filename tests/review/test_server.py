"""The server of a review, over real connections."""

import errno
import json
import re
import threading
import urllib.error
import urllib.request
from pathlib import Path
from secrets import token_hex

import pytest

from granulearn import Review
from granulearn.review import read_decisions
from granulearn.review.journal import Journal
from granulearn.review.server import bound_socket
from tests.review.served import served
from tests.review.tables import animals_file


@pytest.fixture
def server(tmp_path):
    path, _ = animals_file(tmp_path)
    with (
        Review(path, "kind", keep=["name"], refit_every=1000, background=True) as review,
        served(review) as running,
    ):
        yield running


def ask(server, path, body=None, **headers):
    """Return the status and what was answered."""
    origin = re.match(r"http://[^/]+", server.address)[0]
    if body is not None:
        headers = {"Origin": origin, "Content-Type": "application/json"} | headers
        body = json.dumps(body).encode() if not isinstance(body, bytes) else body
    request = urllib.request.Request(server.address + path, body, headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read(), answer.headers
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read(), error.headers


def one(row, decision, revision=0, **others):
    """Return a decision about a row, as the page sends it."""
    return {
        "row": row, "decision": decision, "revision": revision, "action": token_hex(8)
    } | others  # fmt: skip


def said(server, path, body=None, status=200):
    found, content, _ = ask(server, path, body)
    assert found == status, content
    return json.loads(content)


def test_the_queue_comes_in_parts_worst_first(server):
    whole = said(server, "queue?n=200")
    assert whole["total"] == 120
    assert [row["row"] for row in whole["rows"]] == server.review.rows().tolist()
    part = said(server, "queue?n=10&begin=5")
    assert part["rows"] == whole["rows"][5:15]
    wrong = said(server, "queue?verdict=wrong,suspect")
    assert {row["verdict"] for row in wrong["rows"]} <= {"wrong", "suspect"}
    assert said(server, f"queue?find=%23{'9' * 5000}")["total"] == 0
    named = said(server, "queue?find=%2318%20animal")
    assert [row["row"] for row in named["rows"]] == [18]


def test_a_decision_is_in_the_file_before_the_answer(server):
    row = said(server, "queue?n=1")["rows"][0]
    sent = one(row["row"], "change", note="so")
    answer = said(server, "decide", sent)
    assert answer == {"saved": True, "new": 1}
    (decision,) = read_decisions(server.review.journal.path)
    assert (decision.row, decision.new_label, decision.note) == (
        row["row"],
        row["second_class"],
        "so",
    )
    assert said(server, "state")["decided"] == 1
    folder = Path(server.review.table.path).parent
    assert {path.name for path in folder.iterdir()} == {"animals.csv", "animals.decisions.csv"}
    assert row["row"] not in [other["row"] for other in said(server, "queue?n=200")["rows"]]
    # Sent again, it is acknowledged again and taken once.
    assert said(server, "decide", sent)["new"] == 0
    assert said(server, "undo", {"action": sent["action"]}) == {"rows": [row["row"]]}


def test_a_card_comes_with_its_decision(server):
    row = said(server, "queue?n=1")["rows"][0]["row"]
    card = said(server, f"card/{row}")
    assert (card["decision"], card["row"]) == (None, row)
    assert f"animal {row - 1}" in card["html"]
    said(server, "decide", one(row, "exclude"))
    assert said(server, f"card/{row}")["decision"] == "exclude"


def test_many_rows_are_decided_as_they_were_previewed_even_after_another_fit(server):
    preview = said(server, "preview", {"decision": "change", "verdict": "wrong"})
    first, *others = preview["rows"]
    said(server, "decide", one(first["row"], "keep"))
    for row in server.review.rows()[40:70].tolist():
        server.review.decide(row, "change", "emu")
    server.review.refit()
    news = said(server, "decide-many", {"token": preview["token"]})["new"]
    assert news == preview["total"] - 1  # one was decided meanwhile, and keeps its decision
    assert server.review.decision(first["row"]).decision == "keep"
    for shown in others:
        assert server.review.decision(shown["row"]).new_label == shown["second_class"]
    assert said(server, "decide-many", {"token": preview["token"]})["new"] == 0  # sent again
    assert len(said(server, "undo", {"action": preview["token"]})["rows"]) == news
    assert said(server, "decide-many", {"token": preview["token"]})["new"] == 0
    unknown = said(server, "decide-many", {"token": "of no preview"}, status=400)
    assert "not previewed" in unknown["error"]


# --- two people, or two tabs


def test_an_action_that_is_sent_again_after_somebody_undid_it_is_not_taken_again(server):
    sent = one(5, "exclude")
    said(server, "decide", sent)
    undone = {"action": sent["action"]}
    assert said(server, "undo", undone) == {"rows": [5]}
    assert said(server, "decide", sent) == {"saved": True, "new": 0}
    assert server.review.decision(5) is None


def test_an_undo_that_is_sent_again_undoes_nothing_more(server):
    sent = [one(row, "keep") for row in (5, 6)]
    for decision in sent:
        said(server, "decide", decision)
    undone = {"action": sent[1]["action"]}
    assert said(server, "undo", undone) == {"rows": [6]}
    assert said(server, "undo", undone) == {"rows": []}
    said(server, "decide", one(6, "exclude", revision=2))
    assert said(server, "undo", undone) == {"rows": []}
    assert sorted(server.review._log.active) == [5, 6]


def test_a_decision_on_an_old_card_is_a_conflict_that_shows_the_other_one(server):
    said(server, "decide", one(5, "exclude", note="blurred"))
    stale = one(5, "unsure")
    answer = said(server, "decide", stale, status=409)
    assert answer["error"] == "row 5 was decided on elsewhere since this card was shown."
    conflict = answer["conflict"]
    assert (conflict["decision"], conflict["note"], conflict["revision"]) == (
        "exclude", "blurred", 1,
    )  # fmt: skip
    assert len(server.review.journal.lines) == 1
    assert said(server, "decide", stale | {"revision": conflict["revision"]})["new"] == 1
    # The same decision of two people is none.
    assert said(server, "decide", one(5, "unsure"))["new"] == 0


def test_a_decision_on_a_row_whose_decision_was_undone_is_a_conflict(server):
    sent = one(5, "exclude")
    said(server, "decide", sent)
    seen = said(server, "card/5")
    said(server, "undo", {"action": sent["action"]})
    answer = said(server, "decide", one(5, "keep", seen["revision"]), status=409)
    assert (answer["conflict"]["decision"], answer["conflict"]["revision"]) == (None, 2)


def test_a_single_decision_on_an_old_card_does_not_replace_one_of_many(server):
    row = said(server, "queue?verdict=wrong")["rows"][0]
    preview = said(server, "preview", {"decision": "keep", "verdict": "wrong"})
    said(server, "decide-many", {"token": preview["token"]})
    answer = said(server, "decide", one(row["row"], "exclude", row["revision"]), status=409)
    assert answer["conflict"]["decision"] == "keep"
    assert answer["conflict"]["batch"] == f"{preview['token']}/{preview['total']}"
    assert server.review.decision(row["row"]).decision == "keep"


def test_many_rows_leave_out_those_decided_or_undone_since_the_preview(server):
    preview = said(server, "preview", {"decision": "exclude", "verdict": "wrong"})
    first, second = (row["row"] for row in preview["rows"][:2])
    said(server, "decide", one(first, "keep"))
    undone = one(second, "keep")
    said(server, "decide", undone)
    said(server, "undo", {"action": undone["action"]})
    assert said(server, "decide-many", {"token": preview["token"]})["new"] == preview["total"] - 2
    assert server.review.decision(first).decision == "keep"
    assert server.review.decision(second) is None


def test_one_row_of_many_is_undone_alone(server):
    preview = said(server, "preview", {"decision": "keep", "verdict": "wrong"})
    said(server, "decide-many", {"token": preview["token"]})
    row = preview["rows"][1]["row"]
    action = said(server, f"card/{row}")["action"]
    assert said(server, "undo", {"action": action, "row": row}) == {"rows": [row]}
    assert said(server, "undo", {"action": action, "row": row}) == {"rows": []}
    assert len(said(server, "undo", {"action": action})["rows"]) == preview["total"] - 1


def test_decided_rows_are_listed_latest_first_by_kind_and_by_filter(server):
    for row, decision in ((5, "keep"), (9, "exclude"), (7, "unsure"), (5, "exclude")):
        said(server, "decide", one(row, decision, server.review.revision(row)))

    def listed(query):
        return [row["row"] for row in said(server, f"queue?order=decided{query}")["rows"]]

    assert listed("") == [5, 7, 9]
    assert listed("&decided=exclude") == [5, 9]
    assert listed("&decided=exclude,unsure&column=name&value=animal%208") == [9]
    (found,) = said(server, "queue?find=%237")["rows"]  # among open rows, too
    assert (found["row"], found["decision"], found["who"]) == (7, "unsure", server.review.who)


# --- what is refused


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        ("decide", one(9999, "keep"), "row 9999 does not exist"),
        ("decide", one(1, "sell"), "Invalid enum value 'sell' - at `$.decision`"),
        ("decide", one(1, "change", label="cow"), "'cow' is no class"),
        ("decide", one(1, "change", label="a\x00b", new_class=True), "cannot be a class"),
        ("decide", {"decision": "keep"}, "row"),
        ("decide", {"row": 1, "decision": "keep"}, "missing required field"),  # an older page
        ("decide", one("x", "keep"), "Expected `int`, got `str` - at `$.row`"),
        ("decide", one(1, "keep", order="luck"), "luck"),
        ("decide", one(1, "keep", note="\ud800"), ""),
        ("decide", one(1, "keep", action="a,b\n"), "at `$.action`"),
        ("undo", {}, "action"),
        ("decide", [1], "Expected `object`"),
        ("decide", b"{", ""),
        ("preview", {}, "decision"),
        ("columns", {"ignore": "width"}, "Expected `array`"),
        ("queue?n=100000", None, "<= 200"),
        ("queue?order=luck", None, "luck"),
        ("card/9999", None, "row 9999 does not exist"),
        ("queue?column=none&value=1", None, "there is no column 'none'"),
        ("values?column=none", None, "there is no column 'none'"),
        (f"card/{'9' * 5000}", None, "Integer value out of range - at `$.row`"),
        (
            "decide",
            b'{"row": %b, "decision": "keep"}' % (b"9" * 5000),
            "Integer value out of range",
        ),
        ("decide", b'{"x": ' * 10_000, "maximum recursion depth"),
    ],
)
def test_an_invalid_request_gets_one_sentence_and_changes_nothing(server, path, body, message):
    status, content, _ = ask(server, path, body)
    assert status == 400
    assert message in json.loads(content)["error"]
    assert server.review.journal.lines == []


def test_a_bulk_decision_that_could_not_be_saved_can_be_tried_again(server, monkeypatch):
    preview = said(server, "preview", {"decision": "keep", "verdict": "wrong"})

    def full(journal, decisions):
        raise OSError(errno.ENOSPC, "No space left on device", "animals.decisions.csv")

    monkeypatch.setattr(Journal, "append", full)
    answer = said(server, "decide-many", {"token": preview["token"]}, status=507)
    assert answer["error"].startswith("Nothing was saved: animals.decisions.csv: no space left")
    monkeypatch.undo()
    assert said(server, "decide-many", {"token": preview["token"]})["new"] == preview["total"]


def test_an_unexpected_error_becomes_a_sentence(server, monkeypatch):
    def broken(*arguments, **settings):
        raise RuntimeError("no idea")

    monkeypatch.setattr(type(server.review), "decide_many", broken)
    answer = said(server, "decide", one(1, "keep"), status=500)
    assert answer["error"] == "Nothing was saved: unexpected RuntimeError: no idea"
    deep = ask(server, "decide", b"[" * 30_000)
    assert deep[0] in (400, 500)
    assert "error" in json.loads(deep[1])


def test_columns_are_chosen_and_the_audit_is_fitted_again(server):
    assert said(server, "columns", {"ignore": ["width"], "include": []})["started"]
    server.review.background.wait()
    assert said(server, "state")["generation"] == 1
    used = [column.name for column in server.review.table.data.schema.used]
    assert "width" not in used
    said(server, "columns", {"ignore": ["nothing"]})
    server.review.background.wait()
    assert "There is no column 'nothing'" in said(server, "state")["failure"]


def test_a_changed_table_is_a_conflict(server):
    path = server.review.table.path
    path.write_text(path.read_text().replace("animal 3,", "animal 3x,"))
    answer = said(server, "decide", one(1, "keep"), status=409)
    assert "has changed since it was read" in answer["error"]
    assert read_decisions(server.review.journal.path) == []


@pytest.mark.parametrize(
    "name",
    [
        "review.html", "../review.py", "..%2freview.py", "%2e%2e/journal.py", "audit.js",
        "..%5c..%5cjournal.py", "/etc/passwd", "%2fetc%2fpasswd",
    ],
)  # fmt: skip
def test_only_files_of_the_page_are_served(server, name):
    status, content, _ = ask(server, f"static/{name}")
    assert status == 404
    assert b"root:" not in content


def test_another_site_gets_nothing(server):
    assert ask(server, "state", **{"Sec-Fetch-Site": "cross-site"})[0] == 403
    assert ask(server, "state", Host="evil.example")[0] == 421
    evil = one(1, "exclude")
    assert ask(server, "decide", evil, Origin="http://evil.example")[0] == 403
    assert server.review.journal.lines == []


def test_a_method_that_changes_nothing_decides_nothing(server):
    assert ask(server, "decide?row=1&decision=keep")[0] == 405
    assert ask(server, "undo")[0] == 405
    assert server.review.journal.lines == []


def test_every_answer_has_the_policy(server):
    for path in ("", "static/review.js", "state", "card/1", "nothing", "../refused"):
        _, _, headers = ask(server, path)
        policy = headers["Content-Security-Policy"]
        assert "unsafe" not in policy
        for rule in ("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"):
            assert rule in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cache-Control"] == "no-store"


def test_decisions_sent_at_once_are_all_taken_once(server):
    rows = server.review.rows()[:30].tolist()
    threads = [
        threading.Thread(target=said, args=(server, "decide", one(row, "keep"))) for row in rows * 2
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = [line.row for line in server.review.journal.lines]
    assert sorted(lines) == sorted(rows)


def test_a_port_in_use_is_an_error_that_names_it():
    with bound_socket() as taken:
        port = taken.getsockname()[1]
        assert taken.getsockname()[0] == "127.0.0.1"
        with pytest.raises(OSError, match=f"port {port} of this machine cannot be used"):
            bound_socket(port)
