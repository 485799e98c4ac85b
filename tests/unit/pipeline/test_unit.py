import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from rag_index.embed import load_embedder
from rag_index.embed.cache import VectorCache
from rag_index.pipeline import build_documents
from rag_index.settings import Settings
from rag_index.store import open_snapshot
from rag_index.types import Document, Source

HASH = Settings.from_dict({"embed": {"model": "hash"}, "store": {"publish": False}})
HASHING = load_embedder(HASH.embed)


def document(number: int) -> Document:
    text = "\n\n".join(f"Paragraph {at} of text {number} says that it is number {at}." for at in range(40))
    return Document(Source(f"{number}.txt", sha256=str(number)), text=text)


class Noting:
    """Notes whether it is ever asked by two at once, and can be made to wait or fail."""

    info, tokens, embed_query = HASHING.info, HASHING.tokens, HASHING.embed_query

    def __init__(self, before=lambda: None):
        self.before = before
        self.two_at_once = False
        self.embedded = 0
        self._busy = threading.Lock()

    def embed(self, texts):
        if not self._busy.acquire(blocking=False):
            self.two_at_once = True
            return HASHING.embed(texts)
        try:
            self.before()
            self.embedded += len(texts)
            return HASHING.embed(texts)
        finally:
            self._busy.release()


def live(index: Path) -> int:
    with open_snapshot(index) as snapshot:
        return len(snapshot.documents())


@pytest.fixture
def units_of_two(monkeypatch):
    # Two documents a unit, not 1,024: few of them show what thousands would.
    monkeypatch.setattr("rag_index.pipeline.unit.UNIT_DOCUMENTS", 2)


def test_documents_of_the_next_unit_are_collected_while_the_model_is_busy(monkeypatch, tmp_path: Path) -> None:
    # Twenty documents a unit, not 1,024.
    monkeypatch.setattr("rag_index.pipeline.unit.UNIT_DOCUMENTS", 20)
    # And none before it, however slow this machine is.
    monkeypatch.setattr("rag_index.pipeline.unit.FIRST_S", 1000)
    monkeypatch.setattr("rag_index.pipeline.unit.IDLE_CHUNKS", (10_000, 10_000))
    at_work, collected, seen = threading.Event(), threading.Event(), []

    def documents():
        for number in range(39):
            time.sleep(0.01)  # the first unit is prepared long before the thirtieth document comes
            if number == 30:
                assert at_work.wait(20)
            if number == 35:
                collected.set()
            yield document(number)

    def until_more_was_collected():
        at_work.set()
        seen.append(collected.wait(20))

    build_documents(documents(), tmp_path / "index", HASH, embedder=Noting(until_more_was_collected))
    assert seen[0]
    assert live(tmp_path / "index") == 39


def test_a_model_that_waits_is_given_what_there_is(monkeypatch, tmp_path: Path) -> None:
    # At once, not after two seconds.
    monkeypatch.setattr("rag_index.pipeline.unit.FIRST_S", 0)
    embedder, begun = Noting(), threading.Event()
    embedder.before = begun.set

    def documents():
        yield document(0)
        yield document(1)
        begun_early.append(begun.wait(20))
        yield document(2)

    begun_early: list[bool] = []
    settings = replace(HASH, chunk=replace(HASH.chunk, size=200, overlap=0))
    build_documents(documents(), tmp_path / "index", settings, embedder=embedder)
    assert begun_early == [True]
    assert live(tmp_path / "index") == 3


def test_a_model_that_waits_is_given_twice_as_much_each_time(monkeypatch, tmp_path: Path) -> None:
    # From four chunks, not 32, to 16, not 256; the first one at once.
    monkeypatch.setattr("rag_index.pipeline.unit.FIRST_S", 0)
    monkeypatch.setattr("rag_index.pipeline.unit.IDLE_CHUNKS", (4, 16))
    given, embedder = [], Noting()

    class Counting:
        info, tokens, embed_query = HASHING.info, HASHING.tokens, HASHING.embed_query

        def embed(self, texts):
            given.append(len(texts))
            return embedder.embed(texts)

    def documents():
        for number in range(50):
            time.sleep(0.05)  # the model has long ended what it was given
            yield Document(Source(f"{number}.txt", sha256=str(number)), text=f"Text {number} is one chunk.")

    build_documents(documents(), tmp_path / "index", HASH, embedder=Counting())
    assert given[:5] == [1, 4, 8, 16, 16]
    assert sum(given) == 50


@pytest.mark.parametrize("chunker", ["character", "sentence", "semantic"])
def test_the_model_is_never_asked_by_two_at_once(units_of_two, tmp_path: Path, chunker: str) -> None:
    embedder = Noting(lambda: time.sleep(0.01))
    settings = replace(HASH, chunk=replace(HASH.chunk, chunker=chunker, size=300, overlap=0))
    build_documents(map(document, range(7)), tmp_path / "index", settings, embedder=embedder)
    assert not embedder.two_at_once
    assert live(tmp_path / "index") == 7


def test_after_a_failure_the_model_has_stopped_and_its_vectors_are_not_made_again(units_of_two, tmp_path: Path) -> None:
    def documents(*, broken):
        for number in range(8):
            time.sleep(0.05)  # the model is at work when it breaks
            if broken and number == 7:
                raise ValueError("the source broke")
            yield document(number)

    first, second, whole = Noting(), Noting(), Noting()
    with pytest.raises(ValueError, match="the source broke"):
        build_documents(documents(broken=True), tmp_path / "index", HASH, embedder=first)
    assert "drawn" not in {thread.name for thread in threading.enumerate()}
    build_documents(documents(broken=False), tmp_path / "index", HASH, embedder=second)
    build_documents(documents(broken=False), tmp_path / "other", HASH, embedder=whole)
    assert live(tmp_path / "index") == 8
    assert first.embedded > 0
    assert first.embedded + second.embedded == whole.embedded


def test_a_text_in_many_units_is_counted_once_as_embedded_or_as_reused(units_of_two, tmp_path: Path) -> None:
    shared = "This paragraph stands in every document, and so it has one vector."

    def documents(count: int):
        for number in range(count):
            own = f"This paragraph stands in document {number} alone, where it says its number, {number}."
            yield Document(Source(f"{number}.txt", sha256=str(number)), text=f"{shared}\n\n{own}")

    settings = replace(HASH, chunk=replace(HASH.chunk, size=90, overlap=0))
    with VectorCache(tmp_path / "cache") as cache:
        first = build_documents(documents(6), tmp_path / "one", settings, embedder=Noting(), cache=cache)
        assert (first.chunks.live, first.embedded, first.reused) == (12, 7, 0)
        again = build_documents(documents(8), tmp_path / "two", settings, embedder=Noting(), cache=cache)
        assert (again.chunks.live, again.embedded, again.reused) == (16, 2, 7)
    settings = replace(settings, chunk=replace(settings.chunk, overlap=1))  # new pieces of texts that are known
    anew = build_documents(documents(8), tmp_path / "two", settings, embedder=Noting())
    assert anew.embedded + anew.reused == 9
