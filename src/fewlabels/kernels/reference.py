"""Plain NumPy: the specification that every fast kernel is checked against. Written to be read, not to be fast."""

from __future__ import annotations

import numpy as np

from fewlabels.arrays import EPS, Flags, Floats, Ints


def among(G: Floats, nodes: Ints | None) -> Floats:
    """(u, u) G among these nodes, of one for all."""
    return G if nodes is None else G[np.ix_(nodes, nodes)]


def variance(G: Floats, island: Ints) -> Floats:
    """Variance left at each node, G_kk; infinite where the component has no label."""
    return np.where(island < 0, np.diag(G), np.inf)


def respond(G: Floats, island: Ints, q: int) -> tuple[Floats, Floats]:
    """What an answer at q does to every node k: its share r_k of the surprise, h'_k = h_k + r_k (y - h_q), and G'_kk.

    In a component without a label the answer is all there is to know: r_k = 1, and G'_kk is the effective resistance
    between k and q. A variance never falls below its own rounding error.
    """
    if island[q] < 0:
        r = G[q] / G[q, q]  # (u,)
        before = variance(G, island)
        return r, np.maximum(before - G[q] ** 2 / G[q, q], EPS * before)
    same = island == island[q]
    apart = np.diag(G) + G[q, q]  # (u,)
    resistance = np.maximum(apart - 2 * G[q], EPS * apart)
    return same.astype(float), np.where(same, resistance, variance(G, island))


def two_step_marginals(h: Floats, variance: Floats) -> Floats:
    """Chance of each class at each node, summing out the others in two steps (decision value f_k), normalised."""
    f = 2 * h / variance[:, None]  # (u, C)
    log_p = -np.logaddexp(0, -f)  # log sigmoid: keeps the ratios even when every class is unlikely
    p = np.exp(log_p - log_p.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


def harmonic_marginals(h: Floats) -> Floats:
    """Chance of each class at each node when label propagation is read as a probability, normalised."""
    p = np.clip((h + 1) / 2, 0, 1)  # (u, C)
    return p / p.sum(axis=1, keepdims=True)


def harmonic_error(h: Floats) -> Floats:
    """(u,) one minus the largest harmonic marginal. (h + 1) / 2 sums to one over the classes wherever a label reaches,
    also where a smooth field leaves [-1, 1]: there the largest counts as one. Where no label reaches, h is 0.
    """
    blank = ~h.any(axis=1)
    return np.where(blank, 1 - 1 / h.shape[1], np.maximum((1 - h.max(axis=1, initial=-1)) / 2, 0))


def two_step_cost(
    G: Floats, h: Floats, island: Ints, n: int,
    *, nodes: Ints | None = None, piece: Ints | None = None, asked: Flags | None = None, signed: bool = False,
) -> Floats:  # fmt: skip
    """Look-ahead risk R+q of the two-step marginals: the expected error over all n nodes once q is answered."""
    G = among(G, nodes)
    u, C = h.shape
    chance = two_step_marginals(h, variance(G, island))  # (u, C)
    cost = np.zeros(u)
    for q in range(u):
        r, v = respond(G, island, q)
        others = np.arange(u) != q
        for c in range(C):
            h_after = h + np.outer(r, answer(c, C) - h[q])
            p = two_step_marginals(h_after[others], v[others])
            cost[q] += chance[q, c] * (1 - p.max(axis=1)).sum() / n
    return cost


def harmonic_cost(
    G: Floats, h: Floats, island: Ints, n: int,
    *, nodes: Ints | None = None, piece: Ints | None = None, asked: Flags | None = None, signed: bool = False,
) -> Floats:  # fmt: skip
    """Look-ahead risk R+q of the harmonic marginals (ZLG)."""
    G = among(G, nodes)
    u, C = h.shape
    chance = harmonic_marginals(h)  # (u, C)
    cost = np.zeros(u)
    for q in range(u):
        r, _ = respond(G, island, q)
        others = np.arange(u) != q
        for c in range(C):
            h_after = h[others] + np.outer(r[others], answer(c, C) - h[q])
            cost[q] += chance[q, c] * harmonic_error(h_after).sum() / n
    return cost


def vopt_cost(G: Floats, island: Ints, *, nodes: Ints | None = None) -> Floats:
    """Variance left after each question: tr G - |G_q|^2 / G_qq. A component without a label comes first."""
    G = among(G, nodes)
    return vopt_from_sums((G**2).sum(axis=1), np.diag(G), island)


def sopt_cost(G: Floats, island: Ints, *, nodes: Ints | None = None) -> Floats:
    """Variance left in the sum of labels: 1'G1 - (1'G_q)^2 / G_qq. The largest component without a label is first."""
    G = among(G, nodes)
    return sopt_from_sums(G.sum(axis=1), np.diag(G), island)


def vopt_from_sums(squares: Floats, diagonal: Floats, island: Ints) -> Floats:
    """VOpt from (u,) the sums of squares of G's rows and its diagonal."""
    size = island_size(island)
    with np.errstate(divide="ignore", invalid="ignore"):
        change = np.where(size > 0, size * diagonal, -squares / diagonal)
    return first_by_rank((size == 0).astype(np.int64), diagonal.sum() + change)


def sopt_from_sums(sums: Floats, diagonal: Floats, island: Ints) -> Floats:
    """SOpt from (u,) the sums of G's rows and its diagonal."""
    size = island_size(island)
    with np.errstate(divide="ignore", invalid="ignore"):
        change = np.where(size > 0, size**2 * diagonal, -(sums**2) / diagonal)
    return first_by_rank(size.max(initial=0) - size, sums.sum() + change)


def first_by_rank(rank: Ints, finite: Floats) -> Floats:
    """Finite costs in the order of rank / eps + finite as eps -> 0; the lowest rank keeps its finite costs."""
    if len(rank) == 0:
        return finite
    return finite + (rank - rank.min()) * (1 + np.ptp(finite))


def answer(c: int, C: int) -> Floats:
    """(C,) what an answer c says to each one-vs-rest column: +1 to its own, -1 to the others."""
    return np.where(np.arange(C) == c, 1.0, -1.0)


def downdate(G: Floats, h: Floats, island: Ints, q: int, c: int) -> None:
    """Node q is known to be of class c: change G, h and island in place; row and column q of G become zero."""
    r, _ = respond(G, island, q)
    h += np.outer(r, answer(c, h.shape[1]) - h[q])
    if island[q] < 0:
        G -= np.outer(G[q], G[q]) / G[q, q]
    else:
        same = np.flatnonzero(island == island[q])
        column = G[same, q]
        G[np.ix_(same, same)] += G[q, q] - column[:, None] - column[None, :]
        island[same] = -1


def shift(G: Floats, h: Floats, q: int, v: float, h_q: Floats) -> None:
    """The answers at node q change: its variance becomes v, its h becomes h_q (C,); the other nodes follow.

    Both move by the share r of what happens at q, in place. With v = 0 this is `downdate`.
    """
    r, before = G[q] / G[q, q], G[q, q]  # (u,)
    h += np.outer(r, h_q - h[q])
    G += np.outer(r, r) * (v - before)
    G[q] = G[:, q] = r * v


def ground(G: Floats, h: Floats, island: Ints, q: int, v: float, h_q: Floats) -> None:
    """The first answer in a component without a label, at q: its variance becomes v, and h_q (C,) every node's h.

    In place, as `shift`. With v = 0 this is `downdate`.
    """
    same = np.flatnonzero(island == island[q])
    column = G[same, q]
    G[np.ix_(same, same)] += v + (G[q, q] - column[:, None] - column[None, :])
    h[same] = h_q
    island[same] = -1


def center(G: Floats, members: Ints) -> None:
    """Turn the block of members, any generalised inverse of their Laplacian, into the pseudo-inverse, in place."""
    block = G[np.ix_(members, members)]
    mean = block.mean(axis=0)
    G[np.ix_(members, members)] = block - mean[:, None] - mean[None, :] + mean.mean()


def island_size(island: Ints) -> Ints:
    """(u,) number of nodes in the node's component if it has no label, else 0."""
    size = np.zeros(len(island), dtype=np.int64)
    reached = island < 0
    _, which, count = np.unique(island[~reached], return_inverse=True, return_counts=True)
    size[~reached] = count[which]
    return size


def neighbourhood_overlap(W: Floats) -> Floats:
    """(n, n) how alike the neighbourhoods of linked nodes are: the cosine between their rows of W, a node being as
    close to itself as to its closest neighbour; 0 where there is no link.
    """
    N = W + np.diag(W.max(axis=1))
    length = np.sqrt((N**2).sum(axis=1))
    cosine = N @ N.T / np.maximum(np.outer(length, length), np.finfo(float).tiny)  # a node without links has length 0
    return np.where(W > 0, cosine, 0.0)
