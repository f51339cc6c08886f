# Everything happens in .venv, made by the first target that needs it. `make help` lists the targets.
# Another interpreter: make test PYTHON=python3.13

PYTHON ?= $(firstword $(foreach name,python3 python3.14 python3.13 python3.12 python3.11,\
  $(if $(shell $(name) -c 'import sys; print(sys.version_info >= (3, 11) or "")' 2>/dev/null),$(name))))

VENV   := .venv
PIP    := $(VENV)/bin/python -m pip --quiet --disable-pip-version-check
MODEL  := smollm2-135m

.DEFAULT_GOAL := help
.PHONY: help venv model demo test check format bench lock changelog build clean

help:  ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

# Stamps: each file below says that a step is done, and is older than what the step depends on when it must be redone.

$(VENV)/.created:
	@test -n "$(PYTHON)" || { \
	  echo "aiservices needs Python 3.11 or newer; python3 here is: $$(python3 --version 2>&1 || echo missing)." >&2; \
	  echo "Install a newer one, or name it: make PYTHON=/path/to/python3.13 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else \
	  "aiservices needs Python 3.11 or newer, and $(PYTHON) is " + sys.version.split()[0])'
	$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(VENV)/.locked: $(VENV)/.created requirements/dev.txt
	$(PIP) install --require-hashes --requirement requirements/dev.txt
	@touch $@

$(VENV)/.installed: $(VENV)/.locked pyproject.toml
	$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

venv: $(VENV)/.installed  ## make .venv from the hashed lock

model: venv  # the weights of the embedded model; does nothing when they are there
	$(VENV)/bin/aiservices model pull $(MODEL)

demo: model  ## run examples/quickstart.py on the embedded model
	$(VENV)/bin/python examples/quickstart.py

test: model  ## run the test suite; ARGS="-k memory" to choose
	scripts/test $(ARGS)

check: venv  ## formatting, lint, types, architecture
	scripts/check

format: venv  ## format the code and sort its imports
	scripts/format

bench: venv  ## measure against the raw SDK, as ratios
	$(VENV)/bin/python -m benchmarks $(ARGS)

build: venv  ## build sdist and wheel, and try the wheel in a clean environment
	scripts/build

lock: venv  ## write requirements/dev.txt anew
	scripts/lock

changelog: venv  ## show what the next release notes will say
	scripts/changelog --draft

clean:  ## remove .venv, build products and caches
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
