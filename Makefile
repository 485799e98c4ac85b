# One command each. Everything is installed into .venv; nothing outside this folder is touched.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
INDEX := .rag-index

.PHONY: demo test check check-docs check-tests docs bench nightly format clean

# The marker is newer than what it was made from, so a second run installs nothing (and needs no network).
$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[offline,multilingual,watch]' -r requirements-dev.txt
	touch $(READY)

demo: $(READY) ## install, index the sample documents, answer questions in four languages
	$(BIN)/rag-index build data/handbook
	$(BIN)/rag-index query "How long is the warranty on a repaired pump?" --index data/handbook/.rag-index
	$(BIN)/rag-index query "Combien de temps dure le prêt gratuit d'une pompe ?" --index data/handbook/.rag-index -n 1
	$(BIN)/rag-index query "Quantas horas dura a bateria do gateway sem corrente?" --index data/handbook/.rag-index -n 1
	$(BIN)/rag-index query "修理したポンプの保証期間はどのくらいですか。" --index data/handbook/.rag-index -n 1

test: $(READY) ## all tests
	$(BIN)/python -m pytest -q

check: $(READY) ## what CI runs: format, lint; then types, layers, docs beside tests with coverage
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(MAKE) --no-print-directory --jobs=2 check-docs check-tests

check-docs: $(READY)
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python docs/generate.py --check

check-tests: $(READY)
	$(BIN)/python -m pytest -q --cov --cov-report=term

docs: $(READY) ## write the reference pages by running the code
	$(BIN)/python docs/generate.py

bench: $(READY) ## all benchmarks against named rivals; needs requirements-bench.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -r requirements-bench.txt
	$(BIN)/python benchmarks/run.py

nightly: $(READY) ## the long property and fault tests
	RAG_INDEX_NIGHTLY=1 $(BIN)/python -m pytest -q -m "nightly or not nightly"

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis data/handbook/.rag-index
