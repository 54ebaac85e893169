# Two commands do everything on a fresh machine with Python 3.11 and git: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
EXTRAS := dev,agent,htcondor,server,solve
# All but the page that lists the words to avoid.
PAGES := README.md CONTRIBUTING.md CHANGELOG.md \
	$(filter-out docs/dev/words.md,$(wildcard docs/*.md docs/dev/*.md))

.PHONY: demo test test-fast test-slow test-all bench bench-agents bench-deploy bench-rules lint docs pictures architecture reference setup clean

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[$(EXTRAS)]'
	touch $@

demo: $(STAMP)
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash sample-repo/demo.sh

# All tests but those marked slow: about nine minutes on two cores.
test: $(STAMP)
	$(BIN)/python -m pytest -n auto -m "not slow"

# The packages that know nothing of processes, networks and commands: about a minute.
FAST := architecture.py cache cel check compile comparison domain explain graph history load model render rollout runs
test-fast: $(STAMP)
	$(BIN)/python -m pytest -n auto -m "not slow" $(wildcard $(FAST:%=tests/%) $(FAST:%=tests/test_%))

# Only what `make test` leaves out: about seventeen minutes.
test-slow: $(STAMP)
	$(BIN)/python -m pytest -n auto -m slow

test-all: $(STAMP)
	$(BIN)/python -m pytest -n auto

# gitcfg beside other tools: about 15 minutes, with FULL=1 everything; BENCH="--help" tells more.
bench: $(STAMP)
	$(BIN)/python -m bench $(if $(FULL),--full) $(BENCH)

# The server under 8,000 simulated agents: about five minutes; AGENTS="--help" tells more.
bench-agents: $(STAMP)
	$(BIN)/python -m bench.agents $(AGENTS)

# gitcfg deploy beside ssh, fabric, ansible and others, on loopback: about ten minutes; DEPLOY="--help" tells more.
bench-deploy: $(STAMP)
	$(BIN)/python -m bench.deploy $(DEPLOY)

# Rules across nodes: what they cost, and their choices beside CP-SAT and clingo; RULES="--help" tells more.
bench-rules: $(STAMP)
	$(BIN)/python -m bench.rules $(RULES)

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/proselint check --config docs/proselint.json $(PAGES)

# The pages and pictures that are made from the program.
docs: reference pictures
	$(BIN)/python docs/findings.py

# Terminals as SVG, and Graphviz's picture of groups. The server's pages, with Chromium: python -m docs.pictures_pages
pictures: $(STAMP)
	$(BIN)/python docs/pictures.py

# What the packages import, as a picture for docs/dev/architecture.md; with Graphviz.
architecture: $(STAMP)
	$(BIN)/python -m docs.architecture

# The page about commands and the grammar of completion, both from the program.
reference: $(STAMP)
	$(BIN)/python -m gitcfg.cli.reference docs

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
