# `make demo` and `make test` each do all of their own set-up on a machine that has only Python 3.11+.
# A stamp is written after a complete install and depends on what is installed, so that a second run
# installs nothing and an interrupted one starts over.
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	command -v $$p >/dev/null && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
BACKENDS := tensorflow jax torch
SOURCES := pyproject.toml constraints.txt
# The same on every backend, so tested once.
ONCE := tests/events tests/synthetic tests/cli tests/plots tests/zoo/test_fetch.py tests/test_memory.py \
	tests/test_examples.py \
	keras_pleiades/events keras_pleiades/datasets/synthetic keras_pleiades_cli

.PHONY: demo docs test test-once test-tfds lint format clean $(BACKENDS:%=test-%)

demo: $(VENV)/.demo
	@mkdir -p out
	KERAS_BACKEND=$${KERAS_BACKEND:-jax} $(BIN)/keras-pleiades demo --out out/demo.html

# TensorFlow and JAX spend most of their time in XLA's compiler, one core each: side by side.
test: lint docs test-once test-torch
	$(MAKE) --no-print-directory -j2 --output-sync=target test-tensorflow test-jax
	$(BIN)/python -m pytest tests/across_backends

$(BACKENDS:%=test-%): test-%: $(VENV)/.test
	KERAS_BACKEND=$* $(BIN)/python -m pytest --ignore=tests/across_backends $(ONCE:%=--ignore=%)

test-once: $(VENV)/.test
	KERAS_BACKEND=torch $(BIN)/python -m pytest $(ONCE)

# The site, in out/site; a warning is an error. Material's authors announce another program in each build.
docs: $(VENV)-docs/.docs
	NO_MKDOCS_2_WARNING=1 $(VENV)-docs/bin/mkdocs build --strict --quiet

# The TFDS builders, with Beam's direct runner. In an environment of its own: Beam wants an older protobuf.
test-tfds: $(VENV)-tfds/.test
	KERAS_BACKEND=tensorflow $(VENV)-tfds/bin/python -m pytest tests/datasets/test_tfds.py \
		tests/test_readme.py -k 'test_tfds or (block and datasets)'

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(VENV)/.python:
	@test -n "$(PYTHON)" || { echo "keras_pleiades needs Python 3.11 or newer: none was found on PATH."; \
		echo "Install one, or name it: make PYTHON=/path/to/python3.11"; exit 1; }
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/.demo: $(SOURCES) | $(VENV)/.python
	@echo "Setting up $(VENV) for the demo (once; JAX is about 250 MB)."
	$(PIP) -e '.[jax,plots]'
	touch $@

$(VENV)/.test: $(SOURCES) | $(VENV)/.python
	@echo "Setting up $(VENV) for the tests (once; three backends, a few minutes)."
	$(PIP) torch==2.13.0  # by its exact version, before anything asks for it by a range
	$(PIP) -e '.[tensorflow,jax,torch,test]'
	touch $@

$(VENV)-tfds/.test: $(SOURCES)
	rm -rf $(VENV)-tfds
	$(PYTHON) -m venv $(VENV)-tfds
	$(VENV)-tfds/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt \
		-e '.[tensorflow,test,beam]'
	touch $@

# What [docs] names, without the package itself and Keras: MkDocs reads the sources and imports nothing.
$(VENV)-docs/.docs: $(SOURCES)
	rm -rf $(VENV)-docs
	$(PYTHON) -m venv $(VENV)-docs
	$(PYTHON) -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project'] \
		['optional-dependencies']['docs'], sep='\n')" > $(VENV)-docs/requirements.txt
	$(VENV)-docs/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt \
		-r $(VENV)-docs/requirements.txt
	touch $@

clean:
	rm -rf $(VENV) $(VENV)-tfds $(VENV)-docs build dist *.egg-info out
