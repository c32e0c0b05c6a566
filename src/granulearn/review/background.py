"""Work that goes on while somebody looks at cards: one piece at a time, and failures are told."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock, Thread


class Background:
    """Does one piece of work at a time in a thread of its own."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._worker: Thread | None = None
        self.failure = ""
        """Why the last piece of work came to nothing, if it did."""

    @property
    def is_busy(self) -> bool:
        """Whether there is work under way."""
        return self._worker is not None and self._worker.is_alive()

    def start(self, work: Callable[[], None]) -> bool:
        """Start some work, unless there is some under way; return whether it was started.

        Parameters
        ----------
        work : callable
            What to do.
        """
        with self._lock:
            if self.is_busy:
                return False
            self._worker = Thread(target=self._guarded, args=(work,), daemon=True)
            self._worker.start()
            return True

    def wait(self) -> None:
        """Wait until the work is done."""
        if self._worker is not None:
            self._worker.join()

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
            self.failure = ""
        except Exception as error:  # told by `failure`: nobody waits for this thread
            self.failure = str(error)
