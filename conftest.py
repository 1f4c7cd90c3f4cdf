"""Tests and docstring examples are left out where the packages they are about are not installed."""

from importlib.util import find_spec

collect_ignore_glob = []
if not (find_spec("torch") and find_spec("triton")):
    collect_ignore_glob += ["*/fewlabels/*/gpu/*.py", "*/fewlabels/field/links/*on_card.py"]
if not find_spec("skactiveml"):  # it needs newer versions of everything than we do
    collect_ignore_glob += ["*/adapters/skactiveml/*.py", "*/adapters/test_named.py"]
