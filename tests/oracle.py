"""An oracle written only from the paper's definitions: explicit inverses, enumeration over answers, nothing shared.

`labels` is {node: class}. Every function takes the Laplacian L as a dense array; pass L + eps I for components
without a label. Slow on purpose.
"""

from fractions import Fraction

import numpy as np

EPS = 1e-7  # the eps of L + eps I


def laplacian(W, beta=1.0):
    W = np.asarray(W, dtype=float)
    return beta * (np.diag(W.sum(axis=1)) - W)


def split(n, labels):
    labelled = sorted(labels)
    return [k for k in range(n) if k not in labels], labelled


def one_vs_rest(labels, labelled, c):
    return np.array([1.0 if labels[k] == c else -1.0 for k in labelled])


def propagation(L, labels, C):
    """h = -inv(L_uu) L_ul y_l, a column per class."""
    u, labelled = split(len(L), labels)
    inverse = np.linalg.inv(L[np.ix_(u, u)])
    return np.stack([-inverse @ L[np.ix_(u, labelled)] @ one_vs_rest(labels, labelled, c) for c in range(C)], axis=1)


def two_step(L, labels, C):
    """TSA marginals from f_k = -2 L_kl y_l + 2 L_kv inv(L_vv) L_vl y_l, v the unlabelled nodes without k."""
    u, labelled = split(len(L), labels)
    p = np.empty((len(u), C))
    for row, k in enumerate(u):
        v = [j for j in u if j != k]
        for c in range(C):
            y = one_vs_rest(labels, labelled, c)
            f = -2 * L[k, labelled] @ y
            if v:
                f += 2 * L[k, v] @ np.linalg.solve(L[np.ix_(v, v)], L[np.ix_(v, labelled)] @ y)
            p[row, c] = 1 / (1 + np.exp(-f))
    return p / p.sum(axis=1, keepdims=True)


def harmonic(L, labels, C):
    """ZLG marginals: (h + 1) / 2."""
    p = (propagation(L, labels, C) + 1) / 2
    return p / p.sum(axis=1, keepdims=True)


def risk(p, n):
    return (1 - p.max(axis=1)).sum() / n if len(p) else 0.0


def lookahead(L, labels, C, marginals):
    """R+q = sum over answers y of P(Y_q = y) R(Y_q = y, labels), every term computed from scratch."""
    n = len(L)
    u, _ = split(n, labels)
    chance = marginals(L, labels, C)
    return np.array(
        [
            sum(chance[row, c] * (risk(marginals(L, {**labels, q: c}, C), n) if len(u) > 1 else 0.0) for c in range(C))
            for row, q in enumerate(u)
        ]
    )


def variance_left(L, labels, total, inverse=np.linalg.inv):
    """tr (VOpt) or sum (SOpt) of inv(L_vv) for the unlabelled nodes v without q, for every q."""
    u, _ = split(len(L), labels)
    costs = []
    for q in u:
        v = [k for k in u if k != q]
        costs.append(total(inverse(L[np.ix_(v, v)])) if v else 0.0)
    return np.array(costs)


def exact_laplacian(W, eps=0):
    """L + eps I in rational numbers."""
    W = [[Fraction(w) for w in row] for row in np.asarray(W).tolist()]
    n = len(W)
    return np.array([[sum(W[a]) + eps if a == b else -W[a][b] for b in range(n)] for a in range(n)], dtype=object)


def exact_inverse(A):
    """Gauss and Jordan on rational numbers: no rounding at all."""
    A = A.copy()
    m = len(A)
    B = np.array([[Fraction(int(a == b)) for b in range(m)] for a in range(m)], dtype=object)
    for p in range(m):
        A[p], B[p] = A[p] / A[p, p], B[p] / A[p, p]
        for row in range(m):
            if row != p:
                A[row], B[row] = A[row] - A[row, p] * A[p], B[row] - A[row, p] * B[p]
    return B


def smooth_laplacian(W, beta, smoothness):
    """Q = beta (L + smoothness L^2 / mean degree of the nodes that have edges)."""
    L = laplacian(W)
    degree = np.diag(L)
    return beta * (L + smoothness * L @ L / degree[degree > 0].mean()) if degree.any() else beta * L


def overlap_weights(W, power):
    """W with each weight times the overlap of its ends' neighbourhoods, to this power: sums over all third nodes."""
    n, found = len(W), np.zeros_like(W)
    near = [[W[i].max() if k == i else W[i, k] for k in range(n)] for i in range(n)]
    for i in range(n):
        for j in range(n):
            if W[i, j] > 0:
                shared = sum(near[i][k] * near[j][k] for k in range(n))
                alone = [sum(near[e][k] ** 2 for k in range(n)) for e in (i, j)]
                found[i, j] = W[i, j] * (shared / (alone[0] * alone[1]) ** 0.5) ** power
    return found
