"""Public question sets in four languages keep every answer where its label says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag_index.embed.hashing import HashEmbedder
from rag_index.pipeline import build_documents
from rag_index.pipeline.languages import language_of
from rag_index.settings import EmbedSettings, Settings
from rag_index.store import open_snapshot
from rag_index.types import Document, Source

SETS = {
    "en": "xquad/xquad.en.json",
    "es": "xquad/xquad.es.json",
    "zh": "xquad/xquad.zh.json",
    "ja": "jsquad/valid-v1.3.json",
}


def paragraphs(shared: Path, language: str) -> list[dict]:
    articles = json.loads((shared / "data" / SETS[language]).read_bytes())["data"]
    return [paragraph for article in articles for paragraph in article["paragraphs"]]


@pytest.mark.parametrize("language", SETS)
def test_every_answer_lies_at_its_offset_in_the_stored_text(language, shared, tmp_path) -> None:
    wanted = {f"{at:04}": paragraph for at, paragraph in enumerate(paragraphs(shared, language))}
    documents = [Document(Source(path), text=paragraph["context"]) for path, paragraph in wanted.items()]
    settings = Settings(embed=EmbedSettings(model="hash"))
    build_documents(documents, tmp_path / "index", settings, embedder=HashEmbedder(settings.embed), publish=False)
    count = 0
    with open_snapshot(tmp_path / "index") as snapshot:
        for row in snapshot.documents():
            text = snapshot.document(row.id).text
            for answer in (answer for asked in wanted[row.path]["qas"] for answer in asked["answers"]):
                assert text[answer["answer_start"] :].startswith(answer["text"])
                count += 1
    assert count >= 1190


@pytest.mark.parametrize("language", SETS)
def test_the_language_of_a_paragraph_is_recognised(language, shared) -> None:
    found = [language_of(Document(Source("x"), text=each["context"])) for each in paragraphs(shared, language)]
    assert found.count(language) >= 0.99 * len(found)
