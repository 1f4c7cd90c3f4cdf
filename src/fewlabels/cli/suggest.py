"""fewlabels suggest: one step of a pipeline."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from fewlabels.cli.options import (
    CONFIDENCE,
    TARGET,
    Centred,
    Confidence,
    Field,
    NodeEmbed,
    NodeFeatures,
    NodeImage,
    NodeText,
    Overlap,
    Predictions,
    Seed,
    Smoothness,
    StrategyName,
    Target,
    comma_separated,
    console,
    number,
    reading,
)
from fewlabels.errors import SettingError

if TYPE_CHECKING:
    from fewlabels.arrays import Floats
    from fewlabels.files.predictions import ModelPredictions
    from fewlabels.graph import Graph
    from fewlabels.learner import ActiveLearner

VERDICTS = {
    "learning": "still learning",
    "probable": "probably below {}, not certain yet",
    "checked": "at most {}, you can stop",
    "above": "above {}, go on",
}


def suggest(
    edges: Annotated[
        Path,
        typer.Option(
            help="A table (CSV, Excel, Parquet, JSON): source, target, optionally weight; or .graphml; or a matrix."
        ),
    ],
    labels: Annotated[
        Path | None, typer.Option(help="The same kinds of file, with columns node and label; may be empty.")
    ] = None,
    classes: Annotated[
        str | None, typer.Option(help="All classes, as a,b,c; default: those in the labels file.")
    ] = None,
    features: NodeFeatures = None,
    text: NodeText = None,
    image: NodeImage = None,
    embed: NodeEmbed = None,
    neighbors: Annotated[int, typer.Option(help="With --features: nearest neighbours of a node.", min=1)] = 10,
    n: Annotated[int, typer.Option("-n", help="How many nodes to ask about.", min=1)] = 5,
    out: Annotated[Path | None, typer.Option(help="CSV to write: node, label, prediction, chances.")] = None,
    strategy: StrategyName = "tsa",
    beta: Annotated[str, typer.Option(help='Strength of the ties: a number, or "auto".')] = "auto",
    smoothness: Smoothness = "auto",
    overlap: Overlap = "auto",
    centred: Centred = None,
    field: Field = "auto",
    prior: Annotated[
        str | None, typer.Option(help="Shares of the classes where they are known, as cat=0.9,dog=0.1.")
    ] = None,
    predictions: Predictions = None,
    check: Annotated[
        int, typer.Option(help="How many checks to draw: nodes at random, to measure the error by.", min=0)
    ] = 0,
    checked: Annotated[
        Path | None,
        typer.Option(help="The checks drawn before, in their order: a table with a column node; or what --out wrote."),
    ] = None,
    target: Target = TARGET,
    confidence: Confidence = CONFIDENCE,
    seed: Seed = 0,
) -> None:
    """Say which nodes of your graph to label next, and predict the others: one step of a pipeline.

    Example: **fewlabels suggest --edges edges.csv --labels labels.csv -n 5 --out predictions.csv**

    With no label yet, name the classes: **fewlabels suggest --edges edges.csv --classes cat,dog**

    Papers with citations and words: **fewlabels suggest --edges cites.csv --features papers.csv --text abstract
    --labels labels.csv**

    The same, their abstracts compared by a pretrained network: **--text abstract --embed auto**

    With what a model already thinks: **fewlabels suggest --edges edges.csv --predictions model.csv**

    How wrong is it? Draw checks with **--check 20 --out p.csv**, answer them in labels.csv without looking at the
    predictions, and say **--labels labels.csv --checked p.csv**
    """
    from fewlabels.files.atomic import refuse_overwriting, require_writable
    from fewlabels.files.labels import read_checks, read_labels
    from fewlabels.files.predictions import read_predictions
    from fewlabels.graph.read import read_edges
    from fewlabels.items.network import with_node_features
    from fewlabels.learner import ActiveLearner
    from fewlabels.learner.estimate import percent
    from fewlabels.learner.report import write_predictions
    from fewlabels.learner.verdict import counted

    if out:
        refuse_overwriting(out, (edges, features))
        require_writable(out)
    with reading() as tell:
        graph = with_node_features(read_edges(edges, tell), features, text, neighbors, tell, image=image, embed=embed)
    known = read_labels(labels, graph.names, console.print) if labels else {}
    model = read_predictions(predictions, comma_separated(classes) or ()) if predictions else None
    heard = sorted({*known.values(), *(model.labels if model else ())})
    named = list(comma_separated(classes) or heard)
    if len(named) < 2:
        raise SettingError(f"only {len(named)} class(es) known: name all of them with --classes a,b,c.")
    with console.status(f"Looking ahead on {graph.n_nodes:,} nodes"):
        learner = ActiveLearner(
            graph, named, strategy, number(beta), random_state=seed,
            smoothness=number(smoothness), overlap=number(overlap), centred="auto" if centred is None else centred,
            field=field, prior=_prior(prior, predictions, model, graph, named),
        )  # fmt: skip
        learner.add_checks(read_checks(checked, graph.names) if checked else [])
        learner.teach(list(known), list(known.values()))
        learner.skip(blank := without_answer(learner))
        left = graph.n_nodes - len(known) - len(blank)
        drawn = learner.check(min(check, left)) if check and left else []
        waiting = [each.node for each in learner.checks if each.label is None and not each.skipped]
        asked = min(n, left - len(waiting))
        next_nodes = learner.query(asked, without=waiting) if asked > 0 else []
        gains, chances = learner.gains(), learner.predict_proba()
    console.print(
        f"{graph.n_nodes:,} nodes, {graph.n_edges:,} edges, {len(known)} labelled; "
        + (f"expected error {learner.expected_error():.4f}" if not learner.unheard else _too_early(learner.unheard))
    )
    if checked:
        verdict = learner.verdict(target, confidence)
        found = f"{percent(verdict.estimate.value)}, {verdict.estimate}; " if verdict.estimate.checks else ""
        console.print(f"error: {found}{counted(verdict.estimate)}: {VERDICTS[verdict.state].format(percent(target))}")
        if blank:
            console.print(f"{len(blank)} checks before the last answered one have no answer: they count as skipped.")
    console.print(f"Learns by: {learner.describe()}.")
    if unreached := learner.unreached:
        console.print(
            f"{len(unreached):,} nodes lie in parts of the graph without a label: nothing is known about them yet.",
            highlight=False,
        )
    if not next_nodes and not drawn:
        console.print("Every node is labelled: there is nothing left to ask.")
    else:
        table = Table(
            "ask",
            *(["kind"] if drawn else []),
            "gain",
            "most likely",
            "chance",
            caption="gain: how much the expected error should drop",
            caption_justify="left",
        )
        for node in next_nodes:
            k = graph.position(node)
            kind = ["question"] if drawn else []
            table.add_row(str(node), *kind, f"{gains[k]:+.5f}", named[chances[k].argmax()], f"{chances[k].max():.2f}")
        for node in drawn:  # nothing is said of these: whoever answers must not know what is predicted
            table.add_row(str(node), "check", "", "", "")
        console.print(table)
    if out:
        write_predictions(out, learner)
        console.print(f"Predictions for all nodes: {out}")


def without_answer(learner: ActiveLearner) -> list[Hashable]:
    """The checks that somebody has passed over: drawn before the last one that is answered."""
    checks = learner.checks
    last = max((turn for turn, each in enumerate(checks) if each.label is not None), default=0)
    return [each.node for each in checks[:last] if each.label is None]


def _too_early(unheard: list[Any]) -> str:
    names = ", ".join(map(str, unheard[:3])) + (" and others" if len(unheard) > 3 else "")
    return f"too early to tell the error: no answer yet for {names}"


def _prior(
    shares: str | None, file: Path | None, model: ModelPredictions | None, graph: Graph, classes: list[str]
) -> dict[Hashable, float] | Floats | None:
    """What is known before the first answer: the shares of the classes, or a model's chances."""
    from fewlabels.learner.prior import chances_of_model

    if model is None:
        return _shares(shares)
    if shares is not None:
        raise SettingError("--prior and --predictions given together: a model's chances tell shares. Leave one out.")
    about = len({str(name) for name in graph.names} & set(model.nodes))
    if not about:
        raise SettingError(f"{file}: none of the predictions is about a node of the graph, such as {graph.names[0]!r}.")
    if unknown := next((label for label in model.labels if label not in classes), None):
        raise SettingError(f"{file} predicts {unknown!r}, which is no class: name all of them with --classes a,b,c.")
    console.print(f"A model's predictions for {about:,} of {graph.n_nodes:,} nodes")
    return chances_of_model(model, graph.names, classes)


def _shares(text: str | None) -> dict[Hashable, float] | None:
    """{class: share} from cat=0.9,dog=0.1."""
    if text is None:
        return None
    found: dict[Hashable, float] = {}
    for part in text.split(","):
        name, _, share = part.rpartition("=")
        value = number(share.strip())
        if not name or isinstance(value, str):
            raise SettingError(f"--prior {text!r}: {part!r} is not class=share. Write it as cat=0.9,dog=0.1.")
        found[name.strip()] = value
    return found
