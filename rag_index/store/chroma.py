"""Chroma, held at arm's length: ready vectors in, ids out, and never a function that a collection names.

The only importer of chromadb. A collection can store the configuration of an embedding function, and chromadb builds
what is stored there, running code that came with a folder or from a server (CVE-2026-45829, open in 1.5.9). So its
registries of functions are emptied before anything is opened, and a collection that names one is refused.
"""

from __future__ import annotations

import os
import random
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import urlopen

from rag_index.errors import IndexMismatchError, StoreError, UsageError
from rag_index.store.guard import refuse_functions, refuse_poisoned

if TYPE_CHECKING:
    from rag_index.types import Vector

T = TypeVar("T")
Record = tuple[str, Sequence[float], str, Mapping[str, str | int]]

BATCH = 5000
"""Records in one `add`: below Chroma's limit of 5,461, above the 1,000 after which it writes its index."""
SERVED_BATCH = 1000
"""The same for a server, which answers no query meanwhile."""
BODY_BYTES = 24 << 20
"""Bytes in one request; the server takes 40 MiB."""
TIMEOUT_S = 60.0
RETRY_S = 40.0
"""How long a server that fails is asked again."""
START_S = 8.0
"""The same for the first request of a build: it may be restarting, or there may be no server at that address."""
_GRAPH = {"space": "cosine", "max_neighbors": 32, "ef_construction": 200, "ef_search": 200}
_DENSE_GRAPH = {"space": "cosine", "max_neighbors": 64, "ef_construction": 400, "ef_search": 400}
"""For texts that are nearly alike, of which a plain graph can lose every tenth."""


class ChromaStore:
    """One collection in a folder or on a server. Not thread-safe. Close it.

    Args:
        place: A folder, or ``http://host:port``.
        name: Name of the collection.
        create: Metadata of a collection to be made; None to open one.
        dense: Give it a graph of twice the links.

    Raises:
        IndexMismatchError: a collection there names an embedding function.
        StoreError: Chroma can't open it.
    """

    def __init__(
        self, place: Path | str, name: str, *, create: Mapping[str, str | int] | None = None, dense: bool = False
    ) -> None:
        self._served = isinstance(place, str)
        self._place = str(place)
        if isinstance(place, Path):
            refuse_poisoned(place)
        patience = (RETRY_S if create is None else START_S) if self._served else 0.0
        self._client = _call(self._place, lambda: _client(place), tries=patience)
        try:
            self._collection = _call(self._place, lambda: self._open(name, create, dense=dense), tries=self._tries)
        except BaseException:
            self.close()
            raise

    @property
    def _tries(self) -> float:
        return RETRY_S if self._served else 0.0

    def _open(self, name: str, create: Mapping[str, str | int] | None, *, dense: bool) -> Any:  # noqa: ANN401 (chromadb's)
        if create is not None:
            self._client.create_collection(
                name,
                configuration={"hnsw": _DENSE_GRAPH if dense else _GRAPH},
                metadata=dict(create),
                embedding_function=None,
                get_or_create=True,  # a repeated request must not fail; that it is ours is looked at below
            )
        model = self._client._server.get_collection(  # noqa: SLF001 (the public call builds what is stored)
            name, tenant=self._client.tenant, database=self._client.database
        )
        refuse_functions([model.configuration_json, model.serialized_schema], f"{name} in {self._place}")
        collection = self._client.get_collection(name, embedding_function=None)
        if create is not None and (collection.metadata or {}).get("index_id") != create.get("index_id"):
            raise IndexMismatchError(
                f"the collection {name!r} at {self._place} belongs to something else",
                "Choose another store.collection.",
            )
        return collection

    @property
    def metadata(self) -> dict[str, Any]:
        """What the collection says of itself."""
        return dict(self._collection.metadata or {})

    def add(self, records: Iterator[Record], *, replace: bool = True) -> int:
        """Add records and return how many; those that are there already are replaced.

        With `replace` off, which is a sixth faster, they stay as they are.
        """
        count = 0
        size, most = (SERVED_BATCH, BODY_BYTES) if self._served else (BATCH, None)
        for batch in _batches(records, size, most):
            ids, vectors, texts, metadata = zip(*batch, strict=True)
            values: dict[str, Any] = {
                "ids": list(ids),
                "embeddings": _rows(vectors, plain=self._served),
                "documents": list(texts),
                "metadatas": [dict(one) for one in metadata],
            }
            put = self._collection.upsert if replace else self._collection.add
            _call(self._place, lambda put=put, values=values: put(**values), tries=self._tries)  # type: ignore[misc]
            count += len(ids)
        return count

    def delete(self, ids: Sequence[str]) -> None:
        """Delete records."""
        for at in range(0, len(ids), SERVED_BATCH):
            part = list(ids[at : at + SERVED_BATCH])
            _call(self._place, lambda part=part: self._collection.delete(ids=part), tries=self._tries)  # type: ignore[misc]

    def ids(self) -> set[str]:
        """Return all ids."""
        return set(_call(self._place, lambda: self._collection.get(include=[])["ids"], tries=self._tries))

    def get(self, ids: Sequence[str]) -> Iterator[tuple[str, Any, str, dict[str, Any]]]:
        """Yield (id, vector, text, metadata) of those `ids` that are there, in no order."""
        for at in range(0, len(ids), SERVED_BATCH):
            part, include = list(ids[at : at + SERVED_BATCH]), ["embeddings", "documents", "metadatas"]
            found = _call(
                self._place,
                lambda part=part, include=include: self._collection.get(ids=part, include=include),  # type: ignore[misc]
                tries=self._tries,
            )
            yield from zip(found["ids"], found["embeddings"], found["documents"], found["metadatas"], strict=True)

    def nearest(self, vector: Vector, k: int) -> list[tuple[str, float]]:
        """Return ids of the `k` nearest with their cosine, best first; approximate."""
        return self.nearest_of([vector], k)[0]

    def nearest_of(self, vectors: Sequence[Vector], k: int) -> list[list[tuple[str, float]]]:
        """Do `nearest` for several vectors in one call."""
        found = _call(
            self._place,
            lambda: self._collection.query(
                query_embeddings=[vector.tolist() for vector in vectors], n_results=k, include=["distances"]
            ),
            tries=self._tries,
        )
        return [
            [(id_, 1.0 - float(distance)) for id_, distance in zip(ids, distances, strict=True)]
            for ids, distances in zip(found["ids"], found["distances"], strict=True)
        ]

    def drop(self, name: str) -> None:
        """Delete the collection `name`, if it is there."""
        names = [one.name for one in _call(self._place, self._client._server.list_collections, tries=self._tries)]  # noqa: SLF001
        if name in names:
            _call(self._place, lambda: self._client.delete_collection(name), tries=self._tries)

    def close(self) -> None:
        """Give everything back."""
        session = getattr(self._client._server, "_session", None)  # noqa: SLF001 (chromadb leaves it open)
        self._client.close()
        if session is not None:
            session.close()


def load_library() -> Any:  # noqa: ANN401 (a module)
    """Import chromadb such that it can build no functions and tells nobody."""
    os.environ["ANONYMIZED_TELEMETRY"] = "False"
    import chromadb
    from chromadb.utils import embedding_functions

    embedding_functions.known_embedding_functions.clear()
    embedding_functions.sparse_known_embedding_functions.clear()
    return chromadb


def _client(place: Path | str) -> Any:  # noqa: ANN401 (chromadb's)
    """Open a client that does not wait for ever."""
    chromadb = load_library()
    from chromadb.config import Settings

    quiet = Settings(anonymized_telemetry=False)
    if isinstance(place, Path):
        return chromadb.PersistentClient(str(place), quiet)
    url = urlsplit(place)
    if url.scheme not in {"http", "https"} or not url.hostname:
        raise UsageError(f"store.url is {place!r} but must be http://host:port", "Give --store a full address.")
    secure = url.scheme == "https"
    quiet.chroma_client_auth_provider = None
    _heartbeat(place)
    client: Any = chromadb.HttpClient(url.hostname, url.port or (443 if secure else 8000), ssl=secure, settings=quiet)
    session = getattr(client._server, "_session", None)  # noqa: SLF001 (chromadb offers no time-out)
    if session is not None:
        session.timeout = TIMEOUT_S
    return client


def _heartbeat(url: str) -> None:
    """Raise OSError unless the server answers: chromadb leaves a socket open for each client that it fails to make."""
    try:
        urlopen(f"{url.rstrip('/')}/api/v2/heartbeat", timeout=TIMEOUT_S).close()  # noqa: S310 (http or https, checked)
    except HTTPError as error:
        error.close()
        raise


def _call(place: str, action: Callable[[], T], *, tries: float = 0.0) -> T:
    """Do `action`, again for `tries` seconds while a server fails; name the place in what it raises."""
    until = time.monotonic() + tries
    pause = 0.2
    while True:
        try:
            return action()
        except (StoreError, IndexMismatchError, UsageError, KeyboardInterrupt, SystemExit, GeneratorExit):
            raise
        except BaseException as error:  # a panic in Chroma's Rust code is no Exception
            if not _passes(error) or time.monotonic() + pause > until:
                raise StoreError(f"Chroma failed at {place}: {_first_line(error)}", _hint(place)) from error
        time.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311 (spreads repeats, protects nothing)
        pause = min(pause * 2, 5.0)


def _passes(error: BaseException) -> bool:
    """Whether the same request may succeed later."""
    from chromadb.errors import ChromaError

    if isinstance(error, ChromaError):
        return error.code() >= 500 or error.code() == 429  # noqa: PLR2004 (HTTP)
    return isinstance(error, Exception) and not isinstance(error, (TypeError, ValueError, KeyError))


def _hint(place: str) -> str:
    served = place.startswith("http")
    return "Check that the server runs, then build again." if served else "Run: rag-index check --repair"


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0][:300]


def _rows(vectors: Sequence[Any], *, plain: bool) -> Any:  # noqa: ANN401 (what chromadb takes)
    """Return vectors as lists for a request, else as an array, which chromadb reads several times as fast."""
    import numpy as np

    rows = np.array(vectors, np.float32)
    return rows.tolist() if plain else rows


def _batches(records: Iterable[Record], size: int, most_bytes: int | None) -> Iterator[list[Record]]:
    """Cut records into batches bounded by count and, for a server, by the bytes of the request that they become.

    A folder has no requests: smaller batches would only make Chroma write out its graph more often.
    """
    batch: list[Record] = []
    weight = 0
    for record in records:
        # A float is some 12 characters of JSON; text may need escapes.
        bytes_ = len(record[1]) * 12 + len(record[2].encode("utf-8", "replace")) * 2 + 1000 if most_bytes else 0
        if batch and (len(batch) == size or (most_bytes and weight + bytes_ > most_bytes)):
            yield batch
            batch, weight = [], 0
        batch.append(record)
        weight += bytes_
    if batch:
        yield batch


def count_rows(folder: Path) -> int:
    """Return how many records a folder holds, without Chroma."""
    with closing(sqlite3.connect(f"{(folder / 'chroma.sqlite3').absolute().as_uri()}?mode=ro", uri=True)) as connection:
        return int(connection.execute("SELECT count(*) FROM embeddings").fetchone()[0])
