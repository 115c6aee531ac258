# The two commands are `make run` and `make test`; each sets up all it needs first.
.DEFAULT_GOAL := run
.PHONY: run run-reader test test-fast proof mutants statements bench lint style types \
    layers suite without-qt lock docs package clean

PYTHON := .venv/bin/python
PYTEST := $(PYTHON) -m pytest
HEADLESS := .venv-headless/bin/python -m pytest -p no:pytest-qt
QT := -o qt_log_level_fail=WARNING -o "qt_log_ignore=This plugin does not support"
CORES := $(shell nproc)
# One more than there are cores, as tests often wait for a program that they started.
WORKERS ?= $(shell expr $(CORES) + 1)
PARALLEL = -n $(WORKERS) --dist
# Where a process can be forked as it stands, what it has imported need not be again.
FORKED = $(if $(filter Linux,$(shell uname)),-p tests.helpers.in_forks --forks,\
    --dist worksteal -n)
# That nothing below the window needs Qt: every module of it is imported where there is
# none, and commands, contracts of studies, formats and models, and a few stories run
# there.
WITHOUT_QT := tests/unit/api tests/unit/cli tests/unit/test_main.py \
    tests/unit/test_terminal.py tests/architecture/test_without_qt.py \
    $(addprefix tests/contract/test_,adapters.py dataset_formats.py studies.py) \
    $(addprefix tests/stories/test_,printed_run.py parse_command.py)
# These need nothing else that is missing there either, as local models are, so that there
# alone is enough.
ONLY_WITHOUT_QT := $(filter-out %adapters.py %studies.py,$(WITHOUT_QT))
# What all else stands on, and fails first: half a minute on two cores.
LAYERS := $(addprefix tests/unit/,domain imaging metrics results store/schema) \
    $(wildcard tests/unit/studies/*/test_parse.py tests/unit/studies/*/test_score.py)

# The tests start hundreds of programs, and each would compile the whole of it again.
unexport PYTHONDONTWRITEBYTECODE
# A store waits for the disk at each commit; in memory, where there is room, for nothing.
test test-fast: export PYTEST_DEBUG_TEMPROOT := $(shell \
    [ "$$(df --output=avail /dev/shm 2>/dev/null | tail -1)" -gt 6000000 ] 2>/dev/null \
    && echo /dev/shm)

run:            ## set up everything and open the window on the demo collection
	@packaging/bootstrap run
	@.venv/bin/overread demo

run-reader:     ## the same without torch and transformers
	@packaging/bootstrap reader
	@.venv/bin/overread demo

lint: style types ## style, types and import contracts

style:
	@packaging/bootstrap test
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .

types:
	$(PYTHON) -m mypy
	.venv/bin/lint-imports --no-logo

# Tracing doubles the time of a test, so only the layers' own are traced. Few of them wait.
layers:
	$(PYTEST) $(QT) -m "not proof" $(FORKED) $(CORES) $(LAYERS) --cov --cov-report=
	$(PYTHON) -m coverage json --quiet -o .coverage.json
	$(PYTHON) packaging/perfect_coverage.py .coverage.json

test: style     ## lint, the suite with coverage, and without Qt what needs none
	@packaging/bootstrap headless
	@# One after another on one core each: types, without Qt; the layers, all the rest.
	@$(MAKE) --no-print-directory --jobs 2 without-qt suite

suite: layers
	$(PYTEST) $(QT) -m "not proof" $(FORKED) $(WORKERS) --ignore tests/benchmarks \
	    $(addprefix --ignore ,$(LAYERS) $(ONLY_WITHOUT_QT))

without-qt: types
	@! .venv-headless/bin/python -c "import PySide6" 2>/dev/null
	$(HEADLESS) -m "not proof and not hypothesis" -n 1 $(WITHOUT_QT)

test-fast: style ## for the edit loop: style, the layers below, what changed since main
	$(PYTEST) $(QT) -m "not proof" $(FORKED) $(WORKERS) $(LAYERS) \
	    $$($(PYTHON) packaging/changed_tests.py)

proof:          ## the long proofs, and every random test with 10,000 examples
	@packaging/bootstrap test
	OVERREAD_HYPOTHESIS_PROFILE=fuzz $(PYTEST) $(QT) -raP $(PARALLEL) loadgroup \
	    -m "(proof or hypothesis) and not timed"
	$(PYTEST) $(QT) -m "proof and timed" -s

mutants:        ## change metrics, parse and score in thousands of ways: which tests notice?
	@packaging/bootstrap test
	.venv/bin/mutmut run --max-children $(WORKERS)
	.venv/bin/mutmut export-cicd-stats
	$(PYTHON) packaging/killed_mutants.py mutants/mutmut-cicd-stats.json

statements:     ## which test proves each statement of the five studies, and its result
	@packaging/bootstrap test
	$(PYTHON) packaging/statements.py -n $(WORKERS)

bench:          ## times, printed and never asserted
	@packaging/bootstrap test
	$(PYTEST) tests/benchmarks -s
	.venv/bin/overread doctor --bench

lock:           ## pin every package anew, with hashes, for every Python and system
	@packaging/bootstrap test
	$(PYTHON) packaging/lock.py
	$(PYTHON) packaging/lock.py --check

docs:           ## the documentation in site/; every warning is an error
	@packaging/bootstrap docs
	@NO_MKDOCS_2_WARNING=1 .venv/bin/python -m mkdocs build --quiet --strict
	@echo "open site/index.html in a browser"

package:        ## a frozen folder of window and command line, tried without Python
	@packaging/bootstrap test
	packaging/package

clean:          ## remove everything that was made here
	rm -rf .venv .venv-headless build dist site mutants .coverage .coverage.json .mypy_cache \
	    .ruff_cache .pytest_cache .hypothesis .import_linter_cache
