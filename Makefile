# Every target works on a fresh clone with Python 3.11+ and make; the first one run makes .venv.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed

.PHONY: install demo test lint docs bench check-questions reproduce pictures clean

install: $(INSTALLED)

$(INSTALLED): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable . --group dev
	touch $@

# The labelling page on scikit-learn's digits, in your browser; Ctrl-C stops it.
demo: $(INSTALLED)
	$(BIN)/fewlabels demo

# Two tests at a time; Numba's idle threads sleep, so that they do not keep each other from the cores.
test: lint
	OMP_WAIT_POLICY=passive $(BIN)/pytest -n 2 --dist loadfile

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The site, offline to build and to read; a warning is an error.
docs: $(INSTALLED)
	$(BIN)/sphinx-build -q -W --keep-going -b html docs docs/_build/html
	@echo "Look at docs/_build/html/index.html"

# Speed on this machine, as ratios; correctness is checked first.
bench: $(INSTALLED)
	$(BIN)/python -m pip install --quiet --group bench
	$(BIN)/fewlabels bench --out speed.json
	$(BIN)/python benchmarks/batches.py

# Minutes: the fast look-ahead asks what float64 asks, 200 questions x 5 trials on each of the paper's graphs.
check-questions: $(INSTALLED)
	$(BIN)/python benchmarks/same_questions.py

reproduce: $(INSTALLED)
	$(BIN)/fewlabels reproduce all

# The pictures of README and site, made by the code as it is.
pictures: $(INSTALLED)
	$(BIN)/fewlabels demo --auto 30 --out docs/pictures/demo.png
	$(BIN)/python docs/figures/marginals.py
	$(BIN)/python docs/figures/page.py
	$(BIN)/python docs/figures/examples.py

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis .screenshots docs/_build
