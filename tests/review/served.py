"""A review served in a thread of this process, for browsers and requests of tests."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Thread

from granulearn.review import Review
from granulearn.review.server import bound_socket, make_server

TOKEN = "token-of-a-test"


@dataclass
class Served:
    """A running server."""

    review: Review
    port: int

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/{TOKEN}/"


@contextmanager
def served(review: Review, port: int = 0) -> Iterator[Served]:
    """Serve a review until the block ends; the review itself stays open."""
    listening = bound_socket(port)
    port = listening.getsockname()[1]
    server = make_server(review, listening, TOKEN)
    # Signals belong to the main thread, which runs the tests.
    thread = Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    try:
        yield Served(review, port)
    finally:
        server.should_exit = True
        thread.join()
        listening.close()
