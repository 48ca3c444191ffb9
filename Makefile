# Every target makes the virtual environment it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LOWEST := .venv-lowest
# something of every package that bough needs
LOWEST_TESTS := tests/formats tests/trees tests/draw tests/data/test_fetch.py tests/cli/test_help.py \
  tests/models/test_config.py tests/models/test_model.py tests/models/test_bundled.py \
  tests/nn/test_child_sum.py tests/train/test_parts.py tests/pipelines/test_sentiment.py
INSTALL := install --quiet --disable-pip-version-check --constraint constraints.txt
PIP := $(BIN)/pip $(INSTALL)

.PHONY: help demo serve test mutants coverage test-lowest check docs pages paper bench load release-check clean

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*  ## \(.*\)/  \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 18

$(VENV)/.made:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "bough needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	touch $@

# torch comes first and alone: with it in place, nothing else pulls another build of it.
$(VENV)/.torch: constraints.txt $(VENV)/.made
	$(PIP) torch
	touch $@

$(VENV)/.package: pyproject.toml $(VENV)/.torch
	$(PIP) --editable .
	touch $@

$(VENV)/.dev: pyproject.toml $(VENV)/.package
	$(PIP) --editable '.[dev]'
	touch $@

demo: $(VENV)/.package  ## the first minute: the bundled models, then a model fitted to a small treebank
	$(BIN)/bough sentiment "An overlong but oddly moving film."
	$(BIN)/bough relatedness "A man plays a guitar" "A man plays music"
	$(BIN)/bough nearest "two men are playing guitar" --corpus docs/sentences.txt
	rm -rf runs/demo
	$(BIN)/bough fit examples/demo/train.txt --dev examples/demo/dev.txt --test examples/demo/test.txt --out runs/demo
	$(BIN)/bough evaluate runs/demo examples/demo/test.txt

$(VENV)/.serve: pyproject.toml $(VENV)/.package
	$(PIP) --editable '.[serve]'
	touch $@

serve: $(VENV)/.serve  ## the page and the JSON API, on this machine
	$(BIN)/bough serve

test: $(VENV)/.dev  ## the tests; SLOW=1 adds those that take minutes, SLOW=only runs no others
	$(BIN)/python -m pytest -n 2 $(if $(SLOW),--slow) $(if $(filter only,$(SLOW)),-m slow)

mutants: $(VENV)/.dev  ## wrong changes to the code, each of which the tests have to notice; ONLY=TEXT selects some
	$(BIN)/python tools/mutants.py $(if $(SAMPLE),--sample $(SAMPLE)) $(ONLY)

coverage: $(VENV)/.dev  ## the tests without the slow ones, and what part of each package's lines they run, with a floor
	$(BIN)/python -m pytest -n 2 --cov --cov-report=json
	$(BIN)/python tools/floors.py coverage.json

# The lowest versions that pyproject.toml allows, in front of all else that the tests need, torch as pinned included.
# Old packages warn of what newer ones have deprecated; that is not ours to mend.
SITE := -c 'import sysconfig; print(sysconfig.get_path("purelib"))'
$(LOWEST)/.made: pyproject.toml tools/lowest.py $(VENV)/.dev
	rm -rf $(LOWEST)
	$(BIN)/python -m venv $(LOWEST)
	$(BIN)/python $(SITE) > "$$($(LOWEST)/bin/python $(SITE))/dev.pth"
	$(LOWEST)/bin/pip $(INSTALL) --no-warn-conflicts $$($(BIN)/python tools/lowest.py)
	touch $@

test-lowest: $(LOWEST)/.made  ## a quick part of the tests with the lowest versions of what bough needs
	PYTHONPATH=src $(LOWEST)/bin/python -m pytest -n 2 -q -W ignore::DeprecationWarning $(LOWEST_TESTS)

check: $(VENV)/.dev  ## formatting, lint and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

$(VENV)/.docs: pyproject.toml $(VENV)/.package
	$(PIP) --editable '.[docs]'
	touch $@

docs: $(VENV)/.docs  ## the documentation site, to be read from site/index.html
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

pages: $(VENV)/.package  ## the pages and the pictures that are made from the program
	$(BIN)/python tools/pages.py
	$(BIN)/python tools/pictures.py

paper: $(VENV)/.dev  ## every table, figure and claim of the paper, from its data; nothing is fetched or run twice
	$(BIN)/python -m paper fetch
	$(BIN)/python -m paper reproduce all

bench: $(VENV)/.package  ## speed against the matmul floor and the recursive reference
	$(BIN)/python -m benchmarks speed

load: $(VENV)/.serve  ## requests a second, latency and memory of the server, for five minutes
	$(BIN)/python -m benchmarks load

release-check: $(VENV)/.dev  ## the steps of RELEASING.md: build, install in a clean environment, run the demo
	$(BIN)/python tools/release_check.py

clean:  ## remove the virtual environments, the site and caches
	rm -rf $(VENV) $(LOWEST) site .coverage coverage.json .mypy_cache .pytest_cache .ruff_cache .hypothesis
