# `make` alone prints what there is.
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && exit; done; echo python3)
VENV   := .venv
BIN    := $(VENV)/bin
SAMPLE ?= data/samples/kafka-amp-17
REPORT ?= report.html
MINUTES ?= 5
SEED ?= 1

.DEFAULT_GOAL := help
.PHONY: help setup lock report test wheel check fix notebooks exercises docs site texts bench fuzz lab clean

help: ## print this list
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /\1|/' | awk -F'|' '{printf "make %-10s %s\n", $$1, $$2}'

setup: $(VENV)/.mqlab ## build .venv from requirements.lock; does nothing when it is up to date

$(VENV)/.locked: requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "mqlab needs Python 3.11 or newer, found " + sys.version.split()[0] + ": run make PYTHON=/path/to/python3.11")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-compile --require-hashes --requirement requirements.lock
	@$(BIN)/python -m compileall -q -j 0 $(VENV)/lib >$(VENV)/compiled.txt 2>&1 || true # templates are no Python
	@touch $@

$(VENV)/.mqlab: $(VENV)/.locked pyproject.toml
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m compileall -q mqlab
	@$(BIN)/mqlab doctor --quiet --prepare || echo "Java starts slowly: see above."
	@touch $@

lock: setup ## write requirements.lock anew: the newest versions within the bounds of pyproject.toml
	@$(BIN)/uv pip compile pyproject.toml --all-extras --universal --python-version 3.11 --upgrade --generate-hashes \
	  --no-annotate --custom-compile-command "make lock" --quiet --output-file requirements.lock

report: setup ## run the notebooks on a sample and write report.html (SAMPLE=, REPORT=)
	@$(BIN)/mqlab doctor --quiet
	$(BIN)/mqlab report $(SAMPLE) -o $(REPORT)

test: setup ## run all tests, the notebooks included, on two cores
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile --nbval-lax tests notebooks

wheel: setup ## build the package, and try it outside the repository with the lowest versions that it allows
	$(BIN)/python -m pytest -m wheel tests/test_wheel.py

check: setup ## what a change must pass: format, lint, types, import contracts, spelling, docs, tests, package
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell
	$(MAKE) site
	$(MAKE) test
	$(MAKE) wheel

fix: setup ## format, and repair what the linter can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

notebooks: setup ## write each notebook from its .py twin
	$(BIN)/jupytext --update --to ipynb notebooks/*.py notebooks/training/*.py

exercises: setup ## seal the exercises of the training from their keys in tests/truth/training
	$(BIN)/python -m mqlab.training.making tests/truth/training data/samples mqlab/training/exercises

docs: setup ## write docs/classes, docs/tables.md and the outputs that pages show
	$(BIN)/python docs/site/pages.py
	$(BIN)/python -m mqlab.tables > docs/tables.md
	$(BIN)/python docs/site/outputs.py

site: setup ## build docs/ as a site into build/site, every link checked; it opens from a file
	@$(BIN)/zensical build --strict --clean # its cache does not see docstrings change
	@! grep -rnE '<(script|link|img)[^>]+(src|href)="?(https?:)?//' build/site --include='*.html'
	@echo build/site/index.html

texts: setup ## bring the message catalogues of mqlab/languages up to date with the texts
	$(BIN)/python docs/site/catalogues.py

bench: setup ## measure reading speed on generated logs
	$(BIN)/python -m bench

fuzz: setup ## damage samples for MINUTES=, from SEED= on, and check what is said of them
	PYTHONPATH=.:tests $(BIN)/python -P -m fuzz --minutes $(MINUTES) --seed $(SEED)

lab: setup ## open the notebooks in JupyterLab
	$(BIN)/jupyter lab --notebook-dir=notebooks

clean: ## remove what was built, .venv included
	rm -rf $(VENV) build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .cache \
	  spark-warehouse metastore_db derby.log report.html report.findings.json mqlab-demo.*
