"""Killed at any moment, a review has every acknowledged decision, once."""

import http.client
import itertools
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
import warnings
from contextlib import closing, suppress
from pathlib import Path

import pytest

from granulearn.review.decisions import active_decisions, read_lines
from tests.review.tables import animals_file

KILLS = 12
MORTAL = Path(__file__).parents[1] / "review" / "mortal_reviews.py"


class Reviewer:
    """Somebody at the page: sends decisions, and remembers which of them were acknowledged."""

    def __init__(self, address, acknowledged, seed):
        found = re.fullmatch(r"http://(127\.0\.0\.1:\d+)(/[\w-]+/)", address)
        self.host, self.base = found[1], found[2]
        self.acknowledged = acknowledged
        self.random = random.Random(seed)

    def ask(self, method, path, body=None):
        content = None if body is None else json.dumps(body)
        headers = {"Origin": f"http://{self.host}", "Content-Type": "application/json"}
        with closing(http.client.HTTPConnection(self.host, timeout=30)) as connection:
            connection.request(method, self.base + path, content, {} if body is None else headers)
            with connection.getresponse() as answer:
                said = json.loads(answer.read())
        assert answer.status == 200, said
        return said

    def decide_until_killed(self, process):
        """Decide; after some answers the server is killed, at any moment of a request."""
        kill = threading.Timer(self.random.uniform(0, 0.03), os.kill, (process, signal.SIGKILL))
        n_answers = self.random.randint(0, 4)
        with suppress(OSError, http.client.HTTPException):
            for number in itertools.count():
                if number == n_answers:
                    kill.start()
                self.decide()
        kill.join()

    def decide(self):
        """Decide on one row, or on a few at once, or undo; note what the server answers."""
        act = self.random.random()
        if act < 0.15:
            for latest in self.ask("GET", "queue?order=decided&n=1")["rows"]:
                rows = self.ask("POST", "undo", {"action": latest["action"]})["rows"]
                self.acknowledged += [(row, "undo") for row in rows]
            return
        queue = self.ask("GET", "queue?n=5")["rows"]
        if act < 0.3 and queue:
            # Some ten names have these two digits.
            asked = {"decision": "exclude", "find": f"animal {self.random.randint(10, 99)}"}
            preview = self.ask("POST", "preview", asked)
            if preview["total"] == len(preview["rows"]):
                self.ask("POST", "decide-many", {"token": preview["token"]})
                self.acknowledged.extend((row["row"], "exclude") for row in preview["rows"])
        elif queue:
            chosen = self.random.choice(queue)
            decision = self.random.choice(["keep", "change", "unsure"])
            sent = {key: chosen[key] for key in ("row", "revision")} | {"decision": decision}
            self.ask("POST", "decide", sent | {"action": f"{self.random.getrandbits(64):016x}"})
            self.acknowledged.append((chosen["row"], decision))


@pytest.mark.slow
def test_acknowledged_decisions_survive_kills_once_each(tmp_path):
    table, _ = animals_file(tmp_path)
    journal = tmp_path / "animals.decisions.csv"
    found = [str(Path(__file__).parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]
    mortal = subprocess.Popen(
        [sys.executable, str(MORTAL), str(table), "--target", "kind", "--no-browser"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(found)},
    )
    acknowledged = []
    try:
        for kill in range(KILLS):
            mortal.stdin.write("start\n")
            mortal.stdin.flush()
            process = int(_until(mortal, r"process (\d+)"))
            address = _until(mortal, r"open (\S+)")
            reviewer = Reviewer(address, acknowledged, kill)
            reviewer.decide_until_killed(process)
            _until(mortal, "(ended)")
            _check(journal, acknowledged)
    finally:
        mortal.kill()
        mortal.communicate()
    assert len(acknowledged) > KILLS


def _until(mortal, pattern):
    """Return what a line of the review says; its other lines are passed over."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        line = mortal.stdout.readline()
        assert line, "the reviews ended"
        if found := re.search(pattern, line):
            return found[1]
        assert line != "ended\n", f"the review ended before it printed {pattern}"
    raise AssertionError(f"{pattern} was not printed")


def _check(journal, acknowledged):
    """Every acknowledged line is there, in its order; at most the last was not acknowledged."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of an end that was cut off
        read = read_lines(journal) if journal.exists() else []
    lines = [(line.row, line.decision) for line in read]
    more = [(line.row, line.decision, line.batch) for line in read[len(acknowledged) :]]
    assert lines[: len(acknowledged)] == acknowledged
    # One request was under way when the kill came; several lines are one batch.
    assert len({batch for *_, batch in more}) <= 1
    assert len(more) <= (int(more[0][2].partition("/")[2] or 1) if more else 0)
    acknowledged[:] = lines
    rows = [decision.row for decision in active_decisions(read)]
    assert len(rows) == len(set(rows))
