"""Reviews in processes of their own that can be killed: one imports everything and forks them.

Run with the arguments of ``granulearn review``. Each line on standard input starts a review; its
process number is printed, and then what the review prints.
"""

import os
import sys

import uvicorn  # noqa: F401  (what every review needs is imported once)

import granulearn.cli.review
import granulearn.review.server  # noqa: F401
from granulearn import Review
from granulearn.cli import main
from tests.review.tables import animals


def start(arguments):
    child = os.fork()
    if child == 0:
        os._exit(main.run(arguments))
    _say(f"process {child}")
    os.waitpid(child, 0)
    _say("ended")


def _say(line):
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    Review(animals()[0], "kind").next()  # and what it imports is there
    for _ in sys.stdin:
        start(["review", *sys.argv[1:]])
