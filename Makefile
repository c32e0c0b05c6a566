# Two commands: `make run` does the main job, `make test` checks everything.
# Both install what they need into .venv, once, and say what they do.

PYTHON ?= python3
BIN := .venv/bin
STAMPS := .venv/stamps

# The tests of what is computed in memory; those marked slow are left out.
QUICK := $(addprefix tests/,audit balls contract estimators memberships network selection \
	statistics test_package.py)

# With the lowest versions: what is learned, kept, read and printed. Their own deprecation
# warnings are no fault of ours, and what needs a cluster is left out.
LOWEST := $(addprefix tests/,balls memberships network estimators selection persistence tables \
	cli/test_application.py cli/test_check.py cli/test_output.py cli/test_main.py)

.PHONY: help run test test-lowest quick browser lint types flow kernels pytest pytest-quick bench pictures clean

help:
	@echo "make run       compare the eight methods on ten real data sets; a report in out/"
	@echo "make test      every check: style, types, import flow, tests, doctests; on all cores"
	@echo "make test-lowest  a part of the tests with the lowest versions of all packages"
	@echo "make quick     style, types, import flow and the fast tests: less than a minute of one"
	@echo "               processor, once an earlier run has left compiled loops and mypy's cache"
	@echo "make bench     speed, as ratios measured in one run"
	@echo "make pictures  draw the pictures of the README again"
	@echo "make clean     remove .venv and everything that was made"

# What was computed before is kept: a second run only makes the report again.
run: $(STAMPS)/run
	@echo "== comparing the eight methods on ten real data sets (about a minute)"
	@$(BIN)/granulearn bench quick --results out/quick.db
	@$(BIN)/granulearn report out/quick.db --output out/quick.html > /dev/null
	@echo "== the report is out/quick.html: open it in a browser"

test: browser lint types flow pytest
	@echo "== all checks passed"

quick: lint types flow pytest-quick
	@echo "== the fast checks passed; make test runs them all"

# The report is tested in a real browser. Debian's is installed where it is
# missing and can be; where it cannot, its tests are skipped and the reason is here.
browser:
	@if command -v chromium > /dev/null && command -v chromedriver > /dev/null; then exit 0; fi; \
	if ! command -v apt-get > /dev/null; then \
		echo "== no browser tests: chromium and chromedriver are missing, and there is no apt-get to install them"; \
	elif [ "$$(id -u)" != 0 ]; then \
		echo "== no browser tests: chromium is missing; install it with: sudo apt-get install chromium chromium-driver"; \
	else \
		echo "== installing chromium and chromium-driver for the tests of the report"; \
		reason=$$({ apt-get install --yes --no-install-recommends chromium chromium-driver fonts-liberation || \
			{ apt-get update && apt-get install --yes --no-install-recommends chromium chromium-driver fonts-liberation; }; } 2>&1) || \
			echo "== no browser tests: chromium cannot be installed: $$(echo "$$reason" | tail -n 1)"; \
	fi

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

# Compiled loops are kept beside the sources; two processes at once would compile them twice.
kernels: $(STAMPS)/dev
	@$(BIN)/python tests/compile_kernels.py

pytest: kernels
	@echo "== tests, doctests and the README's examples, on all cores (pytest)"
	@$(BIN)/pytest --quiet --numprocesses auto --dist loadfile --no-loadscope-reorder --durations 15

pytest-quick: kernels
	@echo "== the fast tests (pytest)"
	@$(BIN)/pytest --quiet --hypothesis-profile quick -m "not slow" $(QUICK)

test-lowest: .venv-lowest/installed
	@echo "== tests with the lowest versions of constraints-lowest.txt (pytest)"
	@.venv-lowest/bin/pytest --quiet --hypothesis-profile quick -m "not slow" \
		--override-ini filterwarnings=ignore --ignore tests/tables/test_messages.py $(LOWEST)

bench: $(STAMPS)/dev
	@for file in benchmarks/bench_*.py; do $(BIN)/python $$file || exit 1; done

pictures: $(STAMPS)/dev
	@$(BIN)/python docs/make_pictures.py
	@$(BIN)/python docs/make_terminal_picture.py

clean:
	rm -rf .venv .venv-lowest out build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# One environment; each stamp adds its extras to what is already there.
$(STAMPS)/venv:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(v < (3, 11) and f"granulearn needs Python 3.11 or newer, found {v[0]}.{v[1]}; set PYTHON=/path/to/python3.11")'
	@echo "== making the environment .venv"
	@$(PYTHON) -m venv .venv
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/run: $(STAMPS)/venv pyproject.toml
	@echo "== installing granulearn and what it needs to run into .venv"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[studies]'
	@touch $@

$(STAMPS)/dev: $(STAMPS)/run
	@echo "== installing the development tools into .venv"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

# A second environment, of the lowest versions that pyproject.toml allows.
.venv-lowest/installed: pyproject.toml constraints-lowest.txt
	@echo "== making the environment .venv-lowest"
	@$(PYTHON) -m venv .venv-lowest
	@.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints-lowest.txt --editable '.[cli,onnx,studies]' \
		hypothesis imbalanced-learn odfpy openpyxl polars pytest pytest-xdist statsmodels xlwt
	@touch $@
