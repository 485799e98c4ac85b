"""Faults of Chroma's copy: damaged files, a full disk, a server that goes away, a folder that can't be written."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rag_index.embed import load_embedder
from rag_index.errors import RagIndexError, StoreError
from rag_index.pipeline import build_documents, check
from rag_index.settings import ChunkSettings, EmbedSettings, Settings
from rag_index.store import Layout, chroma_folder, nearby, open_snapshot, published, snapshot
from rag_index.store.dump import dump
from rag_index.types import Document, Filter, Source
from tests.damage import spoil
from tests.privilege import unprivileged

NIGHTLY = bool(os.environ.get("RAG_INDEX_NIGHTLY"))
SETTINGS = Settings(chunk=ChunkSettings(size=200, overlap=40), embed=EmbedSettings(model="hash"))
EMBEDDER = load_embedder(SETTINGS.embed)
QUESTION = EMBEDDER.embed_query("Text 7: w17")


def documents(count: int, word: str = "") -> list[Document]:
    numbers = random.Random(6)
    texts = (
        f"Text {n}: {' '.join(f'w{numbers.randrange(3000)}' for _ in range(20))}. {word * (n == 3)}"
        for n in range(count)
    )
    return [Document(Source(f"{n:04}.txt", "f" * 64, format="text"), text=text) for n, text in enumerate(texts)]


def make(index: Path, count: int = 40, word: str = "") -> None:
    build_documents(documents(count, word), index, SETTINGS, embedder=EMBEDDER)


def lines(index: Path) -> list[str]:
    with open_snapshot(index) as opened:
        return list(dump(opened))


def answers(index: Path, retriever: str) -> list[tuple[int, float]]:
    with open_snapshot(index) as opened:
        return opened.dense(QUESTION, 5, retriever=retriever)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of 1,200 texts: so many that Chroma has written its graph out."""
    index = tmp_path_factory.mktemp("template") / "index"
    make(index, 1200)
    return index


def fresh(action: Callable[[Path], None], index: Path) -> None:
    """Do something in a new interpreter: the threads of Chroma's library don't come over a fork, and are waited for."""
    code = (
        "import sys; from pathlib import Path; from tests.faults import test_chroma_faults as here; "
        f"here.{action.__name__}(Path(sys.argv[1]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(index)], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr


def ask_the_copy(index: Path) -> None:
    right = answers(index, "exact")
    try:
        assert answers(index, "chroma") == right
    except RagIndexError as error:
        assert error.hint  # noqa: PT017 (either outcome is right)


@pytest.mark.parametrize("seed", range(60 if NIGHTLY else 2))
def test_a_damaged_file_of_the_copy_gives_no_wrong_answer(template, tmp_path, tried, seed) -> None:
    """The process of its own shows that what Chroma makes of the damage ends no process of ours."""
    index = shutil.copytree(template, tmp_path / "index")
    right, content, chance = answers(index, "exact"), lines(index), random.Random(seed)
    path = chance.choice(sorted(p for p in (index / "chroma").rglob("*") if p.is_file()))
    spoil(path, chance)
    fresh(ask_the_copy, index)
    assert answers(index, "auto") == right
    assert lines(index) == content
    assert check(index, repair=True, full=True).ok
    tried("a file of Chroma's copy damaged")


@pytest.mark.parametrize("limit", [300_000, 1_000_000])
def test_a_full_disk_costs_only_the_copy(template, tmp_path, child, finish, tried, limit) -> None:
    index = shutil.copytree(template, tmp_path / "index")
    before = published(Layout(index))

    def build_with_little_room() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        try:
            make(index, 1200, "Changed.")
        except StoreError as error:
            raise SystemExit(9 if error.hint else 8) from error

    assert finish(child(build_with_little_room)) == 9
    assert published(Layout(index)) == before
    assert chroma_folder(index).is_dir()
    make(index, 1200, "Changed.")
    assert check(index, full=True).faults == []
    tried("disk full while Chroma's copy is made")


def ask_unprivileged(index: Path) -> None:
    right = answers(index, "exact")
    with unprivileged():
        assert answers(index, "chroma") == right


def test_a_copy_that_can_not_be_written_answers(tmp_path, tried) -> None:
    index = tmp_path / "index"
    make(index)
    for path in [*index.rglob("*"), index]:
        path.chmod(stat.S_IMODE(path.stat().st_mode) & ~0o222 | 0o444 | (0o111 if path.is_dir() else 0))
    files = sorted(index.rglob("*"))
    fresh(ask_unprivileged, index)
    assert sorted(index.rglob("*")) == files
    tried("a read-only copy")


@pytest.mark.slow
def test_auto_finds_what_exact_finds_beyond_the_limit_and_after_deletes(tmp_path, monkeypatch, tried) -> None:
    """With the limit set low: the graph of 3,000 texts is asked, and asked again after a seventh of them went."""
    # The limit is 300,000 texts: lowered, 3,000 take the very way that a million would, in seconds.
    monkeypatch.setattr(snapshot, "EXACT_LIMIT", 100)
    asked = []
    ask = nearby.Nearby.uids
    # Chroma is asked as ever; this only counts how often: comparing with all vectors would pass too.
    monkeypatch.setattr(nearby.Nearby, "uids", lambda self, *a: asked.append(a) or ask(self, *a))
    index, numbers = tmp_path / "index", np.random.default_rng(4)
    for count in (3000, 2800, 2600):  # published as copies from which records were deleted
        make(index, count)
        asked.clear()
        with open_snapshot(index) as opened:
            questions = opened.matrix[numbers.integers(0, count, 100)] + 0.05 * numbers.standard_normal((100, 256))
            found = wanted = 0
            for question in (questions / np.linalg.norm(questions, axis=1, keepdims=True)).astype(np.float32):
                exact = dict(opened.dense(question, 10, retriever="exact"))
                found += len(exact.keys() & dict(opened.dense(question, 10)).keys())
                wanted += len(exact)
            assert len(asked) == 100
            assert found / wanted >= 0.99
            where = Filter(paths=("000*",))
            assert opened.dense(question, 10, where) == opened.dense(question, 10, where, "exact")
            assert len(asked) == 100  # a filter is answered exactly
    assert published(Layout(index)).churn > 0
    tried("many deletes")


@pytest.mark.slow
def test_texts_that_are_nearly_alike_are_published_and_answered_exactly(tmp_path, monkeypatch, tried) -> None:
    """A graph of a thousand records that are equally far from each other loses some of them for good."""
    monkeypatch.setattr(snapshot, "EXACT_LIMIT", 100)
    index, told = tmp_path / "index", []
    texts = [f"Text {n} about pump {n} with {n % 7} seals." for n in range(1200)]
    made = [Document(Source(f"{n:04}.txt", "f" * 64), text=text) for n, text in enumerate(texts)]
    for turn in (1, 2):
        more = [Document(Source("new.txt"), text="A text that is new.")] * (turn == 2)
        build_documents([*made, *more], index, SETTINGS, embedder=EMBEDDER, report=told.append)
        now = published(Layout(index))
        assert (now.number, now.dense, now.count) == (turn, True, 1199 + turn)
    assert (now.churn, now.unreachable > 0) == (1, any(event.stage == "warning" for event in told))
    with open_snapshot(index) as opened:
        question = EMBEDDER.embed_query(texts[14])
        if now.lossy:
            assert opened.dense(question, 10) == opened.dense(question, 10, retriever="exact")
    assert check(index, full=True, repair=True).ok
    tried("texts that a graph loses", tries=2)
