"""Search the splits of a ball, and grow a tree by them.

A tree's rows are columns side by side. The rows of a ball are a slice of `order`, grouped by
class: the mean of a class is a sum over one slice, and the class counts of a side are counted
slice by slice.

A candidate is a direction from one class mean to another in a few features, or a single feature.
Each has one or more thresholds; a row goes right when its dot product with the direction exceeds
the threshold. The most evidence wins. Random numbers are keyed by tree and node, so neither
threads nor the order of splits change a result.
"""

import numpy as np

from libc.math cimport INFINITY, lgamma
from libc.stdint cimport int32_t, uint64_t

from granulearn.utils.random cimport mixed, uniform

cdef enum:
    MAX_LEAF_ROWS = 3  # a ball of at most three rows is not split
    MAX_THRESHOLDS = 8
    STACK_SIZE = 128  # the smaller ball is split first, so log2(n) entries would do

# Two candidates may find the same parts, and rounding must not choose between them.
cdef double TIE = 1e-7

ctypedef Py_ssize_t index


cdef class TreeGrower:
    """Grows one tree on labelled rows.

    Parameters
    ----------
    columns : ndarray of shape (n_features, n_rows)
        Inputs.
    codes : ndarray of shape (n_rows,)
        Class of each row.
    weights : ndarray of shape (n_rows,) or (0,)
        Weights; empty where all are one.
    n_classes : int
        Number of classes.
    n_directions, n_axes, n_thresholds : int
        Directions and single features to try for each ball, and thresholds for each of them.
    max_spared : int
        A ball of at most this number of rows is not split where no candidate gains evidence.
    alpha : float
        Dirichlet weight of each class.
    of_class, of_ball : ndarray
        log gamma(n + a) - log gamma(a) for whole n, where a is alpha, or the sum over classes.
    max_judged : int
        Candidates for a larger ball are judged on this number of its rows.
    """

    cdef const double[:, ::1] columns
    cdef const double[::1] weights, of_class, of_ball
    cdef double alpha
    cdef int n_classes, n_directions, n_axes, n_thresholds
    cdef index max_features, max_spared, max_judged
    cdef int32_t[::1] order, spare
    cdef index[::1] class_bounds  # of the first ball
    # The rows that candidates are judged on, where each class begins, and how many there are.
    cdef int32_t* judged
    cdef index* bounds
    cdef index size
    cdef int32_t[::1] thinned
    cdef index[::1] thinned_bounds
    # Features; those known to be constant in the ball come last.
    cdef int32_t[::1] live
    # The weight of each class in the ball, and what goes right of each threshold.
    cdef double[::1] counts
    cdef double[:, ::1] right_counts
    cdef index[:, ::1] right_rows
    # The candidate at hand: the values of its features, and its dot product for each row.
    cdef int32_t[::1] features
    cdef double[::1] means, direction, projection
    cdef double[:, ::1] values
    cdef double[MAX_THRESHOLDS] thresholds
    # The best candidate so far. One without features parts nothing.
    cdef int n_best
    cdef bint best_at_row  # whether its threshold is the value of a row
    cdef double best_threshold, best_evidence
    cdef int32_t[::1] best_features
    cdef double[::1] best_direction
    # Draws of the ball at hand.
    cdef uint64_t key, counter

    def __init__(
        self, columns, codes, weights, n_classes, *, n_directions, n_axes, n_thresholds,
        max_spared, alpha, of_class, of_ball, max_judged=2048,
    ):
        d, n = columns.shape
        m = max(1, round(d**0.5))
        self.columns, self.weights, self.n_classes = columns, weights, n_classes
        self.n_directions, self.n_axes = n_directions, n_axes
        self.n_thresholds, self.max_spared = n_thresholds, max_spared
        self.alpha, self.of_class, self.of_ball = alpha, of_class, of_ball
        self.max_features, self.max_judged = m, max_judged
        self.order = np.argsort(codes, kind="stable").astype(np.int32)
        self.class_bounds = np.append(0, np.cumsum(np.bincount(codes, minlength=n_classes)))
        self.spare = np.empty(n, np.int32)
        self.thinned = np.empty(max_judged + n_classes, np.int32)
        self.thinned_bounds = np.empty(n_classes + 1, np.intp)
        self.live = np.arange(d, dtype=np.int32)
        self.counts = np.empty(n_classes)
        self.right_counts = np.empty((n_classes, MAX_THRESHOLDS))
        self.right_rows = np.empty((n_classes, MAX_THRESHOLDS), np.intp)
        self.features, self.best_features = np.empty((2, m), np.int32)
        self.means, self.direction, self.best_direction = np.empty((3, m))
        self.projection, self.values = np.empty(n), np.empty((m, n))

    def grow(self, uint64_t key):
        """Grow the tree; return its arrays, children after their parent.

        Returns
        -------
        tuple of ndarray
            The left child of each node, which the right one follows (0 at a leaf), where its
            features begin and how many it has, features, directions, thresholds, class counts.
        """
        cdef index n = self.order.shape[0], K = self.n_classes, n_nodes = 1, n_filled = 0
        cdef index n_pending = 1, node, n_live, i, j, left, right
        children_of, begins_of, widths_of = (np.zeros(2 * n, np.int32) for _ in range(3))
        features_of = np.empty(n * self.max_features, np.int32)
        directions_of, thresholds_of = np.empty(n * self.max_features), np.empty(2 * n)
        counts_of = np.empty((2 * n, K))
        cdef int32_t[::1] children = children_of, begins = begins_of, widths = widths_of
        cdef int32_t[::1] features = features_of
        cdef double[::1] directions = directions_of, thresholds = thresholds_of
        cdef double[:, ::1] counts = counts_of
        cdef index[:, ::1] pending = np.empty((STACK_SIZE, K + 1), np.intp)
        cdef index[STACK_SIZE] pending_node, pending_live
        cdef index[::1] own = np.empty(K + 1, np.intp)
        pending[0] = self.class_bounds
        pending_node[0], pending_live[0] = 0, self.columns.shape[0]
        with nogil:
            while n_pending > 0:
                n_pending -= 1
                node, n_live = pending_node[n_pending], pending_live[n_pending]
                for i in range(K + 1):
                    own[i] = pending[n_pending, i]
                if self.count_classes(&self.order[0], &own[0], &counts[node, 0]) == 1:
                    continue
                if own[K] - own[0] <= MAX_LEAF_ROWS or n_live == 0:
                    continue
                n_live = self.find_split(&own[0], mixed(key ^ mixed(node)), n_live)
                if self.n_best == 0:
                    continue
                begins[node], widths[node] = n_filled, self.n_best
                for j in range(self.n_best):
                    features[n_filled + j] = self.best_features[j]
                    directions[n_filled + j] = self.best_direction[j]
                n_filled += self.n_best
                # The larger part waits, and the smaller one is split next.
                left, right = n_pending, n_pending + 1
                thresholds[node] = self.part_rows(&own[0], &pending[left, 0], &pending[right, 0])
                if pending[left, K] - pending[left, 0] < pending[right, K] - pending[right, 0]:
                    left, right = right, left
                    for i in range(K + 1):
                        own[i] = pending[left, i]
                        pending[left, i] = pending[right, i]
                        pending[right, i] = own[i]
                children[node] = n_nodes
                pending_node[left], pending_node[right] = n_nodes, n_nodes + 1
                pending_live[left] = pending_live[right] = n_live
                n_pending += 2
                n_nodes += 2
        return (
            children_of[:n_nodes], begins_of[:n_nodes], widths_of[:n_nodes],
            features_of[:n_filled], directions_of[:n_filled], thresholds_of[:n_nodes],
            counts_of[:n_nodes],
        )

    cdef int count_classes(
        self,
        const int32_t* rows,
        const index* bounds,
        double* counts,  # OUT (K,)
    ) noexcept nogil:
        """Sum the weights of each class in a ball; return how many classes it has."""
        cdef int n_present = 0, k
        cdef index i
        for k in range(self.n_classes):
            n_present += bounds[k + 1] > bounds[k]
            counts[k] = bounds[k + 1] - bounds[k]
            if self.weights.shape[0] > 0:
                counts[k] = 0.0
                for i in range(bounds[k], bounds[k + 1]):
                    counts[k] += self.weights[rows[i]]
        return n_present

    cdef index find_split(self, index* own, uint64_t key, index n_live) noexcept nogil:
        """Find the best split of a ball; return how many features are live in it."""
        cdef int K = self.n_classes
        cdef bint is_whole = own[K] - own[0] <= self.max_judged
        self.judged, self.bounds = &self.order[0], own
        if not is_whole:
            self.thin_rows(own)
            self.judged, self.bounds = &self.thinned[0], &self.thinned_bounds[0]
        self.size = self.bounds[K] - self.bounds[0]
        self.judged += self.bounds[0]
        self.count_classes(self.judged - self.bounds[0], self.bounds, &self.counts[0])
        self.key, self.counter = key, 0
        self.n_best, self.best_evidence = 0, 0.0
        self.try_directions(n_live)
        n_live = self.try_axes(n_live, is_whole)
        if self.size <= self.max_spared and self.best_evidence <= self.evidence() + TIE:
            self.n_best = 0
        return n_live

    cdef void thin_rows(self, const index* own) noexcept nogil:
        """Take rows of a large ball at even steps: each class by its share, at least one."""
        cdef index n_taken = 0, length, n_own, size = own[self.n_classes] - own[0], i
        cdef int k
        self.thinned_bounds[0] = 0
        for k in range(self.n_classes):
            length = own[k + 1] - own[k]
            n_own = max(length * self.max_judged // size, min(length, 1))
            for i in range(n_own):
                self.thinned[n_taken + i] = self.order[own[k] + i * length // n_own]
            n_taken += n_own
            self.thinned_bounds[k + 1] = n_taken

    cdef double draw(self) noexcept nogil:
        """Return the next random number in [0, 1)."""
        self.counter += 1
        return uniform(self.key, self.counter - 1)

    cdef void try_directions(self, index n_live) noexcept nogil:
        """Try directions between class means."""
        cdef int attempt, first, second, n_used, j
        cdef double middle
        for attempt in range(self.n_directions):
            n_used = self.draw_features(n_live)
            first = self.draw_class(-1)
            second = self.draw_class(first)
            for j in range(n_used):
                self.take_column(self.features[j], &self.values[j, 0])
            self.set_means(n_used, first, &self.means[0])
            self.set_means(n_used, second, &self.direction[0])
            middle = 0.0
            for j in range(n_used):
                self.direction[j] -= self.means[j]
                middle += self.direction[j] * (self.means[j] + 0.5 * self.direction[j])
            self.project(&self.direction[0], n_used, self.size)
            self.thresholds[0] = middle
            self.draw_thresholds(1)
            self.judge(n_used, 1)

    cdef index try_axes(self, index n_live, bint is_whole) noexcept nogil:
        """Try single features; return how many features are live.

        Features are drawn without replacement, all of them before one comes again. Those drawn
        lie behind the open ones in `live`, and those found constant behind these.
        """
        cdef index n_open = n_live, at
        cdef int n_tried = 0
        cdef int32_t feature
        self.direction[0] = 1.0
        while n_tried < self.n_axes:
            if n_open == 0:
                if n_tried == 0:
                    break
                n_open = n_live
            at = <index>(self.draw() * n_open)
            n_open -= 1
            feature = self.live[at]
            self.live[at] = self.live[n_open]
            self.live[n_open] = feature
            if not self.take_column(feature, &self.projection[0]):
                if is_whole:
                    n_live -= 1
                    self.live[n_open] = self.live[n_live]
                    self.live[n_live] = feature
                continue
            n_tried += 1
            self.features[0] = feature
            self.draw_thresholds(0)
            self.judge(1, 0)
        return n_live

    cdef int draw_features(self, index n_live) noexcept nogil:
        """Draw different live features; return how many."""
        cdef int n_used = min(1 + <int>(self.draw() * self.max_features), n_live), filled = 0, j
        cdef int32_t drawn
        while filled < n_used:
            drawn = self.live[<index>(self.draw() * n_live)]
            for j in range(filled):
                if self.features[j] == drawn:
                    break
            else:
                self.features[filled] = drawn
                filled += 1
        return n_used

    cdef int draw_class(self, int barred) noexcept nogil:
        """Draw the class of a random row, not of the barred class."""
        cdef double target = 0.0
        cdef int k, last = -1
        for k in range(self.n_classes):
            target += self.counts[k]
        if barred >= 0:
            target -= self.counts[barred]
        target *= self.draw()
        for k in range(self.n_classes):
            if k != barred and self.counts[k] > 0.0:
                last = k
                target -= self.counts[k]
                if target < 0.0:
                    break
        return last

    cdef bint take_column(
        self,
        int32_t feature,
        double* values,  # OUT (size,)
    ) noexcept nogil:
        """Copy the values of the judged rows; return whether they differ."""
        cdef const double* column = &self.columns[feature, 0]
        cdef double first = column[self.judged[0]]
        cdef index n_equal = 0, i
        for i in range(self.size):
            values[i] = column[self.judged[i]]
            n_equal += values[i] == first
        return n_equal < self.size

    cdef void set_means(
        self,
        int n_used,
        int k,
        double* means,  # OUT (n_used,)
    ) noexcept nogil:
        """Set the means of the used features over the rows of a class."""
        cdef index start = self.bounds[k] - self.bounds[0]
        cdef index stop = self.bounds[k + 1] - self.bounds[0], i, j
        cdef double total
        cdef double* own
        for j in range(n_used):
            own, total = &self.values[j, 0], 0.0
            if self.weights.shape[0] > 0:
                for i in range(start, stop):
                    total += self.weights[self.judged[i]] * own[i]
            else:
                for i in range(start, stop):
                    total += own[i]
            means[j] = total / self.counts[k]

    cdef void project(self, const double* direction, int n_used, index size) noexcept nogil:
        """Set the dot products of rows whose values were taken."""
        cdef index i, j
        cdef double slope = direction[0]
        cdef double* own = &self.values[0, 0]
        cdef double* projection = &self.projection[0]
        for i in range(size):
            projection[i] = own[i] * slope
        for j in range(1, n_used):
            own, slope = &self.values[j, 0], direction[j]
            for i in range(size):
                projection[i] += own[i] * slope

    cdef void draw_thresholds(self, int first) noexcept nogil:
        """Take the dot products of random rows as thresholds, from number `first` on."""
        cdef int j, n_drawn = min(self.n_thresholds, self.size - 1)
        for j in range(first, MAX_THRESHOLDS):
            self.thresholds[j] = INFINITY
            if j < n_drawn:
                self.thresholds[j] = self.projection[<index>(self.draw() * self.size)]

    cdef void judge(self, int n_used, int at_row) noexcept nogil:
        """Keep the candidate if one of its thresholds has more evidence than the best so far.

        Thresholds from number `at_row` on are values of rows.
        """
        cdef int j, i
        cdef double evidence
        self.count_right()
        for j in range(MAX_THRESHOLDS):
            if self.thresholds[j] == INFINITY or not self.parts(j):
                continue
            evidence = self.evidence_of_sides(j)
            if self.n_best == 0 or evidence > self.best_evidence + TIE:
                self.n_best, self.best_evidence = n_used, evidence
                self.best_threshold, self.best_at_row = self.thresholds[j], j >= at_row
                for i in range(n_used):
                    self.best_features[i] = self.features[i]
                    self.best_direction[i] = self.direction[i]

    cdef void count_right(self) noexcept nogil:
        """Count the rows of each class beyond each threshold, and sum their weights."""
        cdef index i, start = self.bounds[0]
        cdef int k, j
        cdef double value
        cdef index[MAX_THRESHOLDS] n_beyond
        cdef double[MAX_THRESHOLDS] thresholds
        for j in range(MAX_THRESHOLDS):
            thresholds[j] = self.thresholds[j]
        for k in range(self.n_classes):
            for j in range(MAX_THRESHOLDS):
                n_beyond[j] = 0
            for i in range(self.bounds[k] - start, self.bounds[k + 1] - start):
                value = self.projection[i]
                for j in range(MAX_THRESHOLDS):
                    n_beyond[j] += value > thresholds[j]
            for j in range(MAX_THRESHOLDS):
                self.right_rows[k, j] = n_beyond[j]
                self.right_counts[k, j] = n_beyond[j]
            if self.weights.shape[0] > 0:
                for j in range(MAX_THRESHOLDS):
                    self.right_counts[k, j] = 0.0
                for i in range(self.bounds[k] - start, self.bounds[k + 1] - start):
                    for j in range(MAX_THRESHOLDS):
                        if self.projection[i] > thresholds[j]:
                            self.right_counts[k, j] += self.weights[self.judged[i]]

    cdef bint parts(self, int j) noexcept nogil:
        """Return whether a threshold has rows on both sides."""
        cdef index n_right = 0
        cdef int k
        for k in range(self.n_classes):
            n_right += self.right_rows[k, j]
        return 0 < n_right < self.size

    cdef double evidence_of_sides(self, int j) noexcept nogil:
        """Return the logarithm of the evidence of both sides of a threshold."""
        cdef double evidence = 0.0, all_left = 0.0, all_right = 0.0, left, right
        cdef int k
        for k in range(self.n_classes):
            left, right = 0.0, self.right_counts[k, j]
            # Rounding must not leave a class without rows a trace of weight.
            if self.right_rows[k, j] < self.bounds[k + 1] - self.bounds[k]:
                left = max(self.counts[k] - right, 0.0)
            all_left += left
            all_right += right
            evidence += self.class_term(right) + self.class_term(left)
        return evidence - self.ball_term(all_right) - self.ball_term(all_left)

    cdef double evidence(self) noexcept nogil:
        """Return the logarithm of the evidence of the ball: a Dirichlet-multinomial."""
        cdef double total = 0.0, evidence = 0.0
        cdef int k
        for k in range(self.n_classes):
            total += self.counts[k]
            evidence += self.class_term(self.counts[k])
        return evidence - self.ball_term(total)

    cdef double class_term(self, double count) noexcept nogil:
        return log_gamma_ratio(self.of_class, self.alpha, count)

    cdef double ball_term(self, double count) noexcept nogil:
        return log_gamma_ratio(self.of_ball, self.alpha * self.n_classes, count)

    cdef double part_rows(
        self,
        const index* own,
        index* left,  # OUT (K + 1,): bounds of the left part
        index* right,  # OUT (K + 1,)
    ) noexcept nogil:
        """Carry out the best split on all rows of a ball; return its threshold."""
        cdef index start = own[0], to_left = start, to_right = 0, i
        cdef int j, k
        cdef int32_t row
        cdef double threshold = self.best_threshold
        self.judged, self.size = &self.order[start], own[self.n_classes] - start
        for j in range(self.n_best):
            self.take_column(self.best_features[j], &self.values[j, 0])
        self.project(&self.best_direction[0], self.n_best, self.size)
        if self.best_at_row:
            # A new row must not hang on a rounding error, as it would at the value of a row.
            threshold = self.middle_of_gap(threshold)
        left[0], right[0] = start, 0
        for k in range(self.n_classes):
            for i in range(own[k], own[k + 1]):
                row = self.order[i]
                if self.projection[i - start] > threshold:
                    self.spare[to_right] = row
                    to_right += 1
                else:
                    self.order[to_left] = row
                    to_left += 1
            left[k + 1], right[k + 1] = to_left, to_right
        for k in range(self.n_classes + 1):
            right[k] += to_left
        for i in range(to_right):
            self.order[to_left + i] = self.spare[i]
        return threshold

    cdef double middle_of_gap(self, double threshold) noexcept nogil:
        """Return the middle between the nearest dot products on both sides of the threshold."""
        cdef double left = -INFINITY, right = INFINITY, middle
        cdef index i
        for i in range(self.size):
            if self.projection[i] > threshold:
                right = min(right, self.projection[i])
            else:
                left = max(left, self.projection[i])
        middle = left + 0.5 * (right - left)
        return middle if middle < right else left


cdef inline double log_gamma_ratio(
    const double[::1] table, double shift, double x
) noexcept nogil:
    """Return log gamma(x + shift) - log gamma(shift), from the table where x is a whole number."""
    cdef index whole
    if x < table.shape[0]:
        whole = <index>x
        if whole == x:
            return table[whole]
    return lgamma(x + shift) - lgamma(shift)
