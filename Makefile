# Every target makes the virtual environment it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo serve test check docs pages bench load clean

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

demo: $(VENV)/.package  ## the first minute: the shipped models, then a training run on a small treebank
	$(BIN)/bough sentiment "An overlong but oddly moving film."
	$(BIN)/bough relatedness "A man plays a guitar" "A man plays music"
	$(BIN)/bough nearest "two men are playing guitar" --corpus docs/sentences.txt
	rm -rf runs/demo
	$(BIN)/bough train demo --out runs/demo
	$(BIN)/bough evaluate runs/demo

$(VENV)/.serve: pyproject.toml $(VENV)/.package
	$(PIP) --editable '.[serve]'
	touch $@

serve: $(VENV)/.serve  ## the page and the JSON API, on this machine
	$(BIN)/bough serve

test: $(VENV)/.dev  ## the tests; SLOW=1 adds those that take minutes
	$(BIN)/python -m pytest -n 2 $(if $(SLOW),--slow)

check: $(VENV)/.dev  ## formatting, lint and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

$(VENV)/.docs: pyproject.toml $(VENV)/.package
	$(PIP) --editable '.[docs]'
	touch $@

docs: $(VENV)/.docs  ## the documentation site, to be read from site/index.html
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

pages: $(VENV)/.package  ## the pages and the picture that are made from the program
	$(BIN)/python tools/pages.py
	$(BIN)/python tools/terminal.py

bench: $(VENV)/.package  ## speed against the matmul floor and the recursive reference
	$(BIN)/bough bench

load: $(VENV)/.serve  ## requests a second, latency and memory of the server, for five minutes
	$(BIN)/python tools/load.py

clean:
	rm -rf $(VENV) site .mypy_cache .pytest_cache .ruff_cache .hypothesis
