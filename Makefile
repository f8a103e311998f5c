# Every target sets up what it needs: a virtual environment of its own, and Java where it starts
# Spark. `make help` lists them.

SHELL := /bin/sh
PYTHON ?= $(shell scripts/find_python.sh)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DELTA_VENV := .venv-delta
DELTA_READY := $(DELTA_VENV)/.ready
DBT_VENV := .venv-dbt
DBT_READY := $(DBT_VENV)/.ready
# The demo needs none of what developers need, and should not wait for it.
DEMO_VENV := $(if $(wildcard $(READY)),$(VENV),.venv-demo)
DOCS_VENV := .venv-docs
DOCS_READY := $(DOCS_VENV)/.ready
SCALE ?= small
CASE ?=
CURVE ?=
# How many Spark sessions run tests side by side; a file of tests runs in one of them.
SESSIONS ?= 2

.DEFAULT_GOAL := help
.PHONY: help demo test test-fast test-slow test-long lint format test-matrix bench curves interop lock docs package clean

help:
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

demo: $(DEMO_VENV)/.ready ## the main job end to end, on a small table
	@JAVA_HOME=$$(scripts/ensure_java.sh) && export JAVA_HOME && \
		$(DEMO_VENV)/bin/truckee demo --folder build/demo

test: test-fast ## all tests but the slow ones: first those without a JVM, then those with Spark
	@JAVA_HOME=$$(scripts/ensure_java.sh) && export JAVA_HOME && \
		TRUCKEE_TEST_ARCHIVE=$$($(BIN)/python -m scripts.class_archive --if-made) && export TRUCKEE_TEST_ARCHIVE && \
		echo "== tests with Spark" && scripts/run_pytest.sh $(BIN)/python \
		$(if $(filter-out 1,$(SESSIONS)),-n $(SESSIONS) --dist loadfile --no-loadscope-reorder) -m "spark and not slow and not interop"
	@echo "== all tests passed; make test-slow has races, kills, clusters, servers, and more cases"

test-slow: $(READY) ## the tests that take long: races, kills, models, clusters, servers; other cases
	@JAVA_HOME=$$(scripts/ensure_java.sh) && export JAVA_HOME && \
		TRUCKEE_TEST_ARCHIVE=$$($(BIN)/python -m scripts.class_archive) && export TRUCKEE_TEST_ARCHIVE && \
		echo "== slow tests" && scripts/run_pytest.sh $(BIN)/python \
		$(if $(filter-out 1,$(SESSIONS)),-n $(SESSIONS) --dist loadfile --no-loadscope-reorder) -m "slow and not interop"

# What `make test-slow` runs for seconds, or for some of the cases, runs here for as long as it should.
test-long: export TRUCKEE_ALL_EXAMPLES = 1
test-long: export TRUCKEE_ALL_STATEMENTS = 1
test-long: export TRUCKEE_LOCAL_COMMITS = 50
test-long: export TRUCKEE_WRITER_KILLS = 100
test-long: export TRUCKEE_S3_COMMITS = 50
test-long: export TRUCKEE_KILLS = 20
test-long: export TRUCKEE_APPEND_SECONDS = 60
test-long: export TRUCKEE_UPDATE_SECONDS = 60
test-long: export TRUCKEE_ALL_INTERLEAVINGS = 1
test-long: export TRUCKEE_DML_EXAMPLES = 5
test-long: export TRUCKEE_DIFF_EXAMPLES = 20
test-long: export TRUCKEE_DIFF_PAIRS = 12
test-long: export TRUCKEE_CARE_KILLS = 30
test-long: export TRUCKEE_MUTATIONS = 8000
test-long: export TRUCKEE_NET_EXAMPLES = 100
test-long: export TRUCKEE_CLUSTER_KILLS = 1
test-long: export TRUCKEE_ROUNDS = 1000
test-long: export TRUCKEE_ALL_WAYS = 1
test-long: export TRUCKEE_DRIVER_KILLS = 20
test-long: export TRUCKEE_LIFE = 1500,500
test-long: export TRUCKEE_RACE_SECONDS = 600
test-long: $(READY) $(DELTA_READY) ## races, kills, interleavings and broken tables, longer and in full
	@JAVA_HOME=$$(scripts/ensure_java.sh) && export JAVA_HOME && \
		scripts/run_pytest.sh $(BIN)/python --durations=12 -m "not interop" \
		tests/log/commit/test_racing.py tests/log/commit/test_killed.py tests/streaming/test_kill.py \
		tests/property tests/doors/test_statements.py \
		tests/commands/write/test_write_processes.py tests/commands/dml/test_dml_processes.py \
		tests/commands/dml/test_row_conflicts_serial.py tests/commands/dml/test_dml_model.py \
		tests/spark/read/test_diff_laws.py tests/arrow/compare/test_diff_corpus.py \
		tests/care/test_killed_care.py tests/commands/care/test_optimize_killed.py \
		tests/commands/care/test_care_races.py tests/commands/care/test_optimize_races.py \
		tests/hostile/test_mutations.py tests/cluster \
		tests/spark/jvm/test_callbacks.py tests/arrow/compare/test_changelog_laws.py \
		tests/sql/test_certain_errors.py tests/delta_cases tests/spark/jvm/test_long_life.py \
		tests/commands/dml/test_killed_driver.py tests/commands/write/test_disk_full.py
	@scripts/run_pytest.sh $(BIN)/python -m interop tests/interop/test_races.py
	@scripts/run_pytest.sh $(BIN)/python -n auto -m "property and not spark and not interop"

test-fast: $(READY) ## the tests that need no JVM
	@echo "== tests without a JVM" && \
		scripts/run_pytest.sh $(BIN)/python -n auto -m "not spark and not slow and not interop"

lint: $(READY) ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY) ## put the code in shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

test-matrix: ## the tests on every supported Spark, with the oldest and newest Python found
	@scripts/test_matrix.sh

bench: $(READY) $(DELTA_READY) ## measure: CASE=name[,name] SCALE=small or SCALE=full
	@JAVA_HOME=$$(scripts/ensure_java.sh) && export JAVA_HOME && \
		$(BIN)/python -m benchmarks.run --scale $(SCALE) $(if $(CASE),--case $(CASE))

curves: $(READY) ## growth curves: CURVE=name[,name] SCALE=small or SCALE=full
	@JAVA_HOME=$$(scripts/ensure_java.sh) && export JAVA_HOME && \
		$(BIN)/python -m benchmarks.curves --scale $(SCALE) $(if $(CURVE),--curve $(CURVE))

interop: $(READY) $(DELTA_READY) $(DBT_READY) ## truckee and delta-spark on the same tables; dbt
	@JAVA_HOME=$$(scripts/ensure_java.sh) && export JAVA_HOME && \
		echo "== tests beside delta-spark" && scripts/run_pytest.sh $(BIN)/python -m interop

# The pages hold what is made from code; where developers work, that is brought up to date first.
docs: $(DOCS_READY) ## build the documentation as a site, into build/site
	$(if $(wildcard $(READY)),@$(BIN)/python -m scripts.generated_docs)
	@NO_MKDOCS_2_WARNING=1 $(DOCS_VENV)/bin/mkdocs build --strict --quiet
	@echo "build/site/index.html"

package: $(READY) ## build sdist and wheel, and try the wheel on every supported Python found
	@$(BIN)/python -m scripts.try_package

lock: ## make the lock files anew
	@scripts/lock.sh

clean: ## remove environments and caches
	rm -rf .venv .venv-* build dist src/*.egg-info .pytest_cache .mypy_cache .ruff_cache \
		.hypothesis benchmarks/.cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): requirements.lock pyproject.toml
	@scripts/make_venv.sh "$(PYTHON)" $(VENV) requirements.lock editable

.venv-demo/.ready: requirements-demo.lock pyproject.toml
	@scripts/make_venv.sh "$(PYTHON)" .venv-demo requirements-demo.lock editable

$(DOCS_READY): requirements-docs.lock
	@scripts/make_venv.sh "$(PYTHON)" $(DOCS_VENV) requirements-docs.lock

$(DELTA_READY): requirements-delta.lock
	@scripts/make_venv.sh "$(PYTHON)" $(DELTA_VENV) requirements-delta.lock

$(DBT_READY): requirements-dbt.lock
	@scripts/make_venv.sh "$(PYTHON)" $(DBT_VENV) requirements-dbt.lock
