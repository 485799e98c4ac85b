"""A build may end at any instant: the index answers, the next build goes on, and the result is the same."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import time
from functools import partial
from pathlib import Path

import pytest

from rag_index.embed import load_embedder
from rag_index.errors import IndexMissingError, LockedError, StoreError
from rag_index.pipeline import build_documents, check
from rag_index.settings import ChunkSettings, EmbedSettings, Settings, StoreSettings
from rag_index.store import open_snapshot
from rag_index.store.dump import dump
from rag_index.types import Document, Source

NIGHTLY = bool(os.environ.get("RAG_INDEX_NIGHTLY"))
SETTINGS = Settings(
    chunk=ChunkSettings(size=120, overlap=20), embed=EmbedSettings(model="hash"), store=StoreSettings(publish=False)
)
OTHER = Settings(chunk=ChunkSettings(size=60, overlap=10), embed=SETTINGS.embed, store=SETTINGS.store)
EMBEDDER = load_embedder(SETTINGS.embed)


def documents(version: int, count: int = 60) -> list[Document]:
    """Documents of which a third changes from version to version, and some come and go."""
    made = []
    for n in range(version, count + version):
        words = f"version {version} of it" if n % 3 == 0 else "always the same"
        text = "\n\n".join(f"Part {part} of document {n}, {words}, about pumps and seals." for part in range(3))
        made.append(Document(Source(f"{n:03}.txt", sha256=f"{n}-{words}"), text=text))
    return made


def make(index: Path, version: int, settings: Settings = SETTINGS, count: int = 60, *, publish: bool = False) -> None:
    build_documents(documents(version, count), index, settings, embedder=EMBEDDER, publish=publish)


def lines(index: Path) -> list[str]:
    with open_snapshot(index) as snapshot:
        return list(dump(snapshot))


@pytest.fixture(scope="module")
def templates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Indexes to begin from, and the contents that uninterrupted builds give."""
    folder = tmp_path_factory.mktemp("templates")
    make(folder / "one", 1)
    make(folder / "two", 2)
    make(folder / "other", 2, OTHER)
    make(folder / "many", 1, count=2000)
    return {path.name: path for path in folder.iterdir()}


def whole_versions(index: Path, *versions: int) -> None:
    """Every document that answers is whole, and of one of the versions."""
    known = {(d.source.path, d.text) for version in versions for d in documents(version)}
    with open_snapshot(index) as snapshot:
        for row in snapshot.documents():
            document = snapshot.document(row.id)
            assert (row.path, document.text) in known
            chunks = snapshot.chunks_of(row.id)
            assert len(chunks) == row.chunks > 0
            assert chunks[-1].end == len(document.text)
        snapshot.dense(EMBEDDER.embed_query("pumps"), 5)


UPDATE = [
    "vectors-appended", "vectors-synced", "keys-committed", "unit-begun", "unit-written", "unit-committed",
    "removal-committed", "finish-committed", "seal-removed", "checkpoint-done", "seal-written",
]  # fmt: skip
SWITCH = ["state-created", "vectors-synced", "unit-committed", "switch-begun", "switch-pointed"]
FIRST = ["state-created", "pointer-written", "vectors-appended", "unit-committed", "seal-removed", "checkpoint-done"]
PASSAGES = (1, 2) if NIGHTLY else (1,)


@pytest.mark.parametrize("passage", PASSAGES)
@pytest.mark.parametrize("point", UPDATE)
def test_killed_while_updating(tmp_path, templates, child, finish, tried, point, passage) -> None:
    index = shutil.copytree(templates["one"], tmp_path / "index")
    code = finish(child(lambda: make(index, 2), RAG_INDEX_FAILPOINT=f"{point}:{passage}"))
    assert code in {-signal.SIGKILL, 0}
    whole_versions(index, 1, 2)
    make(index, 2)
    assert lines(index) == lines(templates["two"])
    assert check(index, full=True).faults == []
    if code:
        tried("kill -9 at a point of an update")


@pytest.mark.parametrize("point", SWITCH)
def test_killed_while_building_with_other_settings(tmp_path, templates, child, finish, tried, point) -> None:
    index = shutil.copytree(templates["one"], tmp_path / "index")
    assert finish(child(lambda: make(index, 2, OTHER), RAG_INDEX_FAILPOINT=f"{point}:1")) == -signal.SIGKILL
    whole_versions(index, 1, 2)
    with open_snapshot(index) as snapshot:
        switched = snapshot.info.settings.chunk.size == 60
    assert switched == (point == "switch-pointed")
    make(index, 2, OTHER)
    assert lines(index) == lines(templates["other"])
    assert check(index, full=True).faults == []
    assert len(list(index.glob("state-*"))) == 1
    tried("kill -9 while building aside")


@pytest.mark.parametrize("point", FIRST)
def test_killed_during_the_first_build(tmp_path, templates, child, finish, tried, point) -> None:
    index = tmp_path / "index"
    assert finish(child(lambda: make(index, 2), RAG_INDEX_FAILPOINT=f"{point}:1")) == -signal.SIGKILL
    try:
        whole_versions(index, 2)
    except IndexMissingError:
        assert point == "state-created"
    make(index, 2)
    assert lines(index) == lines(templates["two"])
    assert check(index, full=True).faults == []
    tried("kill -9 during a first build")


@pytest.mark.parametrize("point", ["compaction-written", "compaction-committed"])
def test_killed_while_compacting(tmp_path, templates, child, finish, tried, point) -> None:
    index = shutil.copytree(templates["many"], tmp_path / "index")
    assert finish(child(lambda: make(index, 2), RAG_INDEX_FAILPOINT=f"{point}:1")) == -signal.SIGKILL
    whole_versions(index, 2)
    make(index, 2)
    assert lines(index) == lines(templates["two"])
    assert check(index, full=True).faults == []
    with open_snapshot(index) as snapshot:
        assert snapshot.info.counts.dead == 0
    assert len(list(index.rglob("vectors-*.f32"))) == 1
    tried("kill -9 while compacting")


def test_killed_again_and_again(tmp_path, templates, child, finish, tried) -> None:
    seed = random.randrange(1 << 30)
    print(f"seed {seed}")
    chance = random.Random(seed)
    index = shutil.copytree(templates["one"], tmp_path / "index")
    kills = 0
    for _ in range(50 if NIGHTLY else 12):
        version = chance.choice([1, 2])
        pid = child(partial(make, index, version, chance.choice([SETTINGS, OTHER])))
        time.sleep(chance.uniform(0.0, 0.6))
        os.kill(pid, signal.SIGKILL)
        kills += finish(pid) == -signal.SIGKILL
        whole_versions(index, 1, 2)
    make(index, 2)
    assert lines(index) == lines(templates["two"])
    assert check(index, full=True).faults == []
    tried("kill -9 at a random time", tries=kills)


class Slow:
    """The hash embedder, as slow as a model."""

    def __init__(self, told: int = -1, pause_s: float = 0.05) -> None:
        self.told = told
        self.pause_s = pause_s
        self.info = EMBEDDER.info
        self.tokens = EMBEDDER.tokens
        self.embed_query = EMBEDDER.embed_query
        self.batch_tokens = 256

    def embed(self, texts):
        time.sleep(self.pause_s)
        return EMBEDDER.embed(texts)


def tell(handle: int, event) -> None:
    os.write(handle, f"{event.stage}\n".encode())


def hear(handle: int, word: str) -> None:
    heard = b""
    while word.encode() not in heard:
        data = os.read(handle, 4096)
        assert data, f"the child ended before it came to {word}"
        heard += data


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_commits_what_is_in_hand(tmp_path, templates, child, finish, tried, number, code) -> None:
    index = shutil.copytree(templates["one"], tmp_path / "index")
    heard, told = os.pipe()
    many = documents(2, 600)
    pid = child(lambda: build_documents(many, index, SETTINGS, embedder=Slow(), report=partial(tell, told)))
    os.close(told)
    hear(heard, "embed")
    began = time.monotonic()
    os.kill(pid, number)
    assert finish(pid) == code
    assert time.monotonic() - began < 5
    os.close(heard)
    with open_snapshot(index) as snapshot:
        assert snapshot.info.counts.vectors > 180  # those of the batches that were done are kept
    make(index, 2)
    assert lines(index) == lines(templates["two"])
    tried(f"{signal.Signals(number).name} while embedding")


def test_a_second_build_is_refused_until_the_first_one_dies(tmp_path, templates, child, finish, tried) -> None:
    index = shutil.copytree(templates["one"], tmp_path / "index")
    heard, told = os.pipe()
    pid = child(
        lambda: build_documents(documents(2), index, SETTINGS, embedder=Slow(pause_s=30), report=partial(tell, told))
    )
    os.close(told)
    time.sleep(0.1)
    began = time.monotonic()
    while True:
        try:
            with pytest.raises(LockedError, match=f"by process {pid} on "):
                make(index, 2)
            break
        except pytest.fail.Exception:
            assert time.monotonic() - began < 20
    os.kill(pid, signal.SIGKILL)
    finish(pid)
    os.close(heard)
    make(index, 2)
    assert lines(index) == lines(templates["two"])
    tried("two builds at once")


def test_queries_during_builds_see_whole_documents(tmp_path, templates, child, finish, tried) -> None:
    index = shutil.copytree(templates["one"], tmp_path / "index")

    def build_often() -> None:
        for turn in range(20):
            make(index, 1 + turn % 2, OTHER if turn % 4 > 1 else SETTINGS)

    pid = child(build_often)
    asked = 0
    while os.waitpid(pid, os.WNOHANG) == (0, 0):
        whole_versions(index, 1, 2)
        asked += 1
    assert asked > 3
    tried("queries while builds go on", tries=asked)


@pytest.mark.parametrize("limit", [4_000, 70_000, 150_000, 400_000])
def test_a_full_disk_loses_nothing(tmp_path, templates, child, finish, tried, limit) -> None:
    index = shutil.copytree(templates["one"], tmp_path / "index")

    def build_with_little_room() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        try:
            make(index, 2)
        except StoreError as error:
            raise SystemExit(9 if str(index) in error.message and "room" in error.hint else 8) from error

    assert finish(child(build_with_little_room)) in {0, 9}
    whole_versions(index, 1, 2)
    make(index, 2)
    assert lines(index) == lines(templates["two"])
    assert check(index, full=True).faults == []
    tried("disk full")
