"""The sample handbook and its questions: what the demo, the tutorial and the benchmarks stand on."""

import json
from collections import Counter
from pathlib import Path

import pytest

from rag_index.evaluate import load_questions
from rag_index.types import Document

DATA = Path(__file__).resolve().parents[2] / "data"
QUESTIONS = [json.loads(line) for line in (DATA / "questions.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def documents(label) -> dict[str, Document]:
    return label.documents()


def test_every_document_can_be_searched(documents) -> None:
    unread = {name: document.reason for name, document in documents.items() if not document.status.searchable}
    assert unread == {}
    assert len(documents) >= 12


def test_there_are_documents_of_many_formats(documents) -> None:
    formats = {document.source.format for document in documents.values()}
    assert formats >= {"markdown", "html", "text", "pdf", "python", "notebook", "docx", "csv"}


def test_the_text_of_every_reference_is_the_slice_of_its_document(documents) -> None:
    for question in QUESTIONS:
        for ref in question["refs"]:
            assert documents[ref["doc"]].text[ref["start"] : ref["end"]] == ref["text"], question["id"]


def test_labels_are_as_the_script_writes_them(label) -> None:
    assert label.main(["--check"]) == 0


def test_the_evaluator_accepts_the_questions(documents) -> None:
    labels = load_questions(DATA / "questions.jsonl", documents)
    assert len(labels.questions) == len(QUESTIONS)
    assert labels.warnings == ()


def test_there_are_questions_of_every_language_and_kind() -> None:
    tags = Counter(tag for question in QUESTIONS for tag in question["tags"])
    assert len(QUESTIONS) >= 80
    assert min(tags[language] for language in ("fr", "ja", "pt")) >= 10
    assert min(tags[kind] for kind in ("fact", "paraphrase", "multi", "table", "identifier", "code", "cross")) >= 3


def test_no_question_is_asked_twice() -> None:
    assert [text for text, count in Counter(question["question"] for question in QUESTIONS).items() if count > 1] == []
    assert len({question["id"] for question in QUESTIONS}) == len(QUESTIONS)


@pytest.mark.parametrize(
    ("text", "passage", "place"),
    [
        pytest.param("a b\n c d", "b c", (2, 6), id="any white space equals any other"),
        pytest.param("price (now) 3.20", "(now) 3.20", (6, 16), id="signs are taken literally"),
    ],
)
def test_a_passage_is_placed(label, text, passage, place) -> None:
    assert label.place(text, passage) == place


@pytest.mark.parametrize("text", ["no such words", "twice, and twice"])
def test_a_passage_that_is_gone_or_not_the_only_one_is_refused(label, text) -> None:
    with pytest.raises(ValueError, match="there must be one"):
        label.place(text, "twice")


def test_documents_that_a_script_makes_are_as_it_makes_them(make_documents, tmp_path) -> None:
    for name, make in (
        ("manuals/nv-p45-manual.pdf", make_documents.manual),
        ("sales/prices-and-discounts.docx", make_documents.terms),
    ):
        made = tmp_path / Path(name).name
        make(made)
        assert made.read_bytes() == (DATA / "handbook" / name).read_bytes()
