"""Where the parts of an index lie on disk, and small files that change at once or not at all.

.rag-index/
  .gitignore          *
  lock                held by the one writer
  current             which state answers
  state-1/            the truth
    index.sqlite          documents, chunks, keywords, keys of vectors
    vectors-1.f32         the vectors, one row of float32 each
    seal                  checksum of index.sqlite, while nobody changes it
  chroma/             the projection: made from the truth, for Chroma's clients
    current               which generation is published, and of which state
    gen-000001/
"""

from __future__ import annotations

import json
import os
import shutil
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_index.errors import IndexDamagedError, IndexMissingError, IndexUnusableError
from rag_index.store.failpoints import passing

FOLDER = ".rag-index"
VARIABLE = "RAG_INDEX_DIR"
REPAIR = "Run: rag-index check --repair"
_PART = 1 << 30
"""Bytes that are copied by one call."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The paths of one index."""

    index: Path

    @property
    def lock(self) -> Path:
        """File that the writer locks."""
        return self.index / "lock"

    @property
    def pointer(self) -> Path:
        """File that names the state which answers."""
        return self.index / "current"

    @property
    def chroma(self) -> Path:
        """Folder of the published generations."""
        return self.index / "chroma"

    @property
    def published(self) -> Path:
        """File that names the published generation."""
        return self.chroma / "current"

    def states(self) -> list[Path]:
        """All state folders, oldest first."""
        found = [path for path in self.index.glob("state-*") if path.is_dir() and path.name[6:].isdigit()]
        return sorted(found, key=lambda path: int(path.name[6:]))

    def current(self) -> Path:
        """Return the folder of the state that answers.

        Raises:
            IndexMissingError: there is no index here.
            IndexDamagedError: the pointer is damaged, or names what isn't there.
        """
        if not self.pointer.is_file():
            states = self.states()
            if len(states) == 1:  # a first build died before it could point to it
                return states[0]
            if states:
                raise IndexDamagedError(f"{self.pointer} is missing", REPAIR)
            raise IndexMissingError(f"there is no index in {self.index}", "Run: rag-index build PATH")
        name = read_sealed(self.pointer).get("state")
        folder = self.index / str(name)
        if not isinstance(name, str) or folder not in self.states():
            raise IndexDamagedError(f"{self.pointer} names {name!r}, which is not there", REPAIR)
        return folder

    def point_to(self, state: Path) -> None:
        """Let `state` answer from now on; at once, and durable when this returns."""
        write_sealed(self.pointer, {"state": state.name})
        passing("pointer-written")

    def prepare(self) -> None:
        """Make the index folder, ignored by Git."""
        self.index.mkdir(parents=True, exist_ok=True)
        ignore = self.index / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")


def find_index(start: Path, explicit: Path | None = None, environ: Mapping[str, str] | None = None) -> Path:
    """Return the index folder: `explicit`, else ``RAG_INDEX_DIR``, else the nearest ``.rag-index`` from `start` up.

    Raises:
        IndexMissingError: none of these is an index.
    """
    environ = os.environ if environ is None else environ
    named = explicit or (Path(environ[VARIABLE]) if environ.get(VARIABLE) else None)
    if named is not None:
        for place in (named, named / FOLDER):
            if _is_index(place):
                return place
        raise IndexMissingError(f"there is no index in {named}", "Run: rag-index build PATH --index DIR")
    origin = start.absolute()
    for folder in (origin, *origin.parents):
        if _is_index(folder / FOLDER):
            return folder / FOLDER
    raise IndexMissingError(f"there is no index in {origin} or above it", "Run: rag-index build PATH")


def _is_index(folder: Path) -> bool:
    return (folder / "current").is_file() or bool(Layout(folder).states())


def write_sealed(path: Path, values: Mapping[str, Any]) -> None:
    """Write `values` as JSON with a checksum: atomically, and durable when this returns."""
    body = json.dumps(values, sort_keys=True)
    text = json.dumps({"values": values, "crc": zlib.crc32(body.encode())}, sort_keys=True)
    aside = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    with aside.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)
    sync_folder(path.parent)


def read_sealed(path: Path) -> dict[str, Any]:
    """Read what `write_sealed` wrote.

    Raises:
        FileNotFoundError: there is no such file.
        IndexDamagedError: the content isn't what was written.
        IndexUnusableError: the file can't be read.
    """
    try:
        outer = json.loads(path.read_bytes())
        body = json.dumps(outer["values"], sort_keys=True)
        good = outer["crc"] == zlib.crc32(body.encode())
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise IndexDamagedError(f"{path} is damaged", REPAIR) from error
    except FileNotFoundError:
        raise
    except OSError as error:
        raise IndexUnusableError(f"can't read {path}: {error.strerror}", "Check the permissions.") from error
    if not good or not isinstance(outer["values"], dict):
        raise IndexDamagedError(f"{path} is damaged: its checksum differs", REPAIR)
    return dict(outer["values"])


def may(mode: int, *paths: Path) -> bool:
    """Tell whether all `paths` may be used so (``os.R_OK``, ``os.W_OK``) with the rights that the process has now.

    `os.access` alone asks for those of the user who started it.
    """
    effective = os.access in os.supports_effective_ids
    return all(os.access(path, mode, effective_ids=effective) for path in paths)


def sync_folder(folder: Path) -> None:
    """Make the names in `folder` durable (a no-op where folders can't be synced)."""
    if os.name == "nt":  # pragma: no cover
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_tree(folder: Path) -> None:
    """Make every file below `folder`, and its name, durable."""
    for path in [*folder.rglob("*"), folder]:
        if path.is_dir():
            sync_folder(path)
        elif path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())


def copy_folder(source: Path, target: Path) -> None:
    """Copy all files below `source`; those of `target` can be written, whatever `source` allows."""
    target.mkdir(exist_ok=True)
    for path in sorted(source.rglob("*")):
        place = target / path.relative_to(source)
        place.mkdir(exist_ok=True) if path.is_dir() else _copy_file(path, place)


def _copy_file(source: Path, target: Path) -> None:
    """Copy a file; where the file system can share the blocks of both until one changes, that takes no time."""
    try:
        with source.open("rb") as old, target.open("wb") as new:
            while os.copy_file_range(old.fileno(), new.fileno(), _PART):
                continue
    except (AttributeError, OSError):  # not Linux, or a file system that can't: this names the error if it is another
        shutil.copyfile(source, target)


def drop_folder(folder: Path) -> None:
    """Delete `folder`; what another process still holds open goes at the next build."""
    shutil.rmtree(folder, ignore_errors=True)


def size_of(folder: Path) -> int:
    """Return the bytes of all files below `folder`, which may be changing."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.lstat().st_size
        except FileNotFoundError:
            continue
    return total
