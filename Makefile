# Every target does its own set-up: on a bare Debian or Ubuntu machine with root or sudo, each of them works at once.
SHELL := /bin/bash
VENV := $(CURDIR)/.venv
BIN := $(VENV)/bin
export PATH := $(BIN):$(PATH)
# Open MPI refuses to start as root without these; containers and CI machines are root.
export OMPI_ALLOW_RUN_AS_ROOT := 1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM := 1

# All inputs of the native build, found by pattern so that a moved folder is not missed.
NATIVE := $(shell find . \( -path ./build -o -path ./.venv -o -path ./.git -o -path ./src \) -prune -o -type f \
  \( -name CMakeLists.txt -o -path '*/native/*' -o -path './tests/benchmarks/*.c*' -o -path './tests/truth/simulator/*' \
  -o -path './collectors/pmpi/*' \) \
  ! -name '*.md' ! -name '*.pyc' -print)

# Each process has a part of the files, whose fixtures are made once, and takes over what another has not begun when it
# has none left. Tests of MPI, the simulator and browsers wait for half of their time: where they are among the others,
# in one session, a process more than cores has what they leave. Tests of durations run alone, and of the
# files only those that have some are collected: to read all the others takes ten seconds of one core.
SIDE_BY_SIDE := --dist worksteal --durations=20
CORES := $(shell nproc)

# Tests start Python often: bytecode is kept, even where the environment says not to write it.
unexport PYTHONDONTWRITEBYTECODE

# Each native source is compiled once for the package, the tests and the wheel of all checkouts, where ccache could be
# installed.
CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/logpost/ccache
export CCACHE_DIR ?= $(shell mkdir -p '$(CACHE)' 2> /dev/null && test -w '$(CACHE)' && echo '$(CACHE)' || echo '$(CURDIR)/build/ccache')
export CCACHE_BASEDIR ?= $(CURDIR)
export CCACHE_NOHASHDIR ?= 1
export CCACHE_SLOPPINESS ?= pch_defines,time_macros

.PHONY: help setup demo docs check test lint bench sanitize fuzz conformance wheel wheel-test matrix clean

help:
	@echo 'make demo      record, analyze and report an MPI program; prints the path of the report'
	@echo 'make check     quick tests without MPI, simulator or browser; one minute on 2 cores, little set-up'
	@echo 'make test      everything: native tests, Python tests, browser tests'
	@echo 'make lint      formatters, linters, types, layers of imports and includes, words'
	@echo 'make sanitize  native tests and analyses of real archives under ASan, UBSan and TSan'
	@echo 'make fuzz SECONDS=600   archives and other files made by chance for so long: nothing may die, hang or not add up'
	@echo 'make docs      the documentation as pages in build/docs; prints the path to open'
	@echo 'make conformance  MPICH'"'"'s test suite with and without the collector (hours; ONLY=PATTERN for a part)'
	@echo 'make wheel     a wheel with libotf2 inside, and the sdist, in build/dist'
	@echo 'make wheel-test  installs it on a system with Python alone, from an archive to a report'
	@echo 'make matrix    builds and uses logpost with each Python, libotf2 and MPI that can be had (ONLY=WORD for a part)'
	@echo 'make bench     speed, memory and accuracy as ratios within one run'
	@echo 'make setup     only the set-up for these targets'

# Set-up in stages: the demo needs no test framework, and quick tests need no browser or second MPI.
$(VENV)/.base: pyproject.toml packaging/setup packaging/apt-base.txt $(NATIVE)
	@packaging/setup base $(VENV)
	@touch $@

$(VENV)/.check: $(VENV)/.base packaging/apt-check.txt
	@packaging/setup check $(VENV)
	@touch $@

$(VENV)/.test: $(VENV)/.check packaging/apt-test.txt packaging/apt-optional.txt
	@packaging/setup test $(VENV)
	@touch $@

build/dev/.built: $(VENV)/.check $(NATIVE) $(wildcard tests/data/archives/*)
	@cmake -S . -B build/dev -G Ninja -DLOGPOST_TESTS=ON -DLOGPOST_PYTHON=OFF > build/dev.log 2>&1 \
	  || { cat build/dev.log; exit 1; }
	@MAKEFLAGS= cmake --build build/dev
	@touch $@

setup: build/.made $(VENV)/.test build/dev/.built

build/.made:
	@mkdir -p build/dev && touch $@

demo: $(VENV)/.base
	@packaging/demo

docs: build/.made $(VENV)/.check build/dev/.built
	@python -m pip install -q --disable-pip-version-check --group docs
	@nice python docs/site/build.py build/docs

check: build/.made $(VENV)/.check build/dev/.built
	@ctest --test-dir build/dev -j $(CORES) --output-on-failure --no-tests=error
	@python -m pytest -n auto $(SIDE_BY_SIDE) -m 'not (mpi or testbed or browser or slow)'

test: setup
	@ctest --test-dir build/dev -j $(CORES) --output-on-failure --no-tests=error
	@python -m pytest -n $$(($(CORES) + 1)) $(SIDE_BY_SIDE) -m 'not alone'
	@python -m pytest -m alone $$(grep -rl --include='*.py' 'mark\.alone' tests)

# Files are read as they are compiled, eight together, in a third of the time. The static analyzer then needs to be sent
# into what a file includes. The tests, which run under sanitizers, are read without it.
tidied = run-clang-tidy.py -p build/dev -quiet -j $(CORES) $(1) > build/tidy.log 2>&1 || { cat build/tidy.log; false; }

lint: setup
	ruff format --check .
	ruff check .
	mypy
	lint-imports
	git ls-files '*.c' '*.h' '*.cpp' '*.hpp' | xargs clang-format --dry-run --Werror
	python packaging/words.py
	python packaging/includes.py
	python packaging/sentences.py
	@$(call tidied,'^$(CURDIR)/(build/dev/)?tests/')
	@$(call tidied,-extra-arg=-Xclang -extra-arg=-analyzer-opt-analyze-headers '^$(CURDIR)/(?!(build/dev/)?tests/)')

# The Python OTF2 reader is measured for comparison; where it cannot be installed, the table says so.
bench: setup
	@python -m pip install -q --disable-pip-version-check --group bench || true
	@python -m tests.benchmarks

sanitize: build/.made $(VENV)/.check
	@packaging/sanitize

fuzz: build/.made $(VENV)/.check build/dev/.built
	@packaging/fuzz $(or $(filter-out 0,$(SECONDS)),600)

# Continues where it was interrupted. Needs the distribution's source packages and minutes to configure the suite.
conformance: setup
	@nice python -m tests.conformance --only '$(ONLY)'

wheel: build/.made $(VENV)/.base
	@nice packaging/wheel $(VENV) build/dist

# Needs root and debootstrap: the bare system is a chroot in build/bare.
wheel-test: wheel
	@packaging/wheel-test build/dist/logpost-*.whl

# Needs the network: each row has a separate environment, and MPIs that the distribution lacks come from PyPI.
matrix: setup
	@nice python packaging/matrix.py $(ONLY)

clean:
	rm -rf build .venv
