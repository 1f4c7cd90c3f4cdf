"""Formulas as MathML, written when the site is built: browsers draw it by themselves, offline and without a script."""

from __future__ import annotations

import re
from typing import Any, NoReturn

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)


def _mathml(node: nodes.Element, *, block: bool) -> str:
    tex = node.astext().replace("'", r"^{\prime}")  # the converter would hang subscripts on the prime
    try:
        if re.search(r"\\[dt]?frac(?!\{)", tex):
            raise MathError(r"\frac12 would be drawn as 12 over what follows: write \frac{1}{2}")
        return tex2mathml(tex, as_block=block)
    except (MathError, LookupError) as error:
        logger.warning("this formula cannot be drawn: %s", error, location=node)
        return ""


def _inline(page: Any, node: nodes.Element) -> NoReturn:
    page.body.append(_mathml(node, block=False))
    raise nodes.SkipNode


def _block(page: Any, node: nodes.Element) -> NoReturn:
    page.body.append(f'<div class="formula">{_mathml(node, block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
