"""The published corpora and questions, and the token encoding that the report counts by."""

from __future__ import annotations

import csv
import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from rag_index.evaluate.metrics import Interval


@pytest.fixture(scope="session")
def corpora(shared) -> dict[str, str]:
    folder = shared / "data" / "chunking_evaluation" / "corpora"
    return {path.stem: path.read_bytes().decode() for path in sorted(folder.iterdir())}


@pytest.fixture(scope="session")
def questions(shared) -> list[tuple[str, list[Interval]]]:
    with (shared / "data" / "chunking_evaluation" / "questions_df.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [
        (row["corpus_id"], [(ref["start_index"], ref["end_index"]) for ref in json.loads(row["references"])])
        for row in rows
    ]


@pytest.fixture(scope="session")
def texts_of_questions(shared) -> list[str]:
    with (shared / "data" / "chunking_evaluation" / "questions_df.csv").open(newline="", encoding="utf-8") as file:
        return [row["question"] for row in csv.DictReader(file)]


@pytest.fixture(scope="session")
def cl100k():
    tiktoken = pytest.importorskip("tiktoken")
    if not find_spec("llama_index.core"):
        pytest.skip("llama-index-core, which carries the encoding, is not installed")
    folder = Path(find_spec("llama_index.core").origin).parent / "_static" / "tiktoken_cache"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
        return tiktoken.get_encoding("cl100k_base")
