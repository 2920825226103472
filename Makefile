# Everything starts from a bare clone: Python 3.11 or later and make are enough.
#   make PYTHON=/path/to/python3.12 test     another Python
#   make WORKERS=8 test                      more test processes
#   make TORCH=yes test                      with PyTorch, even if pip only finds its CUDA build; TORCH=no: without

VENV ?= .venv
BIN := $(VENV)/bin
WORKERS ?= auto
# The Python of a GPU host, with PyTorch and CuPy already installed.
GPU_PYTHON ?= python3

# The first Python that is new enough and can create a virtual environment; evaluated only if there is no environment yet.
CANDIDATES := python3.11 python3 python3.12 python3.13 python3.14
USABLE := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))
FIND_PYTHON = $(shell for p in $(CANDIDATES); do "$$p" -c '$(USABLE)' >/dev/null 2>&1 && { echo "$$p"; break; }; done)

# The supported Pythons; `make test-pythons` runs on those it finds. Numba has a build for 3.15 too, but OpenSpiel and
# several pinned libraries have none yet.
PYTHONS ?= 3.11 3.12 3.13 3.14

# On Linux, PyTorch from PyPI needs gigabytes of CUDA, so the tests use its CPU build if pip finds one.
TORCH ?= auto
TORCH_BUILD = torch==$(shell sed -n 's/^torch==//p' constraints.txt)$(if $(filter Linux,$(shell uname -s)),+cpu)

# What the package itself needs, read from pyproject.toml.
CORE = import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["dependencies"], sep="\n")

# pip compiles no bytecode: most of it is never used, and Python keeps the rest when it is. It must, whatever the shell
# says: the tests start hundreds of processes, and each would compile two seconds' worth of modules again.
unexport PYTHONDONTWRITEBYTECODE
PIP = $(BIN)/python -m pip --disable-pip-version-check -qq install --no-compile --constraint constraints.txt
CORE_READY := $(VENV)/.core-ready
DEMO_READY := $(VENV)/.demo-ready
DEV_READY := $(VENV)/.dev-ready$(if $(filter-out auto,$(TORCH)),-torch-$(TORCH))
BENCH_READY := $(VENV)/.bench-ready
PYTEST = $(BIN)/python -m pytest
MKDOCS = NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

.DEFAULT_GOAL := help
.PHONY: help demo test kernels lint format bench test-pythons test-slow test-gpu test-sanitizer golden screenshots pages docs clean

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(DEMO_READY)  ## solve Leduc poker and a hold'em turn, print, plot and browse the results
	@mkdir -p demo
	$(BIN)/regretless solve leduc --variant plus --iterations 1000 --plot demo/leduc.png
	$(BIN)/regretless solve examples/turn.toml --target 0.3 --out demo/turn.rgl
	@if [ -t 0 ] && [ -t 1 ]; then $(BIN)/regretless serve demo; else echo "to browse it: $(BIN)/regretless serve demo"; fi

# pip uses one core: on another, kernels are compiled meanwhile for all test processes. Linting and testing share all, so
# threads of libraries that wait for work must not keep a core busy.
test:  ## everything that must pass: lint, types, layers, docs, tests, doctests
	@$(MAKE) --no-print-directory -j 2 $(DEV_READY) kernels
	@$(MAKE) --no-print-directory lint >$(VENV)/lint.log 2>&1 & linting=$$!; \
	OMP_WAIT_POLICY=PASSIVE OPENBLAS_NUM_THREADS=1 \
	$(PYTEST) -n $(WORKERS) --maxprocesses 8 --dist worksteal; tested=$$?; \
	if wait $$linting; then echo "lint passed"; else cat $(VENV)/lint.log; exit 1; fi; exit $$tested

kernels: $(CORE_READY)
	@PYTHONPATH="$(CURDIR)/src" $(BIN)/python -m tests.compile_kernels

# Most machines have no PyTorch: types and the collection of every test, slow ones too, are also checked as if there were
# none. Slow tests seldom run, so mypy checks that the functions and attributes that tests use exist.
lint: $(DEV_READY)  ## style, types, layers, every test collected, and a strict build of the docs
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	@{ cat pyproject.toml; printf '\n[[tool.mypy.overrides]]\nmodule = ["torch.*"]\nfollow_imports = "skip"\n'; } >$(VENV)/no-torch.toml
	$(BIN)/mypy --config-file $(VENV)/no-torch.toml --cache-dir .mypy_cache/no-torch
	$(BIN)/mypy --config-file tests/mypy.ini --cache-dir .mypy_cache/tests
	$(BIN)/lint-imports
	$(PYTEST) --collect-only --run-slow --without-optional -qq -p no:cacheprovider tests >$(VENV)/collected.log || { cat $(VENV)/collected.log; exit 1; }
	DOCS_WHOLE=false $(MKDOCS) --site-dir $(VENV)/checked-site

format: $(DEV_READY)  ## let ruff fix what it can
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

test-pythons:  ## make test on every supported Python it finds, each in its own environment
	@passed=; failed=; absent=; \
	for version in $(PYTHONS); do \
	  python=; \
	  for p in "python$$version" "$${PYENV_ROOT:-$$HOME/.pyenv}/versions/$$version".*/bin/"python$$version"; do \
	    "$$p" -c '$(USABLE)' >/dev/null 2>&1 && python="$$p" && break; \
	  done; \
	  if [ -z "$$python" ]; then absent="$$absent $$version"; continue; fi; \
	  echo "=== Python $$version: $$python"; \
	  if $(MAKE) --no-print-directory PYTHON="$$python" VENV=.venv-$$version test; then passed="$$passed $$version"; \
	  else failed="$$failed $$version"; fi; \
	done; \
	echo "=== Python: passed$${passed:- none}; failed$${failed:- none}; not found, so not tested:$${absent:- none}"; \
	[ -n "$$passed" ] && [ -z "$$failed" ]

test-slow: $(DEV_READY)  ## the tests that take more than a few seconds, and property tests with new random examples
	$(PYTEST) tests -m "slow or hypothesis" --hypothesis-profile random -n $(WORKERS) --maxprocesses 8 --dist worksteal

test-gpu:  ## the tests that need a CUDA device, with the host's own Python
	PYTHONPATH=src $(GPU_PYTHON) -m pytest tests -m gpu

test-sanitizer:  ## memcheck and racecheck of small solves on a CUDA device, with the host's own Python
	PYTHONPATH=src:. compute-sanitizer --tool memcheck --error-exitcode 1 $(GPU_PYTHON) -m tests.sanitized
	PYTHONPATH=src:. compute-sanitizer --tool racecheck --error-exitcode 1 $(GPU_PYTHON) -m tests.sanitized

bench: $(BENCH_READY)  ## time Regretless against other solvers
	$(BIN)/python benchmarks/games.py --out benchmarks/results/games.json

golden: $(DEV_READY)  ## regenerate the tests' golden files (minutes)
	$(BIN)/python tests/solving/golden/make_golden.py

screenshots: $(DEV_READY)  ## take the pictures of the page for README.md and docs/ (needs Chromium)
	$(BIN)/python -m tests.screenshots

pages: $(DEV_READY)  ## run every command in README.md and docs/ and write its output into the page
	$(BIN)/python -m tests.pages

docs: $(DEV_READY)  ## build the documentation into site/
	$(MKDOCS)

clean:  ## remove everything built here, including the environment
	rm -rf $(VENV) $(PYTHONS:%=.venv-%) build demo dist site .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests docs -name __pycache__ -type d -prune -exec rm -rf {} +

# A half-created environment has no working pip and is recreated.
define make_environment
	@if ! $(BIN)/python -m pip --version >/dev/null 2>&1; then \
	  python="$(or $(PYTHON),$(FIND_PYTHON))"; \
	  if [ -z "$$python" ] || ! "$$python" -c '$(USABLE)' >/dev/null 2>&1; then \
	    found="$$("$${python:-python3}" --version 2>/dev/null | head -n 1)"; \
	    echo "Regretless needs Python 3.11 or later with venv, found $${found:-none}; to choose one: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)" >&2; \
	    exit 1; \
	  fi; \
	  echo "creating $(VENV) with $$python"; \
	  "$$python" -m venv --clear $(VENV); \
	fi
endef

define install_torch
	@case "$(TORCH)" in \
	  no) ;; \
	  yes) $(PIP) torch ;; \
	  auto) $(PIP) '$(TORCH_BUILD)' 2>/dev/null || \
	    echo "pip finds no $(TORCH_BUILD) for this Python: skipping tests of the PyTorch engine (TORCH=yes installs it with CUDA)" ;; \
	  *) echo "TORCH must be auto, yes or no, not $(TORCH)" >&2; exit 1 ;; \
	esac
endef

# The tests of the page need a browser: the system's own, installed if this user may install packages. Of Debian's
# packages, the one without windows is smaller and faster; what they recommend brings a hundred more.
CHROMIUM := chromium-headless-shell chromium
INSTALL_CHROMIUM = for package in $(CHROMIUM); do \
  apt-get install -qq -y --no-install-recommends "$$package" fonts-liberation && exit; done; exit 1
define install_chromium
	@for p in $(CHROMIUM) chromium-browser google-chrome; do command -v "$$p" >/dev/null && exit; done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "installing Chromium for the tests of the page"; \
	  { ( $(INSTALL_CHROMIUM) ) || { apt-get update -qq && ( $(INSTALL_CHROMIUM) ); }; } >/dev/null 2>&1 || \
	    echo "Chromium cannot be installed here: skipping the browser tests of the page"; \
	else echo "no Chromium found: skipping the browser tests of the page (apt-get install chromium-headless-shell)"; fi
endef

$(DEMO_READY): pyproject.toml constraints.txt
	$(make_environment)
	@echo "installing what the demo needs into $(VENV)"
	@$(PIP) --editable '.[plot,web]'
	@touch $@

$(CORE_READY): pyproject.toml constraints.txt
	$(make_environment)
	@echo "installing what Regretless needs into $(VENV)"
	@$(BIN)/python -c '$(CORE)' >$(VENV)/core.txt && $(PIP) --requirement $(VENV)/core.txt
	@touch $@

$(DEV_READY): $(CORE_READY)
	@echo "installing what the tests need into $(VENV)"
	@$(PIP) --editable '.[dev]'
	$(install_torch)
	$(install_chromium)
	@touch $@ $(DEMO_READY)

$(BENCH_READY): pyproject.toml constraints.txt
	$(make_environment)
	@echo "installing what the benchmarks need into $(VENV)"
	@$(PIP) --editable '.[bench,plot]'
	@touch $@ $(DEMO_READY)
