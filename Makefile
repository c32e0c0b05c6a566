# Two commands: `make run` does the main job, `make test` checks everything.
# Both install what they need into .venv, once, and say what they do.

PYTHON ?= python3
BIN := .venv/bin
STAMPS := .venv/stamps

.PHONY: help run test lint types flow pytest bench pictures clean

help:
	@echo "make run       balls of a real data set: a summary and a picture in out/"
	@echo "make test      every check: style, types, import flow, tests, doctests"
	@echo "make bench     speed, as ratios measured in one run"
	@echo "make pictures  draw the pictures of the README again"
	@echo "make clean     remove .venv and everything that was made"

run: $(STAMPS)/run
	@$(BIN)/python examples/01_balls_of_a_real_data_set.py

test: lint types flow pytest
	@echo "== all checks passed"

lint: $(STAMPS)/dev
	@echo "== style (ruff)"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(STAMPS)/dev
	@echo "== types (mypy)"
	@$(BIN)/mypy

flow: $(STAMPS)/dev
	@echo "== import flow (import-linter)"
	@$(BIN)/lint-imports --config .importlinter

pytest: $(STAMPS)/dev
	@echo "== tests, doctests and the README's examples (pytest)"
	@$(BIN)/pytest

bench: $(STAMPS)/dev
	@for file in benchmarks/bench_*.py; do $(BIN)/python $$file || exit 1; done

pictures: $(STAMPS)/dev
	@$(BIN)/python docs/make_pictures.py

clean:
	rm -rf .venv out build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# One environment; each stamp adds its extras to what is already there.
$(STAMPS)/venv:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(v < (3, 11) and f"granulearn needs Python 3.11 or newer, found {v[0]}.{v[1]}; set PYTHON=/path/to/python3.11")'
	@echo "== making the environment .venv"
	@$(PYTHON) -m venv .venv
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/run: $(STAMPS)/venv pyproject.toml
	@echo "== installing granulearn and what it needs to run into .venv"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[all]'
	@touch $@

$(STAMPS)/dev: $(STAMPS)/run
	@echo "== installing the development tools into .venv"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@
