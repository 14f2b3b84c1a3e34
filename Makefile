# On a fresh machine two commands do everything: make demo, make test.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# The tests start hundreds of processes: where a machine forbids compiled files, each compiles the project anew (.9 s).
unexport PYTHONDONTWRITEBYTECODE

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.perdure-setup
SECTION ?=
MINUTES ?=
SEED ?=
SIZE ?=
DOOR ?=
DATA ?=

.PHONY: help setup docs wheel first-hour pictures demo test collected test-apart test-all check check-style check-types bench bench-locomo bench-governance bench-precision bench-forget chaos mutants recordings reference clean

help: ## Show this help
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-16s %s\n", $$1, $$2}'

setup: $(STAMP) ## Create the virtual environment with the locked dependencies
	@:

$(STAMP): requirements-dev.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "Perdure needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) --version 2>&1 | head -1 || true)." >&2; \
	  echo "Choose another one: make $(or $(MAKECMDGOALS),setup) PYTHON=python3.12" >&2; exit 1; }
	@echo "setup: virtual environment in $(VENV) ($$($(PYTHON) --version))"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { \
	  echo "'$(PYTHON) -m venv' failed; on Debian and Ubuntu, install python3-venv." >&2; rm -rf $(VENV); exit 1; }
	@total=$$(grep -c '^[a-z].*==' requirements-dev.lock); \
	echo "setup: $$total packages of requirements-dev.lock (1.3 GB on disk)"; \
	$(BIN)/python -m pip install --disable-pip-version-check --progress-bar off \
	  --require-hashes --no-deps -r requirements-dev.lock | awk -v total=$$total ' \
	    /^Collecting/ { if (++n % 10 == 0) { print "setup: fetched " n " of " total; fflush() } } \
	    /^Installing collected/ { print "setup: installing them"; fflush() }'
	@$(BIN)/python -m pip install --disable-pip-version-check --quiet --no-deps --no-build-isolation -e .
	@touch $@
	@echo "setup: done"

demo: setup ## Run the main job: crash, resume, remember, recall, forget
	@$(BIN)/perdure demo

# Tests of servers wait as much as they compute: more processes than the two cores that this is measured on, and no more
# than keep them busy, as each takes 9 s to collect the tests.
# They come first, in the order of their files: last, the slowest of them would keep one process busy alone.
# One thread of OpenBLAS each, as below: its threads wait for work by spinning, a sixth of these processes' time
# (measured).
SIDE_BY_SIDE := OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses 5 --dist loadfile --no-loadscope-reorder
# Those that kill processes wait as much as they compute: two at a time, and none shares its servers with the other.
IN_PAIRS := OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest tests/crash tests/integration tests/replay \
  --numprocesses 2 --dist loadfile --no-loadscope-reorder --own-servers
ALONE := $(BIN)/python -m pytest tests/integration
# Slow ones start up to ten processes, each of which takes up to 30 s to load beside the others'.
SLOWLY := --timeout 400

test: setup ## Find or build the servers, check the code, build the documentation, run the tests: those that measure time alone
	@$(BIN)/python -m localservers
	@$(MAKE) --jobs 2 check-style docs collected
	@$(SIDE_BY_SIDE) -m "not timed and not apart and not slow"
	@$(MAKE) --jobs 2 check-types test-apart
	@$(ALONE) -m "timed and not slow"

# On a fresh clone each of five processes would rewrite the assertions of all tests: 16 s of the 30 that this takes. What
# cannot be collected is told by those.
collected:
	@$(BIN)/python -m pytest --collect-only -qq > /dev/null || true

# These wait most of the time: types are checked meanwhile, which computes for 40 s.
test-apart:
	@$(IN_PAIRS) -m "apart and not slow"

test-all: test ## Run the slow tests too: within an hour
	@$(BIN)/python -m pytest tests/unit --numprocesses 4 -m hypothesis --hypothesis-profile exploring --timeout 900
	@$(SIDE_BY_SIDE) $(SLOWLY) -m "slow and not timed and not apart"
	@$(IN_PAIRS) $(SLOWLY) -m "slow and apart"
	@$(ALONE) $(SLOWLY) -m "slow and timed"
	@$(MAKE) first-hour
	@$(MAKE) chaos MINUTES=2

check: setup check-style check-types ## Lint, formatting, import layers, types

check-style:
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/lint-imports

check-types:
	@$(BIN)/pyright

bench: setup ## Measure next to hand-written code, and write the README table (one section: SECTION=recall)
	@$(BIN)/python -m bench $(SECTION)

bench-precision: setup ## Measure how much of what recall returns was asked for, on the project's cases or on those in DATA=folder
	@DATA="$(DATA)" $(BIN)/python -m bench precision

bench-locomo: setup ## Measure recall of conversation turns on LoCoMo's files in DATA=folder
	@DATA="$(DATA)" $(BIN)/python -m bench locomo

bench-governance: setup ## Measure whether memory believes the right things, on the cases in DATA=folder or its own
	@DATA="$(DATA)" $(BIN)/python -m bench governance

bench-forget: setup ## Measure that forgetting costs what is due, and not what is stored
	@$(BIN)/python -m bench forget

chaos: setup ## Kill, stop and restart everything for ten minutes (MINUTES=2: for two), from SEED=, and count what is lost, doubled or stuck (over HTTP, until 500 kills: DOOR=http); what went well in ten minutes or more is written to the README
	@MINUTES="$(MINUTES)" SEED="$(SEED)" DOOR="$(DOOR)" $(BIN)/python -m chaos

mutants: setup ## Mutate the pure rules, and count what the unit tests notice: a tenth of them in half an hour (SIZE=10: all; SEED=1)
	@SIZE="$(SIZE)" SEED="$(SEED)" $(BIN)/python -m bench.mutants

recordings: setup ## Record again what the release to come stores and sends: histories and samples
	@$(BIN)/python -m tests.replay.record
	@$(BIN)/python -m tests.recorded.samples
	@$(BIN)/python -m tests.recorded.stored
	@$(BIN)/python -m tests.recorded.identities

reference: setup ## Write anew what is generated: the reference pages, from their models, and the blocking client
	@$(BIN)/python -m perdure.reference
	@$(BIN)/python -m worker.cli.json_output
	@$(BIN)/python -m worker.cli.settings_page
	@$(BIN)/python -m worker.cli.python_page
	@$(BIN)/python -m tests.blocking_client

docs: setup ## Build the documentation as a site that needs no network, into the folder site
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "docs: site/index.html"

wheel: setup ## Build the wheel into the folder dist
	@$(BIN)/python -m hatchling build -t wheel -d dist

pictures: setup ## Take the pictures in docs/pictures, with a Chromium of this machine (CHROMIUM=path, or one on PATH)
	@$(BIN)/python -m tests.pictures

first-hour: setup ## Play both quickstarts as they are printed, from a wheel in an empty environment
	@$(BIN)/python -m tests.first_hour

clean: ## Remove the virtual environment and the files that tools leave behind, but not your data
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis .import_linter_cache mutants
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
