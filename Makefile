# Every target works on a fresh clone with Python 3.11+ and make; the first one run makes .venv.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed
WHEEL := build/wheel

.PHONY: install demo test lint docs check-package audit soak soak-load test-oldest test-newest bench check-questions reproduce pictures clean

install: $(INSTALLED)

$(INSTALLED): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable . --group dev
	$(BIN)/fewlabels warm-up
	touch $@

# The labelling page on scikit-learn's digits, in your browser; Ctrl-C stops it.
demo: $(INSTALLED)
	$(BIN)/fewlabels demo

# The tests import what people install: the wheel, made from the sdist, not src. (pytest alone tests src.)
# Two files at a time, in the order of tests/conftest.py; Numba's idle threads sleep, and leave the cores to others.
PYTEST = PYTHONPATH=$(CURDIR)/$(WHEEL) FEWLABELS_TESTED=$(CURDIR)/$(WHEEL) OMP_WAIT_POLICY=passive \
	$(1)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder $(WHEEL)/fewlabels tests

test: $(INSTALLED)
	$(MAKE) -j 2 lint $(WHEEL)
	$(call PYTEST,$(BIN))

# An hour and more: neighbours found by pynndescent itself; fields on ill-conditioned graphs of up to 300,000 nodes; a
# store on a disk that fails at every write or loses the last ones, 10,000 flipped bits in it, and a server killed 1,000
# times while people answer; then all injections in all places of all requests.
soak: $(INSTALLED)
	FEWLABELS_LONGEST=300000 FEWLABELS_CRASHES=1 FEWLABELS_FLIPS=10000 FEWLABELS_KILLS=1000 FEWLABELS_INJECTIONS=1 \
		FEWLABELS_APPROXIMATE=1 FEWLABELS_LISTENED=12 $(BIN)/python -m pytest --timeout=0 tests/graph/test_neighbor_search.py \
		tests/items/test_telemetry.py \
		tests/field/links/test_precision.py tests/session/test_crashes.py tests/session/test_damage.py \
		tests/web/test_kills.py tests/web/test_injections.py tests/labelstudio/test_injections.py

# People answer, undo, review and export for an hour, or for SECONDS; memory and open files are watched.
SECONDS := 3600
soak-load: $(INSTALLED)
	FEWLABELS_SOAK=$(SECONDS) $(BIN)/python -m pytest --timeout=0 -s tests/web/test_soak.py

FILES = $(shell find $(1) -type f -not -path '*/__pycache__/*' -not -path 'docs/_build/*')

dist: $(INSTALLED) README.md LICENSE $(call FILES,src tests docs benchmarks $(wildcard examples))
	rm -rf $@
	$(BIN)/python -m build --no-isolation > /dev/null

# Laid out anew only when the code has changed: Numba keeps its compiled kernels there, those of src to begin with.
$(WHEEL): pyproject.toml $(call FILES,src) | dist
	rm -rf $@
	$(BIN)/python -m pip install --quiet --no-deps --target $@ dist/*.whl
	$(BIN)/python tests/package/compiled.py src $@

# As a user has it: the wheel and what it needs, nothing else, in a fresh venv; then the sdist in its place.
check-package: dist
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python build/clean
	$(BIN)/uv pip install --quiet --python build/clean dist/*.whl
	build/clean/bin/python tests/package/smoke.py
	$(BIN)/mypy --config-file= --strict --python-executable build/clean/bin/python tests/package/typed_program.py
	$(BIN)/uv pip install --quiet --python build/clean --no-deps --reinstall dist/*.tar.gz
	build/clean/bin/fewlabels --version

# Minutes: the same tests with the oldest versions that pyproject.toml allows, or the newest; make test-newest PYTHON=python3.13.
test-oldest: RESOLUTION := lowest-direct
test-oldest: GROUP := test
test-newest: RESOLUTION := highest
test-newest: GROUP := dev
test-oldest test-newest: $(WHEEL)
	$(BIN)/uv pip compile --quiet --no-header --python $(PYTHON) --resolution $(RESOLUTION) pyproject.toml \
		--extra cholesky --extra cluster --extra large --output-file build/$@.txt > /dev/null
	$(BIN)/uv venv --quiet --clear --python $(PYTHON) build/$@
	$(BIN)/uv pip install --quiet --python build/$@ --requirements build/$@.txt --group $(GROUP)
	FEWLABELS_APPROXIMATE=1 $(call PYTEST,build/$@/bin)

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Known holes in what is installed in .venv, by an auditor that is installed elsewhere.
audit: $(INSTALLED)
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python build/audit
	$(BIN)/uv pip install --quiet --python build/audit "pip-audit>=2.7"
	build/audit/bin/python tests/package/audit.py .venv

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
	$(BIN)/python docs/figures/layers.py
	$(BIN)/python docs/figures/marginals.py
	$(BIN)/python docs/figures/page.py
	$(BIN)/python docs/figures/examples.py

clean:
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .screenshots docs/_build
