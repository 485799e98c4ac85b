"""The published projection: generations of a Chroma collection, made beside each other and switched to at once.

    load (child) -> verify (fresh child) -> fsync -> rename -> pointer -> older generations go

The truth is committed before this begins. Whatever dies here costs a repetition, never a vector.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from rag_index import errors
from rag_index.errors import IndexDamagedError, StoreError
from rag_index.settings import StoreSettings
from rag_index.store.failpoints import passing
from rag_index.store.guard import refuse_poisoned
from rag_index.store.layout import REPAIR, Layout, drop_folder, read_sealed, sync_folder, sync_tree, write_sealed
from rag_index.store.lock import WriterLock
from rag_index.store.projector import Task, check_digests, digests
from rag_index.store.snapshot import Snapshot, open_snapshot
from rag_index.types import Event, Reporter, ignore

_GENERATION = re.compile(r"gen-(\d{6})")


@dataclass(frozen=True, slots=True)
class Published:
    """The generation that Chroma's clients may open.

    Attributes:
        number: Counts up with every publication.
        state: Name of the state that it was made from.
        content: Generation of that state's content.
        url: Server, or "" for a folder.
        collection: Name of the collection.
        count: Records.
        churn: Records that have changed since the graph was made fresh.
        version: Version of chromadb that made it.
        files: Size and checksum of the files of the graph.
    """

    number: int
    state: str
    content: int
    url: str
    collection: str
    count: int
    churn: int = 0
    version: str = ""
    files: dict[str, list[int]] = field(default_factory=dict)

    def folder(self, layout: Layout) -> Path:
        """Folder to open with Chroma's client."""
        return layout.chroma / _name(self.number)

    def records(self, layout: Layout) -> Path:
        """File that says which records it holds."""
        return layout.chroma / f"{_name(self.number)}.records"


def _name(number: int) -> str:
    return f"gen-{number:06}"


def published(layout: Layout) -> Published | None:
    """Return what is published, or None if nothing is.

    Raises:
        IndexDamagedError: the pointer is damaged.
    """
    try:
        values = read_sealed(layout.published)
    except FileNotFoundError:
        return None
    try:
        return Published(**values)
    except TypeError as error:
        raise IndexDamagedError(f"{layout.published} is damaged: {error}", REPAIR) from error


def chroma_folder(index: Path) -> Path:
    """Return the folder that Chroma's clients may open: read it, never add to it.

    Raises:
        IndexDamagedError: nothing is published, or it is gone.
    """
    layout = Layout(index)
    found = published(layout)
    if found is None or found.url or not found.folder(layout).is_dir():
        raise IndexDamagedError(f"{index} has no Chroma folder", "Run: rag-index build PATH")
    return found.folder(layout)


def is_fresh(found: Published | None, layout: Layout, snapshot: Snapshot, settings: StoreSettings) -> bool:
    """Whether what is published is what `snapshot` holds, where `settings` want it, and whole as far as names tell."""
    if found is None or (found.state, found.content) != (snapshot.folder.name, snapshot.generation):
        return False
    if found.url != settings.url or not found.collection.startswith(settings.collection):
        return False
    if _minor(found.version) != _minor(version("chromadb")):
        return False
    folder = found.folder(layout)
    sizes = all(
        (folder / name).is_file() and (folder / name).stat().st_size == was[0] for name, was in found.files.items()
    )
    return bool(found.url) or (sizes and (folder / "chroma.sqlite3").is_file())


def _minor(text: str) -> str:
    return ".".join(text.split(".")[:2])


class Publication:
    """Makes the next generation; the index's lock must be held. Close it, done or not.

    Args:
        layout: Paths of the index.
        state: Folder of the state to project.
        settings: Where to publish.
        report: Told of the progress: stage ``publish``.
    """

    def __init__(self, layout: Layout, state: Path, settings: StoreSettings, *, report: Reporter = ignore) -> None:
        self._layout = layout
        self._state = state
        self._settings = settings
        self._report = report
        self._child: _Child | None = None
        layout.chroma.mkdir(exist_ok=True)
        self.before = _readable(layout)
        self._number = 1 + max([_number(path) for path in layout.chroma.glob("gen-*")], default=0)
        if self.before:
            self._number = max(self._number, self.before.number + 1)

    def close(self) -> None:
        """Stop the child, if it runs, and remove what is half-made."""
        if self._child is not None:
            self._child.stop()
            self._child = None
        for path in self._layout.chroma.glob("*.tmp*"):
            drop_folder(path) if path.is_dir() else path.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def follow(self) -> None:
        """Let a child load what is committed so far, while the build goes on; a fresh generation comes of it."""
        if self._child is None:
            self.close()
            self._child = _Child(replace(self._task("load"), old="", old_records=""))
        self._child.say("go")

    def finish(self) -> Published:
        """Load the rest, verify, and switch to the new generation.

        Raises:
            IndexMismatchError: what is there names an embedding function.
            StoreError: Chroma failed; the index itself is complete.
        """
        with Snapshot(self._layout, self._state) as snapshot:
            content = snapshot.generation
        self._report(Event("publish"))
        done, faults = self._load(copy=True)
        if faults and done["copied"]:
            done, faults = self._load(copy=False)
        if faults:
            raise StoreError(f"Chroma's copy of the index is wrong: {faults[0]}", REPAIR)
        passing("projection-verified")
        made = Published(
            number=self._number,
            state=self._state.name,
            content=content,
            url=self._settings.url,
            collection=self._collection,
            count=done["count"],
            churn=done["churn"],
            version=version("chromadb"),
        )
        if not made.url:
            made = replace(made, files=digests(self._place))
            sync_tree(self._place)
        self._records.replace(made.records(self._layout))
        passing("projection-synced")
        if not made.url:
            self._place.rename(made.folder(self._layout))
        sync_folder(self._layout.chroma)
        passing("projection-renamed")
        write_sealed(self._layout.published, asdict(made))
        passing("projection-pointed")
        self._clean(made)
        passing("projection-cleaned")
        return made

    # --- parts ---

    @property
    def _place(self) -> Path:
        return self._layout.chroma / f"{_name(self._number)}.tmp"

    @property
    def _records(self) -> Path:
        return self._layout.chroma / f"{_name(self._number)}.records.tmp"

    @property
    def _collection(self) -> str:
        """A folder holds one collection; on a server each generation needs a name of its own."""
        name = self._settings.collection
        return f"{name}-{self._number:06}" if self._settings.url else name

    def _task(self, kind: str, *, copy: bool = False, full: bool = False) -> Task:
        with Snapshot(self._layout, self._state) as snapshot:
            model, chunk = snapshot.info.model, snapshot.info.settings.chunk
            identity = snapshot.index_id
        metadata: dict[str, str | int] = {
            "rag_index_format": 1,
            "index_id": identity,
            "generation": self._number,
            "model": model.name,
            "model_fingerprint": model.fingerprint,
            "dimension": model.dimension,
            "normalized": "true",
            "chunker": chunk.chunker,
            "chunk_size": chunk.size,
            "chunk_overlap": chunk.overlap,
            "hnsw:space": "cosine",  # read by LangChain to turn distances into scores
        }
        old = self.before if copy and self._copyable() else None
        return Task(
            kind=kind,
            state=str(self._state.absolute()),
            place=self._settings.url or str(self._place.absolute()),
            collection=self._collection,
            records=str(self._records.absolute()),
            metadata=metadata,
            old=str(old.folder(self._layout).absolute()) if old else "",
            old_records=str(old.records(self._layout).absolute()) if old else "",
            churn=old.churn if old else 0,
            full=full,
        )

    def _copyable(self) -> bool:
        """Whether the published generation is a sound folder of this Chroma and of a model of the same vectors."""
        before = self.before
        if before is None or before.url or self._settings.url or before.collection != self._settings.collection:
            return False
        folder = before.folder(self._layout)
        if before.state != self._state.name or not folder.is_dir() or not before.records(self._layout).is_file():
            return False
        refuse_poisoned(folder)
        try:
            check_digests(folder, before.files)
        except IndexDamagedError:
            return False
        return _minor(before.version) == _minor(version("chromadb"))

    def _load(self, *, copy: bool) -> tuple[dict[str, Any], list[str]]:
        if self._child is None:
            self.close()
            self._child = _Child(self._task("load", copy=copy))
        self._child.say("end")
        done = self._child.result(self._report)
        self._child = _Child(self._task("verify"))
        self._child.say("end")
        faults = self._child.result(self._report)["faults"]
        self._child = None
        return done, faults

    def _clean(self, made: Published) -> None:
        """Delete older generations that no process has open."""
        for path in self._layout.chroma.glob("gen-*"):
            if _number(path) != made.number and not in_use(path):
                drop_folder(path) if path.is_dir() else path.unlink(missing_ok=True)
        before = self.before
        if made.url and before and before.url == made.url and before.collection != made.collection:
            from rag_index.store.chroma import ChromaStore

            store = ChromaStore(made.url, made.collection)
            store.drop(before.collection)
            store.close()


def verify_published(layout: Layout, found: Published, *, full: bool = False) -> dict[str, Any]:
    """Compare what is published with the truth, in a process of its own: ``count``, ``checked``, ``faults``.

    Raises:
        IndexMismatchError: it names an embedding function.
        IndexDamagedError: the files of the graph are not those that were published.
        StoreError: Chroma can't open it.
    """
    if not found.url:
        refuse_poisoned(found.folder(layout))
        check_digests(found.folder(layout), found.files)
    task = Task(
        kind="verify",
        state=str((layout.index / found.state).absolute()),
        place=found.url or str(found.folder(layout).absolute()),
        collection=found.collection,
        records="",
        full=full,
    )
    child = _Child(task)
    try:
        child.say("end")
        return child.result(ignore)
    finally:
        child.stop()


def ensure_published(index: Path, *, report: Reporter = ignore) -> Published:
    """Publish what the index holds now, unless that has been done.

    Raises:
        LockedError: a build is at work; it will publish.
        StoreError: Chroma failed.
    """
    layout = Layout(index)
    with WriterLock(layout.lock):
        with open_snapshot(index) as snapshot:
            settings = snapshot.info.settings.store
            found = _readable(layout)
            if found is not None and is_fresh(found, layout, snapshot, settings):
                return found
            state = snapshot.folder
        with Publication(layout, state, settings, report=report) as publication:
            return publication.finish()


def warn_about(url: str) -> str:
    """Return what is to be said about a server's address: anyone on the way can read and change what is sent."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    try:
        here = host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        here = False
    if not url or here or parts.scheme == "https":
        return ""
    return (
        f"{url} is neither on this machine nor https: texts travel in the clear, and the server asks no one for a key"
    )


def _readable(layout: Layout) -> Published | None:
    """Return what is published; a damaged pointer is the same as none, for whoever is going to write it."""
    try:
        return published(layout)
    except IndexDamagedError:
        return None


def _number(path: Path) -> int:
    match = _GENERATION.match(path.name)
    return int(match[1]) if match else 0


def in_use(folder: Path) -> bool:
    """Whether a process has a file below `folder` open, as far as the system tells (Linux only)."""
    inside = f"{folder.absolute()}{os.sep}"
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if os.readlink(link).startswith(inside):  # noqa: PTH115 (faster over thousands of links)
                return True
        except OSError:
            continue
    return False


class _Child:
    """A process that does one task."""

    def __init__(self, task: Task) -> None:
        home = str(Path(__file__).resolve().parents[2])
        paths = os.pathsep.join([home, *filter(None, [os.environ.get("PYTHONPATH")])])
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the child)
        self._process = subprocess.Popen(  # noqa: S603 (our own module)
            [sys.executable, "-m", "rag_index.store.projector", task.to_json()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**os.environ, "PYTHONPATH": paths, "ANONYMIZED_TELEMETRY": "False"},
            text=True,
        )

    def say(self, word: str) -> None:
        """Send an order; if the child is dead, `result` will say why."""
        try:
            assert self._process.stdin is not None  # noqa: S101 (it was asked for)
            self._process.stdin.write(f"{word}\n")
            self._process.stdin.flush()
        except OSError:
            return

    def result(self, report: Reporter) -> dict[str, Any]:
        """Wait for what the child makes.

        Raises:
            RagIndexError: what the child raised.
            StoreError: the child died.
        """
        last: dict[str, Any] = {}
        assert self._process.stdout is not None  # noqa: S101
        for line in self._process.stdout:
            if line.startswith("{"):
                last = json.loads(line)
                if "done" in last:
                    report(Event("publish", last["done"], last["total"]))
        code = self._process.wait()
        words = self._tail()
        self.stop()
        if "result" in last:
            return dict(last["result"])
        if "error" in last:
            kind: Callable[[str, str], Exception] = getattr(errors, last["error"], StoreError)
            raise kind(last["message"], last["hint"])
        how = f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
        raise StoreError(f"the process that loads Chroma {how}{words}", "The index itself is complete. Build again.")

    def stop(self) -> None:
        """End the child, whatever it does."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._errors):
            if pipe is not None:
                pipe.close()

    def _tail(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        return f": {lines[-1][:300]}" if lines else ""
