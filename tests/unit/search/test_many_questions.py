"""Asking many questions of one index at once finds what asking each by itself finds."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_index.pipeline import build_documents
from rag_index.search import Answer, Library, answers_each, search
from rag_index.search.words import Readable, Weights
from rag_index.settings import ChunkSettings, EmbedSettings, SearchSettings, Settings
from rag_index.store import open_snapshot
from rag_index.store.held import HeldSnapshot, hold_snapshot
from rag_index.types import Document, Filter, Source

HALLS = {
    f"{subject}.md": f"# The {subject}\n\n"
    + " ".join(
        f"The {subject} number {n} is kept in hall {n * 7 % 13}, by spare_{subject}Parts. Team {n * 5 % 11} checks it."
        for n in range(1, 12)
    )
    for subject in ("valve", "motor", "Filterété", "sensor")
}
TEXTS = {
    **HALLS,
    "copy.md": HALLS["motor.md"],
    "mixed.txt": "東京都の倉庫。Une pompe réparée, œuvre d'été.\n\nİstanbul ſensor \u212aelvin.\n\n"
    + "The valve. " * 40,
}
QUESTIONS = (
    "Where is valve number 3 kept?",
    "motor team",
    '"number 5 is kept" -valve',
    "東京 réparée",
    "spare valveParts",
    "sensor of Istanbul, in kelvin",
    "nothing that stands anywhere",
)


@pytest.fixture
def held(index_of):
    """An index as one question sees it, and as many do."""
    snapshot = index_of(TEXTS)
    with hold_snapshot(snapshot.index) as many:
        yield snapshot, many


@pytest.mark.parametrize("mode", ["hybrid", "dense", "keyword"])
@pytest.mark.parametrize("passages", ["sentence", "chunk", "window"])
def test_answers_stand_where_the_passages_of_search_stand(held, embedder, mode, passages):
    snapshot, many = held
    many.expect([embedder.embed_query(question) for question in QUESTIONS])
    library = Library(many)
    wish = SearchSettings(mode=mode, passages=passages, limit=4)
    wishes = [wish, *(replace(wish, budget=budget) for budget in (60, 400, 2000))]
    for question in QUESTIONS:
        for each, found in zip(wishes, answers_each(library, embedder, question, wishes), strict=True):
            alone = search(snapshot, embedder, question, each)
            assert found == [Answer(passage.path, passage.start, passage.end, passage.also) for passage in alone]


EXPRESSIONS = [
    '"valve"',
    '"kept" OR "hall" OR "motor"',
    '"valve" OR "the"',
    '"東"*',
    '("kept in") AND ("hall")',
    '"nowhere"',
]


@pytest.mark.parametrize("expression", ["", *EXPRESSIONS])
@pytest.mark.parametrize("where", [None, Filter(paths=("motor.md",))])
def test_keywords_score_as_in_sqlite(held, expression, where):
    snapshot, many = held
    for k in (0, 1, 5, 100):
        assert many.keyword(expression, k, where) == snapshot.keyword(expression, k, where)


def test_keywords_score_as_in_sqlite_when_documents_have_gone(tmp_path, embedder):
    made = Settings(embed=EmbedSettings(model="hash"), chunk=ChunkSettings(size=60, overlap=0))
    for texts in (TEXTS, {path: text for path, text in TEXTS.items() if path != "valve.md"}):
        documents = [Document(Source(path, sha256=path, format="text"), text=text) for path, text in texts.items()]
        build_documents(documents, tmp_path, made, embedder=embedder, publish=False)
    with open_snapshot(tmp_path) as snapshot, hold_snapshot(tmp_path) as many:
        for expression in EXPRESSIONS:
            assert many.keyword(expression, 10) == snapshot.keyword(expression, 10)


def test_what_is_held_is_what_is_stored(held, embedder):
    snapshot, many = held
    ids = [row.id for document in snapshot.documents() for row in snapshot.chunks_of(document.id)]
    terms = ["valve", "東京", "ete", "nowhere"]
    vector = embedder.embed_query("valve")
    assert many.chunks([*ids, 10**6]) == snapshot.chunks([*ids, 10**6])
    assert many.same_text(ids) == snapshot.same_text(ids)
    assert any(many.same_text(ids).values())
    assert many.frequencies(terms) == snapshot.frequencies(terms)
    assert many.cosines(ids, vector) == pytest.approx(snapshot.cosines(ids, vector), abs=1e-6)
    assert many.dense(vector, 7, Filter(paths=("*.txt",))) == snapshot.dense(vector, 7, Filter(paths=("*.txt",)))


def test_questions_that_were_not_expected_are_answered_too(held, embedder):
    _, many = held
    assert isinstance(many, HeldSnapshot)
    vector = embedder.embed_query("motor")
    before = many.dense(vector, 5)
    many.expect([vector])
    assert [chunk for chunk, _ in many.dense(vector, 5)] == [chunk for chunk, _ in before]


def test_all_cosines_at_once_are_given_up_where_they_would_take_too_much_memory(held, embedder, monkeypatch):
    _, many = held
    monkeypatch.setattr("rag_index.store.held.MOST_BYTES", 10)
    vector = embedder.embed_query("motor")
    many.expect([vector])
    assert many.dense(vector, 5)


PIECES = st.sampled_from(
    [
        "pump",
        "Pump",
        "PUMPS",
        "userName",
        "name",
        " ",
        "_",
        "-",
        "3",
        "été",
        "œ",
        "\u0301",
        "ſ",
        "\u212a",
        "İ",
        "ı",
        ".",
    ]
)


@given(
    st.lists(PIECES, max_size=12).map("".join), st.lists(st.sampled_from(["pump", "name", "s", "sk", "i", "été", "3"]))
)
def test_words_are_found_alike_by_strings_and_by_patterns(text, terms):
    weights = Weights.of(terms, {}, 10)
    quick = Readable.of(text)
    assert weights.find_in(quick, 7) == weights.find_in(replace(quick, lower=None), 7)
