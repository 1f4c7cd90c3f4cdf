"""The layers of the package as a picture, drawn from the contract in pyproject.toml that `lint-imports` checks.

python docs/figures/layers.py        # writes docs/pictures/layers.svg; a test compares it with what is there
"""

import ast
import re
import textwrap
import tomllib
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "pictures" / "layers.svg"
WIDTH, MARGIN, GAP, LINE = 960, 14, 10, 15
LETTER = 6.1  # px a letter of 11.5 px takes on average, on the safe side


def layers() -> list[list[str]]:
    """The layers of the contract, the top one first: a list of module names each."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = next(c for c in project["tool"]["importlinter"]["contracts"] if c.get("containers") == ["fewlabels"])
    return [re.split(r" [|:] ", layer) for layer in contract["layers"]]


def described(module: str) -> str:
    """What the module's docstring says first."""
    place = ROOT / "src" / "fewlabels" / module
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return re.split(r"(?<=[.])\s", text.replace("\n", " ").replace("`", ""))[0]


def drawn() -> str:
    parts: list[str] = []
    y = MARGIN
    for modules in layers():
        width = (WIDTH - 2 * MARGIN - GAP * (len(modules) - 1)) / len(modules)
        words = [textwrap.wrap(described(module), max(12, int((width - 20) / LETTER))) for module in modules]
        height = 26 + LINE * max(map(len, words))
        for k, (module, lines) in enumerate(zip(modules, words, strict=True)):
            x = MARGIN + k * (width + GAP)
            parts.append(f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{height}" rx="6"/>')
            parts.append(f'<text x="{x + 10:.1f}" y="{y + 18}" class="name">{module}</text>')
            parts += [
                f'<text x="{x + 10:.1f}" y="{y + 18 + LINE * (i + 1)}">{escape(line)}</text>'
                for i, line in enumerate(lines)
            ]
        y += height + GAP
    style = (
        "rect { fill: #f4f6fa; stroke: #8a93a3 } text { font: 11.5px sans-serif; fill: #2b313b } "
        ".name { font: bold 13px sans-serif; fill: #171b21 }"
    )
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + MARGIN - GAP}" role="img">'
    title = "<title>The layers of fewlabels: each imports only from those below it</title>"
    return "\n".join([head, title, f"<style>{style}</style>", *parts, "</svg>", ""])


if __name__ == "__main__":
    PICTURE.write_text(drawn(), encoding="utf-8")
    print(PICTURE.relative_to(ROOT))
