"""Two-means balls: split by 2-means until every ball is pure enough.

Balls of many rows are split one after the other. Smaller ones are split in threads, each down to
its last ball. Every ball has a key that depends only on the path to it, so any number of threads
draws the same random numbers.
"""

from __future__ import annotations

import numpy as np

from granulearn.balls._two_means import Splitter
from granulearn.balls.ball_set import balls_in_order, scaled_rows
from granulearn.balls.generators import BallGenerator, check_purity
from granulearn.utils.threads import in_threads

INITS = ("k-means++", "class-means")
MAX_FIT_ROWS = 500  # two means of a larger ball are fitted on 500 of its rows
BUCKET_ROWS = 16_384  # rows of a smaller ball are copied, to stay in the cache


class TwoMeansBalls(BallGenerator):
    """Split balls in two by 2-means until each is pure enough.

    The generator of the paper, and the default. It starts with one ball of all
    samples and splits every ball whose purity (the share of its most frequent
    class) is below `purity`. Use it when labels are clean, or as the baseline for
    other generators. Its weak point is wrong labels: to be pure, a ball must get rid
    of them, so most of them end as balls of one sample.

    Parameters
    ----------
    purity : float, default=0.985
        Balls below this purity are split. Identical rows cannot be split:
        with different labels they stay one impure ball.
    init : {"k-means++", "class-means"}, default="k-means++"
        Where the two means start: at two samples drawn by k-means++, or at the
        mean of the ball's majority class and the mean of its other samples.

    Notes
    -----
    The two means of a ball with more than 500 samples are fitted on that many
    of them; all its samples are then assigned.

    Examples
    --------
    >>> from granulearn import generate_balls
    >>> from granulearn.balls import TwoMeansBalls
    >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]
    >>> generate_balls(X, list("aaabbb"), balls=TwoMeansBalls(purity=0.9), random_state=0)
    <BallSet: 2 balls of 6 samples, 1 features, 2 classes>
    """

    name = "two-means"

    def __init__(self, purity=0.985, init="k-means++"):
        self.purity = purity
        self.init = init

    def _validate_params(self):
        check_purity(self.purity)
        if self.init not in INITS:
            known = ", ".join(map(repr, INITS))
            raise ValueError(f"init={self.init!r} is not known; use one of {known}.")

    def _generate(self, samples, seed, n_threads):
        rows, scale = scaled_rows(samples.X)
        order, sizes = np.arange(len(rows)), np.zeros(len(rows), np.intp)
        settings = (
            len(samples.classes), self.purity, self.init == "class-means", MAX_FIT_ROWS,
        )  # fmt: skip

        def split_bucket(bucket: tuple[int, int, int]) -> None:
            start, stop, key = bucket
            own, local = order[start:stop].copy(), np.arange(stop - start)
            splitter = Splitter(rows[own], samples.codes[own], local, sizes[start:stop], *settings)
            splitter.split_all(key)
            order[start:stop] = own[local]

        pending, buckets = [(0, len(rows), seed)], []
        whole = Splitter(rows, samples.codes, order, sizes, *settings)
        while pending:
            bucket = pending.pop()
            if bucket[1] - bucket[0] > BUCKET_ROWS:
                pending += whole.split(*bucket)
            else:
                buckets.append(bucket)
        in_threads(split_bucket, buckets, n_threads)
        return balls_in_order(samples, rows, scale, order, np.flatnonzero(sizes))
