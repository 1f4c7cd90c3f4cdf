"""Where the gpu engine's tests run: on the card if there is one, else on the CPU by Triton's interpreter."""

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'fewlabels[gpu]'")
triton = pytest.importorskip("triton", reason="triton is not installed: pip install 'fewlabels[gpu]'")

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

# NumPy, which interprets the kernels, warns of infinities that a mask takes out afterwards.
INTERPRETED = pytest.mark.filterwarnings("ignore::RuntimeWarning:triton.runtime.interpreter")


def coarse(monkeypatch, tile=(8, 16, 1)):
    """Tiles for the interpreter, which takes as long for a small one as for a large one; results do not depend on them.

    Small enough that some hold neither q nor the end of a row: the quick way is for those alone.
    """
    from fewlabels.kernels.gpu import launch as gpu

    if DEVICE == "cpu":
        monkeypatch.setattr(gpu, "TILES", dict.fromkeys(gpu.TILES, tile))
        monkeypatch.setattr(gpu, "UPDATE", (64, 256))
        monkeypatch.setattr(gpu, "SUMS", (64, 256))


def anywhere(monkeypatch):
    """engine="gpu" works on this machine, too."""
    from fewlabels.field.links.on_card import OnCard

    monkeypatch.setattr(OnCard.__init__, "__defaults__", (None, DEVICE))


def pair(graph, kind=torch.float64, smoothness=0.0, beta=0.8, C=3):
    """The field on the card, and its twin in memory, without answers."""
    from fewlabels.field import Answers, Conditioned, FieldSpec
    from fewlabels.field.links.in_memory import InMemory
    from fewlabels.field.links.on_card import OnCard

    recipe = FieldSpec(beta, smoothness, 0.0, "gpu").resolved(graph)
    return Conditioned(OnCard(recipe, kind, DEVICE), Answers(C)), Conditioned(InMemory(recipe), Answers(C))
