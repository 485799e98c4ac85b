"""The published projection: generations of a Chroma collection, made beside each other and switched to at once.

    load (child) -> verify (fresh child) -> fsync -> rename -> pointer -> older generations go

The truth is committed before this begins. Whatever dies here costs a repetition, never a vector.
"""

from __future__ import annotations

import os
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

from rag_index.errors import IndexDamagedError, StoreError
from rag_index.settings import StoreSettings
from rag_index.store.child import Child
from rag_index.store.chroma import BATCH
from rag_index.store.digests import check_digests, digests
from rag_index.store.failpoints import passing
from rag_index.store.guard import refuse_poisoned
from rag_index.store.layout import REPAIR, Layout, drop_folder, sync_folder, sync_tree, write_sealed
from rag_index.store.lock import WriterLock
from rag_index.store.published import Published, is_fresh, lost_words, minor, name_of, number_of, readable
from rag_index.store.reader import Reader, open_state
from rag_index.store.tasks import COPY_SHARE, Task
from rag_index.types import Event, Reporter, ignore


class Publication:
    """Makes the next generation; the index's lock must be held. Close it, done or not.

    Args:
        layout: Paths of the index.
        state: Folder of the state to project.
        settings: Where to publish.
        report: Told of the progress: stage ``publish``; and of a ``warning``.
        full: Verify every record instead of a sample.
    """

    def __init__(
        self,
        layout: Layout,
        state: Path,
        settings: StoreSettings,
        *,
        report: Reporter = ignore,
        full: bool = False,
    ) -> None:
        self._layout = layout
        self._state = state
        self._settings = settings
        self._report = report
        self._full = full
        self._child: Child | None = None
        self._verifier: Child | None = None
        self._added = 0
        layout.chroma.mkdir(exist_ok=True)
        self.before = readable(layout)
        self._dense = self.before is not None and self.before.dense
        if self.before and not self.before.url:
            refuse_poisoned(self.before.folder(layout))
        self._number = 1 + max([number_of(path) for path in layout.chroma.glob("gen-*")], default=0)
        if self.before:
            self._number = max(self._number, self.before.number + 1)

    def close(self) -> None:
        """Stop the child, if it runs, and remove what is half-made."""
        for child in (self._child, self._verifier):
            if child is not None:
                child.stop()
        self._child = self._verifier = None
        for path in self._layout.chroma.glob("*.tmp*"):
            drop_folder(path) if path.is_dir() else path.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def follow(self, added: int) -> None:
        """Hear that `added` more chunks are committed.

        Once they are many, a child begins to load them while the build goes on; a fresh generation comes of it. Where
        there is none to copy, it starts with the first: to import Chroma takes as long as to load a thousand.
        """
        self._added += added
        enough = max(BATCH, self.before.count * COPY_SHARE) if self.before else 1
        if self._added < enough:
            return
        if self._child is None:
            self.close()
            self._child = Child(self._task("load"))
        self._child.say("go")

    def is_fresh(self) -> bool:
        """Whether what is published holds what the state holds now."""
        with Reader(self._layout, self._state) as snapshot:
            return is_fresh(self.before, self._layout, snapshot, self._settings)

    def finish(self) -> Published:
        """Load the rest, verify, and switch to the new generation.

        Raises:
            IndexMismatchError: what is there names an embedding function.
            StoreError: Chroma failed; the index itself is complete.
        """
        with Reader(self._layout, self._state) as snapshot:
            content = snapshot.generation
        self._report(Event("publish"))
        done, verdict = self._make()
        if verdict["faults"]:
            raise StoreError(f"Chroma's copy of the index is wrong: {verdict['faults'][0]}", REPAIR)
        if verdict["unreachable"]:
            self._report(Event("warning", note=f"in Chroma's graph {lost_words(verdict)}: texts are too much alike"))
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
            dense=self._dense,
            checked=verdict["checked"],
            unreachable=verdict["unreachable"],
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

    def _make(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Load and verify: as a copy with the changes, else fresh, else fresh with a denser graph."""
        done, verdict = self._load(copy=True)
        known = self._dense and self.before is not None and self.before.unreachable
        if done["copied"] and (verdict["faults"] or (verdict["unreachable"] and not known)):
            self.close()
            done, verdict = self._load(copy=False)
        if verdict["unreachable"] and not verdict["faults"] and not self._dense:
            self.close()
            if self._settings.url:
                self._drop_collection(self._collection)
            self._dense = True
            done, verdict = self._load(copy=False)
        return done, verdict

    @property
    def _place(self) -> Path:
        return self._layout.chroma / f"{name_of(self._number)}.tmp"

    @property
    def _records(self) -> Path:
        return self._layout.chroma / f"{name_of(self._number)}.records.tmp"

    @property
    def _collection(self) -> str:
        """A folder holds one collection; on a server each generation needs a name of its own."""
        name = self._settings.collection
        return f"{name}-{self._number:06}" if self._settings.url else name

    def _task(self, kind: str, *, copy: bool = False) -> Task:
        with Reader(self._layout, self._state) as snapshot:
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
            full=self._full,
            dense=self._dense,
        )

    def _copyable(self) -> bool:
        """Whether the published generation is a sound folder of this Chroma and of a model of the same vectors."""
        before = self.before
        if before is None or before.url or self._settings.url or before.collection != self._settings.collection:
            return False
        folder = before.folder(self._layout)
        if before.state != self._state.name or not folder.is_dir() or not before.records(self._layout).is_file():
            return False
        try:
            check_digests(folder, before.files)
        except IndexDamagedError:
            return False
        return minor(before.version) == minor(version("chromadb"))

    def _load(self, *, copy: bool) -> tuple[dict[str, Any], dict[str, Any]]:
        if self._child is None:
            self.close()
            self._child = Child(self._task("load", copy=copy))
        self._verifier = Child(self._task("verify"))
        self._child.say("end")
        done = self._child.result(self._report)
        self._verifier.say("end")
        return done, self._verifier.result(self._report)

    def _clean(self, made: Published) -> None:
        """Delete older generations that no process has open."""
        for path in self._layout.chroma.glob("gen-*"):
            if number_of(path) != made.number and not in_use(path):
                drop_folder(path) if path.is_dir() else path.unlink(missing_ok=True)
        before = self.before
        if made.url and before and before.url == made.url and before.collection != made.collection:
            self._drop_collection(before.collection)

    def _drop_collection(self, name: str) -> None:
        from rag_index.store.chroma import ChromaStore

        store = ChromaStore(self._settings.url, self._collection)
        try:
            store.drop(name)
        finally:
            store.close()


def ensure_published(index: Path, *, report: Reporter = ignore) -> Published:
    """Publish what the index holds now, unless that has been done.

    Raises:
        LockedError: a build is at work; it will publish.
        StoreError: Chroma failed.
    """
    layout = Layout(index)
    with WriterLock(layout.lock):
        with open_state(index, Reader) as snapshot:
            settings = snapshot.info.settings.store
            found = readable(layout)
            if found is not None and is_fresh(found, layout, snapshot, settings):
                return found
            state = snapshot.folder
        with Publication(layout, state, settings, report=report) as publication:
            return publication.finish()


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
