# Landscape: two commands do everything.
#   make demo   install, build the demo atlas, draw the first figures
#   make test   install, then lint, types, imports, doctests and tests, notebooks in Chromium too
# Both reuse what is already there.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile

# Containers often forbid Python to keep what it compiles; every process would compile all of
# pandas and PyTorch anew, a second or two each.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help install demo gallery chromium test lint format bench clean

help:
	@sed -n 's/^#   make/  make/p' Makefile

# The stamp is older than what it depends on exactly when something has to be installed again.
$(VENV)/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Landscape needs Python 3.11 or newer; this is $$($(PYTHON) --version). Choose one: make PYTHON=python3.12 ..." >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	@# torch first and pinned: unpinned, pip would pull gigabytes of GPU libraries. Python compiles
	@# what is used when it is used; all 3 GB at once would take minutes.
	$(PIP) torch==2.13.0
	$(PIP) -c constraints.txt -e '.[all,dev]'
	@touch $@

install: $(VENV)/installed

demo: install
	$(BIN)/landscape demo

gallery: demo
	@for script in examples/*.py; do \
	  name=$$(basename $$script .py); \
	  case $$name in animation) kind=gif ;; interactive) kind=html ;; *) kind=png ;; esac; \
	  echo $$name; $(BIN)/python $$script demo.atlas figures/gallery/$$name.$$kind || exit 1; \
	done
	@for theme in parchment night mono clear; do \
	  $(BIN)/python examples/outreach.py demo.atlas figures/gallery/outreach_$$theme.png $$theme || exit 1; \
	done

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# For the notebooks; it is installed where that can be done, else it is said how.
chromium: install
	@$(BIN)/python -m tests.browser.chromium >/dev/null

# In our own order: pytest-xdist would leave the files of few and long tests for the end.
test: lint chromium
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder --durations 40

bench: install
	$(PIP) -c constraints.txt -e '.[bench]'
	$(BIN)/python -m benchmarks

format: install
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
