"""The costs of all questions when the rows of G are on workers: `kernels.cpu`, a block of rows at a time.

A worker scores the questions whose rows it holds. It is sent h, the diagonal and the like, O(n) numbers, and sends back
a cost for each question.
"""

from __future__ import annotations

import numpy as np

from fewlabels.arrays import Flags, Floats
from fewlabels.field.cluster.blocks import Blocks
from fewlabels.kernels.cpu.lookahead import perhaps_lowest, screening_error, screens
from fewlabels.kernels.cpu.rows import Surroundings
from fewlabels.kernels.reference import sopt_from_sums, vopt_from_sums


def two_step_cost(blocks: Blocks, around: Surroundings, n: int, skipped: Flags) -> Floats:
    everyone = np.arange(len(around.unlabelled))
    single = screens(around.diagonal, around.island)
    found: Floats
    found, steep_mean = blocks.ask("two_step", around, everyone, single)
    if single:
        close = perhaps_lowest(found / n, screening_error(steep_mean), np.flatnonzero(~skipped))
        found[close], _ = blocks.ask("two_step", around, close, False)
    return found / n


def harmonic_cost(blocks: Blocks, around: Surroundings, n: int) -> Floats:
    found: Floats = blocks.ask("harmonic", around, np.arange(len(around.unlabelled)))
    return found / n


def vopt_cost(blocks: Blocks, around: Surroundings) -> Floats:
    _, squares = blocks.ask("sums")
    return vopt_from_sums(squares[around.unlabelled], around.diagonal, around.island)


def sopt_cost(blocks: Blocks, around: Surroundings) -> Floats:
    sums, _ = blocks.ask("sums")
    return sopt_from_sums(sums[around.unlabelled], around.diagonal, around.island)
