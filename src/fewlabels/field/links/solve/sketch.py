"""diag(G) and the resistances along the edges, sketched: by random potentials, and by the slow waves where known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from fewlabels.arrays import Floats, Ints, Numbers
from fewlabels.field.links.solve import tall
from fewlabels.field.links.solve.pcg import Operator
from fewlabels.field.precision import Precision
from fewlabels.kernels.cpu import blocks, sketch
from fewlabels.machine.progress import Progress

if TYPE_CHECKING:
    from fewlabels.field.links.on_demand import OnDemand
    from fewlabels.field.links.solve.pinned import Solver

PROBES = 384  # a G_kk is then off by about sqrt(2 / 384) = 7% of its far part
FEWER = 192  # where the slow waves, most of the far part, are known
NEAR = 16  # a node and its strongest neighbours, among which it is exact
SAME = 1e-6  # what tells a wave apart from the others, as a share of its energy


def sketched(
    system: Operator,
    solver: Solver,
    precision: Precision,
    component: Ints,
    covariance: OnDemand,
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    """(n,) G_kk, and G_ii + G_jj - 2 G_ij of every edge.

    A right-hand side b with the covariance A (`kernels.cpu.sketch`) has a solution z with the covariance G, and G_kk =
    a_k + var(z_k - a'(A z)_N), a = inv(A_NN) e_k for the nodes N around k (`kernels.cpu.sketch.neighbourhoods`): only
    walks that leave them and come back are left to chance.
    Where one node alone is held, the potentials are taken about their mean over the component, which takes the common
    part, known exactly by the sums of G's rows, out of the noise. So is what the slow waves X tell of z, where the
    solver knows them: (A X)'z is X'b, of covariance X'A X, and X with z. A tie is the mean square of the difference of
    its ends.
    """
    n, held = len(system.held), system.held
    unsure = np.zeros(n)
    unsure[system.tied] = system.ties
    size, waves = np.bincount(component), solver.waves()
    means = sparse.csr_array((1 / size[component], (component, np.arange(n))), shape=(len(size), n))
    alone = bool((np.bincount(component[held], minlength=len(size)) == 1).all()) and not unsure.any()  # one node each
    probes = PROBES if waves is None else FEWER
    found = _Sums(system, precision, unsure)
    progress = Progress(f"setting up {n:,} nodes", -(-probes // sketch.MOST))

    def centred(Z: Numbers) -> Numbers:
        if alone:
            mean = (tall.gram(np.ones((n, 1), Z.dtype), Z) / n if len(size) == 1 else means @ Z).astype(Z.dtype)
            Z -= mean if len(mean) == 1 else mean[component]
        return Z

    told = None if waves is None else _Told(centred(waves), system, precision, unsure)
    if told:
        found.add(told.columns, 1)
    for left in range(0, probes, sketch.MOST):
        B: Any = np.empty((n, min(sketch.MOST, probes - left)), np.float32)
        sketch.noise(*system[:3], precision.share, unsure, int(rng.integers(2**62)), B)
        Z = centred(solver.solve(B))
        found.add(told.rest(Z, B) if told else Z, 1 / probes)
        progress.step()
    near = found.near[:, 0]
    if not alone:
        return np.where(held, 0.0, near + found.squares), found.ties
    mean = covariance.sums() / size[component]  # (n,) of each column of G
    overall = np.bincount(component, mean) / size
    apart = (
        near - 2 * found.near.sum(axis=1) / size[component] + found.squares
    )  # (n,) the diagonal of the pseudo-inverse
    return np.where(held, 0.0, np.maximum(apart + 2 * mean - overall[component], near)), found.ties


class _Told:
    """What b tells of z = G b by the waves X: z = columns xi + rest, xi being noise of variance one."""

    def __init__(self, X: Numbers, system: Operator, precision: Precision, unsure: Floats) -> None:
        """(n, k) X, zero in the rows held; it becomes the columns."""
        tied = np.flatnonzero(unsure)
        LX: Numbers = blocks.laplacian(*system[:2], system.weights.astype(X.dtype), X)
        inside = tall.gram(X, LX) + precision.share * tall.gram(LX, LX) + (X[tied].T * unsure[tied]) @ X[tied]  # X'A X
        energy = np.diag(inside)
        scale = np.divide(1, np.sqrt(energy), out=np.zeros(len(energy)), where=energy > 0)
        values, turned = np.linalg.eigh((inside + inside.T) / 2 * scale[:, None] * scale)
        tall.turn(X, scale[:, None] * turned * np.where(values > SAME, 1 / np.sqrt(np.maximum(values, SAME)), 0.0))
        self.columns = X

    def rest(self, Z: Numbers, B: Numbers) -> Numbers:
        """(n, m) Z = G B without what is told; it is spoilt."""
        xi = tall.gram(self.columns, B)
        return tall.scaled_sum(Z, np.ones(len(Z), Z.dtype), self.columns, -xi.astype(self.columns.dtype))


class _Sums:
    """What potentials add to the far part of every G_kk, and to every tie."""

    def __init__(self, system: Operator, precision: Precision, unsure: Floats) -> None:
        n = len(system.held)
        self._system, self._share, self._unsure = system, precision.share, unsure
        self.squares: Floats = np.zeros(n)
        self.ties: Floats = np.zeros(len(system.indices))
        members: Any = np.empty((n, NEAR), np.int32)
        self._members, self.near = members, np.empty((n, NEAR))
        sketch.neighbourhoods(
            *system[:3], precision.share, precision.degree, system.diagonal, system.held, self._members, self.near
        )

    def add(self, Z: Numbers, factor: float) -> None:
        """The potentials count `factor` times."""
        edges, number = self._system[:3], Z.dtype.type
        AZ = np.empty_like(Z)
        sketch.add_ties(*edges, Z, factor, self.ties, AZ)
        if self._share:
            AZ += number(self._share) * blocks.laplacian(*edges[:2], edges[2].astype(number), AZ)
        tied = self._system.tied
        AZ[tied] += self._unsure[tied, None].astype(number) * Z[tied]
        sketch.add_squares(self._members, self.near, Z, AZ, factor, self.squares)
