"""The site builds without a warning, needs no network, and its links and those of the README lead somewhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import fewlabels as fl

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]  # Sphinx checks those of docs/


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    out = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "-d", out / "trees"]
    done = subprocess.run([*build, "docs", out / "html"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return out / "html"


def test_every_page_is_built_and_loads_nothing_from_elsewhere(site):
    for page in (ROOT / "docs").rglob("*.md"):
        if "_build" in page.parts:
            continue
        html = (site / page.relative_to(ROOT / "docs")).with_suffix(".html").read_text(encoding="utf-8")
        loaded = re.findall(r"<(?:script|img|iframe|source)\b[^>]*\bsrc=\"([^\"]+)", html)
        loaded += re.findall(r"<link\b[^>]*\bhref=\"([^\"]+)", html)
        assert not [address for address in loaded if "//" in address]


def test_formulas_are_drawn_by_the_browser_itself(site):
    html = (site / "maths.html").read_text(encoding="utf-8")
    assert html.count("<math") > 50
    assert "$" not in re.sub(r"<(script|pre|code)\b.*?</\1>", "", html, flags=re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_links_of_a_page_outside_the_site_lead_somewhere(page):
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)", page.read_text(encoding="utf-8")):
        if target.startswith("http"):
            continue
        file = (page.parent / target) if target else page
        assert file.exists(), target
        if anchor:
            assert anchor in anchors(file), f"{target}#{anchor}"


def anchors(page):
    """The anchors of a page's headings, as GitHub and MyST make them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


def test_the_reference_lists_every_public_name_and_every_strategy():
    reference = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    for name in set(fl.__all__) - {"STRATEGIES", "__version__"}:
        assert f"fewlabels.{name}" in reference, name
    for strategy in fl.STRATEGIES.values():
        assert f".. autoclass:: {strategy.__module__}.{strategy.__qualname__}\n" in reference
