# Needs nothing but make and Python 3.10 or newer; a C compiler is used when there is one.
#
#   make demo    lower the bundled model and look at the result
#   make test    the whole test suite
#   make lint    ruff and mypy
#   make bench   the table of bench/RESULTS.md, measured here
#   make clean   remove everything that these commands made
#
# PYTHON=python3.12 chooses an interpreter, CC=false builds without a C compiler. Environments live in .venv (tests) and
# .venv-demo; a stamp file in each says what is installed, so that a second run starts at once.

PYTHON ?= python3
VENV ?= .venv
DEMO_VENV ?= .venv-demo
MODEL ?= examples/motion.onnx
DEMO_OUT ?= build/demo
PYTEST_ARGS ?=

export PIP_DISABLE_PIP_VERSION_CHECK = 1
export PIP_NO_PYTHON_VERSION_WARNING = 1

PROJECT_FILES := pyproject.toml $(wildcard setup.py)
COMPILED_FILES := $(wildcard src/sardonyx/wire/codec.py src/sardonyx/wire/codec.pxd)
SOURCES := $(shell find src -name '*.py' -o -name '*.pxd' -o -name '*.json' -o -name 'py.typed')
FROZEN_TESTS := $(wildcard tests/ir tests/io tests/infer tests/passes)

.PHONY: demo test lint format bench clean
.DELETE_ON_ERROR:

demo: $(DEMO_VENV)/.installed
	@mkdir -p $(DEMO_OUT)
	@echo
	@echo '$$ sardonyx --version'
	@$(DEMO_VENV)/bin/sardonyx --version
	@echo
	@echo '$$ sardonyx lower $(MODEL) -o $(DEMO_OUT)/lowered.onnx'
	@$(DEMO_VENV)/bin/sardonyx lower $(MODEL) -o $(DEMO_OUT)/lowered.onnx
	@echo
	@echo '$$ sardonyx inspect $(DEMO_OUT)/lowered.onnx'
	@$(DEMO_VENV)/bin/sardonyx inspect $(DEMO_OUT)/lowered.onnx

# What builds and rewrites models runs first with every record frozen, so that a write to a model fails where it happens;
# then everything runs as users run it.
test: $(VENV)/.installed-test
	SARDONYX_FROZEN=1 $(VENV)/bin/python -m pytest -n auto -p no:cacheprovider -m "not slow" $(FROZEN_TESTS)
	$(VENV)/bin/python -m pytest -n auto $(PYTEST_ARGS)

lint: $(VENV)/.installed-dev
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

format: $(VENV)/.installed-dev
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

bench: $(VENV)/.installed-test
	$(VENV)/bin/python bench/run.py

clean:
	rm -rf $(VENV) $(DEMO_VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis src/*.egg-info
	rm -f src/sardonyx/wire/codec.c src/sardonyx/wire/codec.*.so src/sardonyx/wire/codec.*.pyd
	find src tests tools examples -name __pycache__ -type d -prune -exec rm -rf {} +

# An environment: checked, then made.
%/.python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || { \
	  echo "sardonyx needs Python 3.10 or newer; '$(PYTHON)' is: $$($(PYTHON) --version 2>&1)"; \
	  echo "name another one: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	  echo "'$(PYTHON)' comes without the venv module; on Debian and Ubuntu: apt install python3-venv"; exit 1; }
	$(PYTHON) -m venv $*
	@touch $@

$(DEMO_VENV)/.installed: $(DEMO_VENV)/.python $(PROJECT_FILES) $(SOURCES)
	$(DEMO_VENV)/bin/python -m pip install --quiet .
	@touch $@

$(VENV)/.installed-test: $(VENV)/.python $(PROJECT_FILES) $(COMPILED_FILES)
	$(VENV)/bin/python -m pip install --quiet --editable '.[test]'
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed-test
	$(VENV)/bin/python -m pip install --quiet --editable '.[test,dev]'
	@touch $@
