"""One self-contained page with every figure and table of a run."""

from __future__ import annotations

import base64
import io
import os
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from fewlabels.experiments import paper
from fewlabels.experiments.curves import by_trial, curve, interval, paired
from fewlabels.experiments.datasets import Dataset
from fewlabels.experiments.figures import draw_box, draw_curves, draw_figure_2
from fewlabels.experiments.results import provenance
from fewlabels.files.atomic import atomic_file

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


@dataclass
class Table:
    title: str
    columns: list[str]
    rows: list[list[Any]]
    folded: bool = False
    words: bool = False  # cells hold words: align them left


@dataclass
class Section:
    title: str
    pictures: list[dict[str, str]] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)


def paper_report(rows: dict[str, pd.DataFrame], box: Dataset) -> str:
    """The reproduction: all of Figure 2, then per dataset the verdict on every curve and sentence, and the numbers."""
    sections = []
    if set(rows) == set(paper.LABELS):
        sections.append(Section("Figure 2", [_picture(draw_figure_2(rows, box), "Figure 2, ours over the paper's")]))
    for name, mine in rows.items():
        section = Section(name, [_picture(draw_curves(mine, name), f"Accuracy on {name}")])
        if name == "box":
            section.pictures.append(_picture(draw_box(box), "The jittered box"))
        comparisons = paper.compare(name, mine)
        if comparisons:
            section.tables.append(_verdicts(comparisons))
        claims = paper.claims(name, mine)
        if claims:
            told = [[claim.sentence, claim.holds, claim.figures] for claim in claims]
            section.tables.append(
                Table("What the paper says about it", ["sentence", "holds", "figures"], told, words=True)
            )
        section.tables += [_numbers(comparison) for comparison in comparisons]
        sections.append(section)
    lead = "Curves of Jun & Nowak 2016, recomputed from scratch: ours with standard errors, the published ones dashed."
    return _render("The paper, reproduced", lead, sections)


def comparison_report(name: str, rows: pd.DataFrame, advice: str) -> str:
    """Strategies on one dataset of the user's own."""
    section = Section(
        name, [_picture(draw_curves(rows, name), f"Accuracy on {name}")], [areas(rows), differences(rows)]
    )
    return _render(f"Strategies on {name}", advice, [section])


def areas(rows: pd.DataFrame) -> Table:
    """Mean accuracy over all numbers of labels, the area under the curve, with its 95 % interval; the best first."""
    lines = []
    for strategy in dict.fromkeys(rows["strategy"]):
        per_trial = by_trial(rows, strategy).mean(axis=1).to_numpy()
        low, high = interval(per_trial)
        lines.append([strategy, per_trial.mean(), low, high, float(curve(rows, strategy).mean[-1])])
    lines.sort(key=lambda line: -line[1])
    shown = [[s, f"{mean:.4f}", f"{low:.4f} to {high:.4f}", f"{end:.4f}"] for s, mean, low, high, end in lines]
    return Table("Area under the accuracy curve", ["strategy", "area", "95 % interval", "accuracy at the end"], shown)


def differences(rows: pd.DataFrame) -> Table:
    """Every pair of strategies, compared on the same trials."""
    ranked = [row[0] for row in areas(rows).rows]
    lines = []
    for k, one in enumerate(ranked):
        for other in ranked[k + 1 :]:
            gap = paired(rows, one, other)
            lines.append([f"{one} - {other}", f"{gap.mean:+.4f}", f"{gap.low:+.4f} to {gap.high:+.4f}", gap.says])
    return Table("Pairs, on the same trials", ["pair", "difference in area", "95 % interval", "so the first is"], lines)


def advice(rows: pd.DataFrame) -> str:
    """One sentence: which strategy to use, and how sure that is."""
    ranked = [row[0] for row in areas(rows).rows]
    best = ranked[0]
    equals = [other for other in ranked[1:] if paired(rows, best, other).says == "no clear difference"]
    trials = rows["trial"].nunique()
    if len(ranked) == 1:
        return f"Only {best} was run: give at least two strategies to compare."
    if trials < 2:
        return f"{best} did best in the only trial: run more trials to be sure."
    if equals:
        return f"Use {best}; over {trials} trials {', '.join(equals)} cannot be told apart from it."
    return f"Use {best}: it is better than every other strategy here over {trials} trials."


def write(path: str | os.PathLike[str], page: str) -> None:
    with atomic_file(path) as draft:
        draft.write_text(page, encoding="utf-8")


def _verdicts(comparisons: list[paper.Comparison]) -> Table:
    lines = []
    for comparison in comparisons:
        agrees, why = comparison.verdict
        lines.append([comparison.strategy, agrees, why])
    return Table("Our curve and the paper's", ["strategy", "agree", "evidence"], lines, words=True)


def _numbers(comparison: paper.Comparison) -> Table:
    lines = [
        [int(k), f"{ours:.4f}", f"{theirs:.4f}", f"{gap:+.1f}"]
        for k, ours, theirs, gap in zip(
            comparison.labelled, comparison.ours, comparison.theirs, comparison.in_errors, strict=True
        )
    ]
    columns = ["labelled", "ours", "paper's", "difference in standard errors"]
    return Table(f"{comparison.strategy}: every number", columns, lines, folded=True)


def _picture(figure: Figure, alt: str) -> dict[str, str]:
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=110)
    return {"alt": alt, "data": base64.b64encode(content.getvalue()).decode()}


def _render(title: str, lead: str, sections: list[Section]) -> str:
    from jinja2 import Environment

    template = files("fewlabels.experiments").joinpath("report.html.jinja").read_text(encoding="utf-8")
    page = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(template)
    return page.render(title=title, lead=lead, sections=sections, origin=_origin())


def _origin() -> str:
    note = provenance()
    machine = note["machine"]
    return (
        f"fewlabels {note['version']}, commit {note['commit'] or 'unknown'}; {machine['processor']}, "
        f"{machine['cores']} cores, Python {note['python']}. Seeds and hashes are in the JSON beside each CSV."
    )
