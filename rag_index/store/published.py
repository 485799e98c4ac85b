"""What is published: the generation that Chroma's clients may open."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rag_index.errors import IndexDamagedError
from rag_index.settings import StoreSettings
from rag_index.store.digests import check_digests
from rag_index.store.guard import refuse_poisoned
from rag_index.store.layout import REPAIR, Layout, read_sealed
from rag_index.store.reader import Reader
from rag_index.store.tasks import Task
from rag_index.types import ignore

LOSSY_SHARE = 0.01
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
        dense: Whether its graph has twice the links, because a plain one lost records.
        checked: Records that were looked for by their own vector.
        unreachable: How many of these the graph doesn't find all the same.
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
    dense: bool = False
    checked: int = 0
    unreachable: int = 0

    @property
    def lossy(self) -> bool:
        """Whether its graph loses so many records that its answers would not be as good as promised."""
        return self.unreachable > LOSSY_SHARE * self.checked

    def folder(self, layout: Layout) -> Path:
        """Folder to open with Chroma's client."""
        return layout.chroma / name_of(self.number)

    def records(self, layout: Layout) -> Path:
        """File that says which records it holds."""
        return layout.chroma / f"{name_of(self.number)}.records"


def name_of(number: int) -> str:
    """Return the name of a generation's folder."""
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


def is_fresh(found: Published | None, layout: Layout, snapshot: Reader, settings: StoreSettings) -> bool:
    """Whether what is published is what `snapshot` holds, where `settings` want it, and whole as far as names tell."""
    if found is None or (found.state, found.content) != (snapshot.folder.name, snapshot.generation):
        return False
    if found.url != settings.url or not found.collection.startswith(settings.collection):
        return False
    from importlib.metadata import version

    if minor(found.version) != minor(version("chromadb")):
        return False
    folder = found.folder(layout)
    sizes = all(
        (folder / name).is_file() and (folder / name).stat().st_size == was[0] for name, was in found.files.items()
    )
    return bool(found.url) or (sizes and (folder / "chroma.sqlite3").is_file())


def minor(text: str) -> str:
    """Return the part of a version up to which Chroma reads what it wrote."""
    return ".".join(text.split(".")[:2])


def readable(layout: Layout) -> Published | None:
    """Return what is published; a damaged pointer is the same as none, for whoever is going to write it."""
    try:
        return published(layout)
    except IndexDamagedError:
        return None


def verify_published(layout: Layout, found: Published, *, full: bool = False) -> dict[str, Any]:
    """Compare what is published with the truth, in a process of its own: ``count``, ``checked``, ``faults``.

    Raises:
        IndexMismatchError: it names an embedding function.
        IndexDamagedError: the files of the graph are not those that were published.
        StoreError: Chroma can't open it.
    """
    from rag_index.store.child import Child  # a question starts no process

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
    child = Child(task)
    try:
        child.say("end")
        verdict = child.result(ignore)
    finally:
        child.stop()
    if verdict["unreachable"] and not found.unreachable:  # else the best graph has them missing: no fault
        verdict["faults"].append(lost_words(verdict))
    return verdict


def lost_words(verdict: Mapping[str, Any]) -> str:
    """Say how many records a graph doesn't find."""
    return (
        f"{verdict['unreachable']} of {verdict['checked']} records are not found by their own vector, "
        f"{verdict['lost']} first"
    )


def warn_about(url: str) -> str:
    """Return what is to be said about a server's address: anyone on the way can read and change what is sent."""
    from ipaddress import ip_address
    from urllib.parse import urlsplit

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


def number_of(path: Path) -> int:
    """Return the number of the generation that a file or folder belongs to, 0 for none."""
    match = _GENERATION.match(path.name)
    return int(match[1]) if match else 0
