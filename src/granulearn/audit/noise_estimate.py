"""How many labels are wrong: the confident joint of given and likely classes."""

from __future__ import annotations

import numpy as np


def estimate_noise(proba: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Estimate how often samples of one likely class are given another.

    A sample is confidently of a class when its probability is at least the mean
    probability that samples given that class have. Where several classes qualify,
    the most probable one counts. Confident samples are counted by given and likely
    class, and counts are scaled to the number of samples given each class. A class
    given to one sample only is known to no model that did not see this sample: the
    sample is left out, and no other is confidently of that class.

    Parameters
    ----------
    proba : ndarray of shape (n_samples, n_classes)
        Class probabilities from models that did not see the sample; rows of
        NaN are left out.
    codes : ndarray of shape (n_samples,)
        Given class of each sample.

    Returns
    -------
    ndarray of shape (n_classes, n_classes)
        Share of the samples not left out that are given the row's class and
        likely of the column's; sums to one, or is NaN if all are left out. The
        sum off the diagonal estimates the share of wrong labels. Ambiguous
        samples count as well, so it may lie above or below the share of labels
        that are flagged, which is another count.

    References
    ----------
    C. Northcutt, L. Jiang, I. Chuang, "Confident Learning: Estimating
    Uncertainty in Dataset Labels", J. of Artificial Intelligence Research 70
    (2021).

    Examples
    --------
    >>> import numpy as np
    >>> proba = np.array([[0.9, 0.1], [0.8, 0.2], [0.1, 0.9], [0.9, 0.1]])
    >>> estimate_noise(proba, np.array([0, 0, 1, 1]))
    array([[0.5 , 0.  ],
           [0.25, 0.25]])
    """
    n_classes = proba.shape[1]
    alone = np.bincount(codes, minlength=n_classes) == 1
    known = ~np.isnan(proba).any(axis=1) & ~alone[codes]
    if not known.any():
        return np.full((n_classes, n_classes), np.nan)
    proba, given = proba[known], codes[known]
    typical = np.array(
        [proba[given == k, k].mean() if (given == k).any() else np.inf for k in range(n_classes)]
    )
    confident = proba >= typical
    likely = np.where(confident, proba, -1).argmax(axis=1)
    sure = confident.any(axis=1)
    counts = np.zeros((n_classes, n_classes))
    np.add.at(counts, (given[sure], likely[sure]), 1)
    totals = np.bincount(given, minlength=n_classes)
    # A class without a confident sample says nothing against its labels.
    silent = counts.sum(axis=1) == 0
    counts[silent, silent] = 1
    counts *= (totals / counts.sum(axis=1))[:, None]
    return counts / counts.sum()
