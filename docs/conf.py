"""How the site is built: `make docs`. Nothing is fetched, when it is built or when it is read."""

import re
import sys
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

import fewlabels

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

project = "fewlabels"
author = "The fewlabels developers"
project_copyright = author
version = release = fewlabels.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton", "mathml", "commands"]
exclude_patterns = ["_build"]

myst_enable_extensions = ["attrs_block", "dollarmath"]
myst_heading_anchors = 3
highlight_language = "text"
smartquotes = False  # quotes and dashes are written as they are meant
pygments_dark_style = "github-dark"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

default_role = "py:obj"  # `query` in a docstring: a link where it leads somewhere, else code
napoleon_google_docstring = False  # sections are those of scikit-learn, where a class follows its conventions
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_type_aliases = {name: name for name in ("ArrayLike", "Engine", "Flags", "Floats", "Ints")}
python_maximum_signature_line_length = 88

html_theme = "furo"
html_math_renderer = "mathml"
html_title = "fewlabels"
html_favicon = html_logo = "../src/fewlabels/web/static/favicon.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False


IN_THE_SITE = {"README": "index", "CONTRIBUTING": "contributing", "CHANGELOG": "changes"}


def setup(app: Sphinx) -> None:
    app.connect("source-read", _as_in_the_site)
    app.connect("autodoc-process-signature", _plain_aliases)


def _as_in_the_site(app: Sphinx, page: str, source: list[str]) -> None:
    """Links to pages above docs/ lead to their twins here; patterns of the index for pages that are not there go."""
    lines = source[0].splitlines()
    if page == "index":
        lines = [line for line in lines if not re.fullmatch(r"[a-z-]+\*", line) or any(HERE.glob(f"{line}.md"))]
    above = rf"\]\((?:\.\./)+({'|'.join(IN_THE_SITE)})\.md"
    source[0] = re.sub(above, lambda link: f"](/{IN_THE_SITE[link[1]]}.md", "\n".join(lines))


def _plain_aliases(app: Sphinx, *what: Any) -> tuple[str | None, str | None]:
    """ArrayLike | None, where Sphinx writes TypeAliasForwardRef('ArrayLike') | None."""
    arguments, returned = (part and re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", part) for part in what[-2:])
    return arguments, returned
