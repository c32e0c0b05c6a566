"""Work in the background: one piece at a time, and what goes wrong is told."""

import threading

from granulearn.review.background import Background


def test_one_piece_of_work_at_a_time():
    background, may_end, done = Background(), threading.Event(), []

    def work():
        may_end.wait(30)
        done.append(1)

    assert not background.is_busy
    assert background.start(work)
    assert background.is_busy
    assert not background.start(work)
    may_end.set()
    background.wait()
    assert done == [1]
    assert background.start(work)
    background.wait()
    assert done == [1, 1]


def test_a_failure_is_told_until_the_next_success():
    background = Background()

    def broken():
        raise ValueError("no memory")

    background.wait()
    background.start(broken)
    background.wait()
    assert background.failure == "no memory"
    background.start(lambda: None)
    background.wait()
    assert background.failure == ""
