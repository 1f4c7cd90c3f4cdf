"""Docstring examples of the gpu engine are left out where its packages are not installed."""

from importlib.util import find_spec

collect_ignore_glob = (
    [] if find_spec("torch") and find_spec("triton") else ["*/fewlabels/*/gpu*.py", "*/fewlabels/*/triton*.py"]
)
