# Everything runs in .venv, which the first target that needs it makes out of constraints.txt and the oldest Python that
# is supported and there: most tests ran with that one.
OLDEST := 3.11
PYTHON ?= $(shell for name in python$(OLDEST) python3.12 python3.13 python3.14 python3; do command -v $$name && break; done)
comma := ,
BIN := .venv/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)
# Byte code is kept, also where the environment says otherwise: tests start hundreds of processes.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help demo near near-map check cover test test-all mutants check-kernels torture fuzz bench lint types docs drawing \
	wheel java browser warm older-sparks kernels clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: .venv/ready  ## on a small real archive: find a mistake, go back before it, undo it, publish the tables, draw pages
	@$(BIN)/python -m tests.recorded.archives.demonstrate

check: lint kernels  ## the daily round, without Java: lint, and the unit tests that are quick (ARGS as for test)
	$(BIN)/python -m pytest -q -m "not slow" $(or $(ARGS),-n 2 --dist worksteal) tests/unit

cover: browser kernels  ## the same tests, and how much of the Python side they run; fails below the floor in setup.cfg
	$(BIN)/python -m pytest -q -m "not slow" -n 2 --dist worksteal --cov --cov-report=term tests/unit

# Three for two cores: one mostly waits, for Spark and for servers. Each begins with a part of the folders in their order.
test: warm  ## the tests of every day, in four processes, in ten minutes (ARGS="-k name": what pytest is told, and in one)
	$(BIN)/python -m pytest -q $(or $(ARGS),-m "not thorough" -n 4 --dist worksteal)

test-all: warm older-sparks  ## all tests, how much of the Python side the unit tests run, and which modules cost more than they did
	$(BIN)/python -m pytest -q $(or $(ARGS),-n 4 --dist worksteal --cost --cov --cov-report=term)

near: kernels  ## the tests near to what differs from the last commit, or to PATHS="applier/apply/index ..."
	@$(BIN)/python -m tests.support.near $(PATHS)

near-map: CALLS := $(if $(PATHS),build/some-calls,build/calls)
near-map: warm  ## measure which tests are near to which source files, and what tests cost (tests/*.tsv), of all or of PATHS
	$(BIN)/python -m pytest -q -n 3 --dist worksteal --cost=write $(PATHS)
	rm -rf $(CALLS)
	$(MAKE) $(CALLS)
	$(BIN)/python -m tests.support.near --write $(CALLS)
	$(BIN)/python docs/write_tables.py

build/calls build/some-calls: | warm
	rm -rf $@.new
	$(BIN)/python -m pytest -q -n 3 --dist worksteal -m "not thorough" --calls=$@.new $(PATHS)
	mv $@.new $@

mutants: build/calls  ## change one thing at a time in the code, and see which suite notices (ARGS="300 --seed 1 --until near")
	$(BIN)/python -m tests.support.mutants $(ARGS)

check-kernels: export APPLIER_KERNELS := checked
check-kernels: kernels  ## tests without Spark and 5,000 mutants, every access compared with the memory that is registered
	$(BIN)/python -m pytest -q $(or $(ARGS),-n 2 --dist worksteal -m "not cluster")
	$(BIN)/python -m tests.fuzz.fuzz 5000 0 some

torture: warm  ## kill -9 of drivers, workers and JVMs at any time, archives damaged in every way; prints what it tried
	$(BIN)/python -m tests.cluster.torture

fuzz: warm  ## 20,000 mutants of binlogs that know the format, 5,000 others, 5,000 dumps, JSON, random tests with more examples
	$(BIN)/python -m tests.fuzz.fuzz 20000 0 events
	$(BIN)/python -m tests.fuzz.fuzz 5000 0 bytes dumps
	$(BIN)/python -m tests.fuzz.fuzz_documents 100000
	$(BIN)/python -m tests.fuzz.fuzz_diffs 100000
	$(BIN)/python -m pytest -q $(or $(ARGS),-n 2 --dist worksteal) -m hypothesis --hypothesis-profile=thorough

bench: warm .venv/bench  ## measure against other tools on this machine (ARGS="--size full --binlogs FILE ...")
	$(BIN)/python -m benchmarks $(ARGS)

lint: .venv/ready types  ## ruff, types, kernels, and that imports go down and in no circle
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/python -m tests.support.kernel_lint

types: .venv/ready  ## what mypy says of the types
	$(BIN)/mypy

drawing: .venv/ready  ## make anew what docs/ have from the code: drawings, commands, the Python API, errors, figures, the notebook
	$(BIN)/python docs/draw_packages.py
	$(BIN)/python docs/write_commands.py
	$(BIN)/python docs/write_errors.py
	$(BIN)/python docs/write_python.py
	$(BIN)/python docs/write_tables.py
	$(BIN)/python docs/run_notebook.py

docs: .venv/ready  ## a site of README and docs/ in build/docs, with search; a link that leads nowhere is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

wheel: .venv/ready  ## build a wheel with compiled kernels in dist/; what is not compiled yet takes minutes
	$(BIN)/python -m pip wheel . --no-build-isolation --no-deps --config-settings levels=all --wheel-dir dist

clean:  ## remove the virtual environment and what tools left behind
	rm -rf .venv .pytest_cache .ruff_cache .mypy_cache .hypothesis .coverage build dist *.egg-info

.venv/ready: setup.cfg pyproject.toml constraints.txt
	@$(or $(PYTHON),false) -c 'import sys; sys.exit(sys.version_info < ($(subst .,$(comma),$(OLDEST))))' || \
	{ echo "Python $(OLDEST) or newer is required; name one: make PYTHON=python3.12" >&2; exit 2; }
	@echo "making .venv (once; a few minutes where nothing is downloaded yet)"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv || { rm -rf .venv; exit 2; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

.venv/bench: .venv/ready
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,bench]'
	@touch $@

# Compiles all kernels, and records the classes that Spark loads. What a verb needs it compiles and records by itself, too.
warm: java browser kernels
	@$(BIN)/python -m tests.support.spark_classes

# Where they cannot be installed, as without a network, test-all skips the tests on them.
older-sparks: .venv/ready
	@$(BIN)/python -m tests.support.older_sparks

kernels: .venv/ready
	@$(BIN)/python -m applier.jobs.warm

# Tests look at pages in Chromium where it is there. Only root, as in a container, has it installed without being asked.
browser:
	@if command -v chromium >/dev/null || ! command -v apt-get >/dev/null || [ "$$(id -u)" != 0 ]; then exit 0; fi; \
	echo "installing Chromium through apt"; \
	mkdir -p build; \
	{ apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends chromium; } \
	>build/apt.log 2>&1 || echo "no Chromium (build/apt.log says why): tests do not look at pages"

# Spark needs a Java of 17 or newer.
java:
	@if [ -x "$${JAVA_HOME:-/none}/bin/java" ] || command -v java >/dev/null; then exit 0; fi; \
	if ! command -v apt-get >/dev/null; then echo "Java 17 or newer is needed: install it, or set JAVA_HOME" >&2; exit 2; fi; \
	root=; [ "$$(id -u)" = 0 ] || root=sudo; \
	echo "installing a headless Java through apt"; \
	mkdir -p build; \
	{ $$root apt-get -qq update; \
	package=$$(apt-cache search --names-only '^openjdk-(17|21)-jre-headless$$' | awk '{print $$1}' | sort | head -n 1); \
	$$root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$${package:-default-jre-headless}"; } \
	>build/apt.log 2>&1 || { cat build/apt.log >&2; exit 2; }
