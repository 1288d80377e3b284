# Every target does its own set-up: on a bare Debian or Ubuntu machine with root or sudo, `make demo` and `make test` work at once.
SHELL := /bin/bash
VENV := $(CURDIR)/.venv
BIN := $(VENV)/bin
export PATH := $(BIN):$(PATH)
# Open MPI refuses to start as root unless told; containers and CI machines are root.
export OMPI_ALLOW_RUN_AS_ROOT := 1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM := 1

NATIVE := CMakeLists.txt $(shell find replay/native analyzer/native collectors/pmpi tests/native tests/benchmarks \
  \( -name '*.[ch]' -o -name '*.[ch]pp' -o -name CMakeLists.txt -o -name '*.py' -path '*pmpi*' \) 2>/dev/null)

.PHONY: help setup demo test lint bench clean

help:
	@echo 'make demo   record, analyze and report a real MPI program; ends with the path of a report to open'
	@echo 'make test   everything: native tests, Python tests, browser tests'
	@echo 'make lint   formatters, linters, types, import layers'
	@echo 'make bench  speed, memory and accuracy as ratios within one run'
	@echo 'make setup  only the set-up for the above'

# Two stages, so that the demo does not wait for a browser and a second MPI.
$(VENV)/.base: pyproject.toml packaging/setup packaging/apt-base.txt $(NATIVE)
	@packaging/setup base $(VENV)
	@touch $@

$(VENV)/.test: $(VENV)/.base packaging/apt-test.txt packaging/apt-optional.txt
	@packaging/setup test $(VENV)
	@touch $@

build/dev/.built: $(VENV)/.test $(NATIVE)
	@cmake -S . -B build/dev -G Ninja -DLOGPOST_TESTS=ON -DLOGPOST_PYTHON=OFF > build/dev.log 2>&1 \
	  || { cat build/dev.log; exit 1; }
	@cmake --build build/dev
	@touch $@

setup: build/.made $(VENV)/.test build/dev/.built

build/.made:
	@mkdir -p build/dev && touch $@

demo: $(VENV)/.base
	@packaging/demo

test: setup
	@ctest --test-dir build/dev --output-on-failure --no-tests=error
	@python -m pytest

lint: setup
	ruff format --check .
	ruff check .
	mypy
	lint-imports
	git ls-files '*.c' '*.h' '*.cpp' '*.hpp' | xargs clang-format --dry-run --Werror
	packaging/tidy

# The Python reader is a peer to be measured against; where it cannot be installed, the table says so.
bench: setup
	@python -m pip install -q --disable-pip-version-check --group bench || true
	@python -m tests.benchmarks

clean:
	rm -rf build .venv
