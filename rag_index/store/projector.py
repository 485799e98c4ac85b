"""The child processes that touch a Chroma folder: one makes a generation, a fresh one verifies it.

A child, because Chroma's native code may crash, and holds Python's lock while it adds. It reads the truth itself; its
parent sends ``go`` when more of it is there and ``end`` when all is. When the parent dies, so does the child.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from rag_index.errors import RagIndexError
from rag_index.store.chroma import BATCH, ChromaStore, load_library
from rag_index.store.failpoints import passing
from rag_index.store.layout import copy_folder
from rag_index.store.reader import Reader
from rag_index.store.records import Entry, entries, read_index, records, write_index
from rag_index.store.tasks import CHURN_SHARE, COPY_SHARE, Task

STEP_SHARE = 0.5
STEP_LEAST, STEP_MOST = 200, 2000
"""Records that are waited for while a build goes on, as a share of those that are there, and the bounds of that: few,
because the last ones are added when it has ended; the more, the larger the graph that Chroma writes after 1,000."""
SAMPLE = 200
"""Records that are compared, and looked for by their own vector, unless all are."""


def main(argument: str) -> int:
    """Do the task; what comes of it is the last line on stdout."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to stop
    task = Task(**json.loads(argument))
    try:
        result = (load if task.kind == "load" else verify)(task, _Orders(sys.stdin.fileno()))
    except RagIndexError as error:
        _tell({"error": type(error).__name__, "message": error.message, "hint": error.hint})
        return 1
    _tell({"result": result})
    return 0


def _tell(value: dict[str, Any]) -> None:
    print(json.dumps(value), flush=True)  # noqa: T201 (the pipe to the parent)


class _Orders:
    """What the parent says; ends this process when the parent is gone."""

    def __init__(self, handle: int) -> None:
        self._heard: queue.Queue[str] = queue.Queue()
        self._handle = handle
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while data := os.read(self._handle, 4096):
            for word in data.decode().split():
                self._heard.put(word)
        os._exit(3)

    def __iter__(self) -> Iterator[str]:
        """Yield orders until ``end``; those that only repeat the one before are left out."""
        while (word := self._heard.get()) != "end":
            if self._heard.empty():
                yield word


def load(task: Task, orders: Iterable[str]) -> dict[str, Any]:
    """Make the generation and note what it holds."""
    threading.Thread(target=load_library, daemon=True).start()  # while the truth is read and files are copied
    loader = _Loader(task)
    try:
        for _ in orders:
            loader.follow()
        return loader.finish()
    finally:
        loader.close()


class _Loader:
    def __init__(self, task: Task) -> None:
        self._task = task
        self._store: ChromaStore | None = None
        self._have: dict[str, bytes] = {}
        self._last = 0
        self._replace = task.place.startswith("http")

    def _open(self) -> ChromaStore:
        if self._store is None:
            task = self._task
            self._store = ChromaStore(task.where, task.collection, create=task.metadata, dense=task.dense)
            passing("projection-begun")
        return self._store

    def follow(self) -> None:
        """Add what is new in the truth, if it is much beside what is there."""
        with self._task.snapshot() as snapshot:
            new = entries(snapshot, after=self._last)
            if len(new) >= min(STEP_MOST, max(STEP_LEAST, STEP_SHARE * len(self._have))):
                self._add(snapshot, new, len(new))

    def finish(self) -> dict[str, Any]:
        """Make the generation hold what the truth holds, and close it."""
        task = self._task
        with task.snapshot() as snapshot:
            wanted = entries(snapshot)
            copied = self._copy(wanted)
            keep = {entry.uid for entry in wanted}
            gone = [uid for uid in self._have if uid not in keep]
            changed = [entry for entry in wanted if self._have.get(entry.uid) != entry.digest]
            if gone:
                self._open().delete(gone)
                for uid in gone:
                    del self._have[uid]
            self._add(snapshot, changed, len(changed))
            self._open().close()
            self._store = None
        passing("projection-closed")
        write_index(Path(task.records), self._have)
        churn = (task.churn + len(gone) + len(changed)) if copied else 0
        return {"count": len(wanted), "changed": len(changed), "gone": len(gone), "copied": copied, "churn": churn}

    def close(self) -> None:
        """Close the store if that has not been done."""
        if self._store is not None:
            self._store.close()

    def _copy(self, wanted: Sequence[Entry]) -> bool:
        """Begin with a copy of the published generation if that is cheaper and does no harm."""
        task = self._task
        if not task.old or self._store is not None:
            return False
        have = read_index(Path(task.old_records))
        keep = {entry.uid for entry in wanted}
        change = sum(have.get(entry.uid) != entry.digest for entry in wanted) + sum(uid not in keep for uid in have)
        if change > COPY_SHARE * len(wanted) or change + task.churn > CHURN_SHARE * len(wanted):
            return False
        copy_folder(Path(task.old), Path(task.place))
        self._have, self._replace = have, True
        return True

    def _add(self, snapshot: Reader, new: Sequence[Entry], total: int) -> None:
        if not new:
            return
        stream = records(snapshot, new, snapshot.matrix)
        done = 0
        while batch := list(islice(stream, BATCH)):
            self._open().add(iter(batch), replace=self._replace)
            done += len(batch)
            passing("projection-added")
            _tell({"done": len(self._have) + done, "total": len(self._have) + total})
        self._have.update((entry.uid, entry.digest) for entry in new)
        self._last = max(self._last, *(entry.text for entry in new))


def verify(task: Task, orders: Iterable[str]) -> dict[str, Any]:
    """Compare a generation with the truth; says what is wrong with it, in words."""
    load_library()
    with task.snapshot() as snapshot:  # the truth is complete: it is read while another child loads the generation
        wanted = {entry.uid: entry for entry in entries(snapshot)}
        for _ in orders:
            continue
        store = ChromaStore(task.where, task.collection)
        try:
            return _verdict(store, snapshot, wanted, full=task.full)
        finally:
            store.close()


def _verdict(store: ChromaStore, snapshot: Reader, wanted: Mapping[str, Entry], *, full: bool) -> dict[str, Any]:
    ids = store.ids()
    faults = _count_faults(len(wanted), ids, wanted.keys())
    chosen = _sample([entry for uid, entry in wanted.items() if uid in ids], full=full)
    faults += _compare(store, snapshot, chosen)
    lost = _unreachable(store, snapshot, chosen)
    first = lost[0] if lost else ""
    return {"count": len(ids), "checked": len(chosen), "unreachable": len(lost), "lost": first, "faults": faults}


def _count_faults(count: int, ids: set[str], wanted: Any) -> list[str]:  # noqa: ANN401 (a view of keys)
    missing, foreign = wanted - ids, ids - wanted
    faults = [f"{len(missing)} of {count} records are missing, {min(missing)} first"] if missing else []
    if foreign:
        faults.append(f"{len(foreign)} records don't belong there, {min(foreign)} first")
    return faults


def _sample(found: Sequence[Entry], *, full: bool) -> list[Entry]:
    """Choose the newest records, and others spread evenly over their ids, which are hashes."""
    if full or len(found) <= SAMPLE:
        return list(found)
    by_age = sorted(found, key=lambda entry: -entry.text)
    newest, others = by_age[: SAMPLE // 2], by_age[SAMPLE // 2 :]
    return newest + sorted(others, key=lambda entry: entry.uid)[: SAMPLE // 2]


def _compare(store: ChromaStore, snapshot: Reader, chosen: Sequence[Entry]) -> list[str]:
    import numpy as np

    faults = []
    entries_ = {entry.uid: entry for entry in chosen}
    ours = {uid: (vector, text) for uid, vector, text, _ in records(snapshot, chosen, snapshot.matrix)}
    for uid, vector, text, metadata in store.get(list(entries_)):
        what = [
            ("vector", np.allclose(vector, ours[uid][0], atol=1e-5)),
            ("text", text == ours[uid][1]),
            ("metadata", metadata == entries_[uid].metadata),
        ]
        faults += [f"the {name} of record {uid} differs" for name, same in what if not same]
    return faults


def _unreachable(store: ChromaStore, snapshot: Reader, chosen: Sequence[Entry], k: int = 10) -> list[str]:
    """Return the ids that a query with their own vector doesn't bring, nor as many that are as near."""
    lost = []
    for at in range(0, len(chosen), SAMPLE):
        part = chosen[at : at + SAMPLE]
        for entry, hits in zip(part, store.nearest_of([snapshot.matrix[e.slot] for e in part], k), strict=True):
            if entry.uid not in dict(hits) and not (len(hits) == k and hits[-1][1] > 1 - 1e-5):
                lost.append(entry.uid)
    return lost


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
