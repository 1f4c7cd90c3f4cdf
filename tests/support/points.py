"""Points to test on, and labels that hide most of theirs."""

import numpy as np
from sklearn.datasets import make_blobs

LINE = np.arange(5.0)[:, None]
ENDS = [0, -1, -1, -1, 1]


def blobs(n=60, C=3, labelled=12, seed=0):
    """Points in overlapping heaps, and y with all but a few labels hidden."""
    X, y = make_blobs(n, n_features=3, centers=C, cluster_std=2.0, random_state=seed)
    hidden = y.copy()
    hidden[np.random.default_rng(seed).permutation(n)[labelled:]] = -1
    hidden[[int(np.flatnonzero(y == c)[0]) for c in range(C)]] = range(C)
    return X, y, hidden
