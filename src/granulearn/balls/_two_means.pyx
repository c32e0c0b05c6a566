"""Split balls in two by 2-means.

A split sends a row to the right when ``(row - midpoint) . direction > 0``: for two means, that
is the side of the nearer mean, at the price of one dot product. Rows are never moved. Only
`order`, in which they are visited, changes, and always stably. Random numbers are keyed by the
path from the first ball, so the order in which balls are split cannot change a result.
"""

import numpy as np

from libc.stdint cimport int32_t, uint8_t, uint64_t

from granulearn.utils.random cimport mixed, uniform

cdef uint64_t LEFT = 0xD1B54A32D192ED03ULL
cdef uint64_t RIGHT = 0x8CB92BA72F3D8DD7ULL
cdef enum:
    MAX_LLOYD_PASSES = 30
    POINTS_PER_IDLE_CHANGE = 128  # means rest when at most one point in 128 changes sides
    STACK_SIZE = 128  # the smaller part is split first, so log2(n) entries would do


cdef class Splitter:
    """Splits balls of labelled rows, and notes where the balls are.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        Inputs.
    codes : ndarray of shape (n,)
        Class of each row.
    order : ndarray of shape (n,)
        The rows, ball by ball; changed.
    sizes : ndarray of shape (n,)
        Set to the size of a ball at the position in `order` where it starts; zero elsewhere.
    n_classes : int
        Number of classes.
    purity : float
        Balls below this purity are split.
    from_class_means : bool
        Whether means start at class means; else at two rows drawn by k-means++.
    max_fit : int
        Two means of a larger ball are fitted on this number of its rows.
    """

    cdef const double[:, ::1] rows
    cdef const int32_t[::1] codes
    cdef Py_ssize_t[::1] order, sizes, class_counts
    cdef Py_ssize_t n_features, max_fit
    cdef double purity
    cdef bint from_class_means
    # The m points on which two means are fitted, as columns: loops over points vectorise.
    cdef double[:, ::1] points
    cdef Py_ssize_t[::1] point_row
    cdef double[::1] score  # a number per point
    cdef double[::1] total, moved  # sums of all points, and of those on the right
    cdef double[::1] left, right, midpoint, direction
    cdef uint8_t[::1] side  # 1 where a row of the ball goes right
    cdef Py_ssize_t[::1] spare  # the rows that go right

    def __init__(self, rows, codes, order, sizes, n_classes, purity, from_class_means, max_fit):
        n, d = rows.shape
        max_fit = min(max_fit, n)
        self.rows, self.codes, self.order, self.sizes = rows, codes, order, sizes
        self.n_features, self.max_fit, self.purity = d, max_fit, purity
        self.from_class_means = from_class_means
        self.class_counts = np.zeros(n_classes, np.intp)
        self.points, self.point_row = np.empty((d, max_fit)), np.empty(max_fit, np.intp)
        self.score = np.empty(max_fit)
        self.total, self.moved, self.left, self.right = np.empty((4, d))
        self.midpoint, self.direction = np.empty((2, d))
        self.side, self.spare = np.empty(n, np.uint8), np.empty(n, np.intp)

    def split(self, Py_ssize_t start, Py_ssize_t stop, uint64_t key):
        """Split one ball; return (start, stop, key) of both parts, none if it stays whole."""
        cdef Py_ssize_t cut
        with nogil:
            cut = self.cut(start, stop, key)
        if cut == 0:
            return []
        return [(start, cut, mixed(key ^ LEFT)), (cut, stop, mixed(key ^ RIGHT))]

    def split_all(self, uint64_t key):
        """Split until every ball is pure enough or cannot be split."""
        cdef Py_ssize_t[STACK_SIZE] starts, stops
        cdef uint64_t[STACK_SIZE] keys
        cdef Py_ssize_t n_pending = 1, start, stop, cut
        cdef Py_ssize_t left, right
        starts[0], stops[0], keys[0] = 0, self.rows.shape[0], key
        with nogil:
            while n_pending > 0:
                n_pending -= 1
                start, stop, key = starts[n_pending], stops[n_pending], keys[n_pending]
                cut = self.cut(start, stop, key)
                if cut == 0:
                    continue
                left, right = n_pending, n_pending + 1
                if cut - start <= stop - cut:
                    left, right = right, left
                starts[left], stops[left], keys[left] = start, cut, mixed(key ^ LEFT)
                starts[right], stops[right], keys[right] = cut, stop, mixed(key ^ RIGHT)
                n_pending += 2

    cdef Py_ssize_t cut(self, Py_ssize_t start, Py_ssize_t stop, uint64_t key) noexcept nogil:
        """Split a ball in place; return where the right part starts, 0 if it stays whole."""
        cdef Py_ssize_t size = stop - start, n_right = 0, to_left = start, to_right = 0, i, row
        cdef Py_ssize_t m = min(size, self.max_fit)
        cdef int majority
        cdef bint seeded = False
        self.sizes[start] = size
        if size == 1 or self.is_pure(start, stop, &majority):
            return 0
        self.take_points(start, stop, key, m)
        if self.from_class_means:
            seeded = self.seed_class_means(m, majority)
        if not seeded:
            seeded = self.seed_plus_plus(key, m)
        if seeded:
            n_right = self.lloyd(m)
            if m < size:
                n_right = self.assign_sides(start, stop)
        if n_right == 0 or n_right == size:
            if not self.halve_widest_feature(start, stop):
                return 0
            n_right = self.assign_sides(start, stop)
        if n_right == 0 or n_right == size:
            return 0
        for i in range(size):
            row = self.order[start + i]
            if self.side[i]:
                self.spare[to_right] = row
                to_right += 1
            else:
                self.order[to_left] = row
                to_left += 1
        for i in range(to_right):
            self.order[to_left + i] = self.spare[i]
        self.sizes[start] = 0  # until the left part is visited
        return to_left

    cdef bint is_pure(self, Py_ssize_t start, Py_ssize_t stop, int* majority) noexcept nogil:
        """Return whether a ball is pure enough, and set its most frequent class."""
        cdef Py_ssize_t i, most = 0
        cdef int c
        for i in range(start, stop):
            c = self.codes[self.order[i]]
            self.class_counts[c] += 1
            if self.class_counts[c] > most or (self.class_counts[c] == most and c < majority[0]):
                majority[0], most = c, self.class_counts[c]
        for i in range(start, stop):
            self.class_counts[self.codes[self.order[i]]] = 0
        return <double>most / (stop - start) >= self.purity

    cdef void take_points(
        self, Py_ssize_t start, Py_ssize_t stop, uint64_t key, Py_ssize_t m
    ) noexcept nogil:
        """Copy the rows on which two means are fitted: all, or m of a larger ball."""
        cdef Py_ssize_t size = stop - start, i, j, at
        self.total[:] = 0.0
        for i in range(m):
            at = i
            if m < size:
                # One row of each of m equal slices: never all from one end of sorted data.
                at = min(<Py_ssize_t>((i + uniform(key, i + 2)) * (<double>size / m)), size - 1)
            self.point_row[i] = self.order[start + at]
            for j in range(self.n_features):
                self.points[j, i] = self.rows[self.point_row[i], j]
                self.total[j] += self.points[j, i]

    cdef bint seed_plus_plus(self, uint64_t key, Py_ssize_t m) noexcept nogil:
        """Draw two seeds by k-means++; return whether there are two different points."""
        cdef Py_ssize_t first = <Py_ssize_t>(uniform(key, 0) * m), second = -1, i, j
        cdef double total = 0.0, target, seed, difference
        cdef double* own
        cdef double* score = &self.score[0]
        self.score[:m] = 0.0
        for j in range(self.n_features):
            own, seed = &self.points[j, 0], self.points[j, first]
            for i in range(m):
                difference = own[i] - seed
                score[i] += difference * difference
        for i in range(m):
            total += score[i]
        target = uniform(key, 1) * total
        for i in range(m):
            if score[i] > 0.0:
                second = i
                target -= score[i]
                if target < 0.0:
                    break
        if second < 0:
            return False
        for j in range(self.n_features):
            self.left[j], self.right[j] = self.points[j, first], self.points[j, second]
        return True

    cdef bint seed_class_means(self, Py_ssize_t m, int majority) noexcept nogil:
        """Start from the means of the majority and the rest; return whether both have points."""
        cdef Py_ssize_t n_rest = 0, i, j
        self.moved[:] = 0.0
        for i in range(m):
            if self.codes[self.point_row[i]] != majority:
                n_rest += 1
                for j in range(self.n_features):
                    self.moved[j] += self.points[j, i]
        if n_rest == 0 or n_rest == m:
            return False
        self.set_means(m, n_rest)
        return True

    cdef void set_means(self, Py_ssize_t m, Py_ssize_t n_right) noexcept nogil:
        """Set both means from the sums of all m points and of those on the right."""
        cdef Py_ssize_t j
        for j in range(self.n_features):
            self.left[j] = (self.total[j] - self.moved[j]) / (m - n_right)
            self.right[j] = self.moved[j] / n_right

    cdef Py_ssize_t lloyd(self, Py_ssize_t m) noexcept nogil:
        """Move two means until hardly a point changes sides; return how many are on the right."""
        cdef Py_ssize_t n_right = 0, n_changed, i, j, step
        cdef double slope, origin
        cdef double* own
        cdef double* score = &self.score[0]
        cdef int sign
        self.moved[:] = 0.0
        self.side[:m] = 0
        for step in range(MAX_LLOYD_PASSES):
            self.score[:m] = 0.0
            for j in range(self.n_features):
                slope = self.right[j] - self.left[j]
                origin = self.left[j] + 0.5 * slope
                self.midpoint[j], self.direction[j] = origin, slope
                own = &self.points[j, 0]
                for i in range(m):
                    score[i] += (own[i] - origin) * slope
            n_changed = 0
            for i in range(m):
                if (score[i] > 0.0) != self.side[i]:
                    # Only points that change sides touch the sum: few, after the first pass.
                    n_changed += 1
                    self.side[i] = not self.side[i]
                    sign = 1 if self.side[i] else -1
                    n_right += sign
                    for j in range(self.n_features):
                        self.moved[j] += sign * self.rows[self.point_row[i], j]
            if n_changed <= m // POINTS_PER_IDLE_CHANGE or n_right == 0 or n_right == m:
                break
            self.set_means(m, n_right)
        return n_right

    cdef bint halve_widest_feature(self, Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
        """Cut the feature with the largest range; return False when all rows are the same.

        This is used where two means do not part the rows: their seeds coincide, or differences
        are lost to rounding. Both sides get at least one row.
        """
        cdef Py_ssize_t widest = -1, i, j
        cdef double low = 0.0, high = 0.0, smallest, largest, middle
        for j in range(self.n_features):
            smallest = largest = self.rows[self.order[start], j]
            for i in range(start + 1, stop):
                smallest = min(smallest, self.rows[self.order[i], j])
                largest = max(largest, self.rows[self.order[i], j])
            if largest > smallest and (widest < 0 or largest - smallest > high - low):
                widest, low, high = j, smallest, largest
        if widest < 0:
            return False
        middle = low + (high - low) / 2
        self.midpoint[:] = 0.0
        self.direction[:] = 0.0
        self.direction[widest] = 1.0
        self.midpoint[widest] = middle if middle < high else low
        return True

    cdef Py_ssize_t assign_sides(self, Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
        """Send every row of a ball to its side; return how many went right."""
        cdef Py_ssize_t n_right = 0, i, j
        cdef double product
        cdef const double* row
        for i in range(stop - start):
            row, product = &self.rows[self.order[start + i], 0], 0.0
            for j in range(self.n_features):
                product += (row[j] - self.midpoint[j]) * self.direction[j]
            self.side[i] = product > 0.0
            n_right += self.side[i]
        return n_right
