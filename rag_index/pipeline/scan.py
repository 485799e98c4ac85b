"""What a build has to do: which files to read, which to leave, which documents to forget."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rag_index.errors import UsageError
from rag_index.extract import Found, Workers, read
from rag_index.pipeline.prepare import FILE
from rag_index.settings import Settings
from rag_index.store import Hint, Known
from rag_index.store.layout import may
from rag_index.types import Document, Event, Reporter, Source, Status
from rag_index.waiting import nothing

_RACY_NS = 2_000_000_000
"""A file that changed less than this before it was read may have changed after, within its clock's resolution."""


@dataclass(frozen=True, slots=True)
class Roots:
    """Where documents are looked for.

    Attributes:
        root: Folder that names are relative to.
        paths: What to look through, below the root.
    """

    root: Path
    paths: tuple[Path, ...]

    @classmethod
    def choose(cls, paths: Sequence[Path], index: Path, stored: Path | None = None) -> Roots:
        """Take the root that the index has; for a new index its folder's parent, or what all `paths` have in common.

        Raises:
            UsageError: a path is missing, or outside of the root of the index.
        """
        absolute = [Path(os.path.abspath(path)) for path in paths]  # noqa: PTH100 (links in the path stay as given)
        for path, given in zip(absolute, paths, strict=True):
            if not os.path.lexists(path):
                raise UsageError(f"there is no {given}", "Check the path.")
        folder = Path(os.path.abspath(index)).parent  # noqa: PTH100
        root = stored or (folder if all(_inside(path, folder) for path in absolute) else _common(absolute))
        for path in absolute:
            if not _inside(path, root):
                raise UsageError(
                    f"{path} is not below {root}, the root of this index", "Use --index DIR for another index."
                )
        return cls(root, tuple(absolute))

    @property
    def scopes(self) -> list[str]:
        """Names of the paths, relative to the root; "" is the root."""
        return ["" if path == self.root else path.relative_to(self.root).as_posix() for path in self.paths]


def _common(paths: Sequence[Path]) -> Path:
    folders = [path if path.is_dir() else path.parent for path in paths]
    try:
        return Path(os.path.commonpath(folders))
    except ValueError as error:  # drives of Windows
        raise UsageError("the paths have no folder in common", "Build one index for each.") from error


def _inside(path: Path, folder: Path) -> bool:
    return path == folder or folder in path.parents


def below(name: str, scope: str) -> bool:
    """Whether the document `name` lies in `scope`: a folder, a file, or "" for all."""
    return not scope or name == scope or name.startswith(f"{scope}/")


@dataclass(slots=True)
class Plan:
    """What a build has to do.

    Attributes:
        read: Files to read.
        restore: Documents to cut again from their stored text.
        touch: Documents that are unchanged though their file looks different: id -> what it looks like now.
        refused: Files that are not to be read, new or for another reason than before.
        remove: Ids of documents whose file is gone.
        hints: What each file to read looked like before it was read.
        skipped: Files that were refused before for the same reason: path -> (status, reason).
        unchanged: How many files need nothing.
        seen: How many files there are.
    """

    read: list[Found] = field(default_factory=list)
    restore: list[str] = field(default_factory=list)
    touch: dict[int, Hint] = field(default_factory=dict)
    refused: list[Found] = field(default_factory=list)
    remove: list[int] = field(default_factory=list)
    hints: dict[str, Hint] = field(default_factory=dict)
    skipped: dict[str, Known] = field(default_factory=dict)
    unchanged: int = 0
    seen: int = 0


class Scan:
    """Compare files with what is stored.

    Args:
        here: Documents of the state that is written.
        before: Documents of the state that answers, where that is another one.
        full: Read every file again.
    """

    def __init__(
        self, here: Mapping[str, Known], before: Mapping[str, Known] | None = None, *, full: bool = False
    ) -> None:
        self._here = here
        self._before = before or {}
        self._full = full

    def plan(self, found: Iterable[Found], scopes: Sequence[str], report: Reporter) -> Plan:
        """Look at every file that was found, and at every document that was not."""
        plan = Plan()
        names: set[str] = set()
        blind: list[str] = []
        for file in found:
            names.add(file.name)
            plan.seen += 1
            if plan.seen % 1000 == 0:
                report(Event("scan", plan.seen))
            if file.status is not None:
                self._refuse(plan, file)
                if file.status is Status.UNREADABLE:
                    blind.append(file.name.rstrip("/"))  # a folder is named with a slash
            elif not self._look(plan, file):
                names.discard(file.name)
                plan.seen -= 1
        self._gone(plan, names, blind, scopes)
        report(Event("scan", plan.seen, plan.seen))
        return plan

    def _refuse(self, plan: Plan, file: Found) -> None:
        known = self._here.get(file.name) or self._before.get(file.name)
        if known and known.status.searchable and file.status is Status.UNREADABLE:
            plan.refused.append(file)  # its last readable version stays
        elif file.name in self._here and known and known.status is file.status:
            plan.skipped[file.name] = known
        else:
            plan.refused.append(file)

    def _look(self, plan: Plan, file: Found) -> bool:
        """Decide about one file; False if it is no longer there."""
        now = time.time_ns()
        try:
            stat = os.stat(file.path)  # noqa: PTH116 (the same call for links as the reader's)
        except OSError:
            return False
        hint = Hint(stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino, now)
        known = self._here.get(file.name)
        if self._full or (known is None and file.name not in self._before):
            return self._read(plan, file, hint)
        same, sure = self._same(file, known or self._before[file.name], hint)
        if not same:
            return self._read(plan, file, hint)
        if known is None:
            plan.restore.append(file.name)
            plan.hints[file.name] = hint
            return True
        if not sure:
            plan.touch[known.id] = hint
        if known.status.searchable:
            plan.unchanged += 1
        else:
            plan.skipped[file.name] = known
        return True

    def _read(self, plan: Plan, file: Found, hint: Hint) -> bool:
        if may(os.R_OK, file.path):
            plan.read.append(file)
            plan.hints[file.name] = hint
        else:
            self._refuse(plan, replace(file, status=Status.UNREADABLE, reason="Permission denied"))
        return True

    @staticmethod
    def _same(file: Found, known: Known, hint: Hint) -> tuple[bool, bool]:
        """Whether the file is as it was, and whether that follows from its looks alone."""
        if known.extractor and not known.extractor.endswith(f"/{read.VERSION}"):
            return False, False  # read by another version, which may have given another text
        was = known.hint
        looks = (was.size, was.mtime_ns, was.ctime_ns, was.inode) == (
            hint.size,
            hint.mtime_ns,
            hint.ctime_ns,
            hint.inode,
        )
        racy = max(was.mtime_ns, was.ctime_ns) > was.read_ns - _RACY_NS
        if looks and not racy:
            return True, True
        return bool(known.sha256) and _digest(file.path) == known.sha256, False

    def _gone(self, plan: Plan, names: set[str], blind: Sequence[str], scopes: Sequence[str]) -> None:
        """Forget documents whose file is gone; keep what could not be looked at, and what no file was ever read for."""
        for name, known in {**self._before, **self._here}.items():
            if name in names:
                if any(name == other for other in blind) and name not in self._here and known.status.searchable:
                    plan.restore.append(name)
                continue
            looked = known.origin == FILE and any(below(name, scope) for scope in scopes)
            hidden = any(below(name, other) for other in blind)
            if looked and not hidden:
                if name in self._here:
                    plan.remove.append(known.id)
            elif name not in self._here:
                plan.restore.append(name)


def outside(found: Iterable[Found], index: Path) -> Iterator[Found]:
    """Leave out the index itself, should it lie among the sources in plain sight."""
    own = index.absolute()
    return (file for file in found if own != file.path.absolute() and own not in file.path.absolute().parents)


def documents_of(
    plan: Plan,
    stored: Callable[[str], Document | None],
    settings: Settings,
    report: Reporter,
    check: Callable[[], None] = nothing,
) -> Iterator[tuple[Document, Hint]]:
    """Yield each document to be stored, with what its file looked like before it was read; lazy.

    First the `stored` texts that are cut anew, then files that were refused, then files that are read. The hint
    of a document whose file was not looked at has no time. What `check` raises ends the wait for a slow file.
    """
    total = len(plan.restore) + len(plan.read)
    restored = set()
    for done, name in enumerate(plan.restore, 1):
        document = stored(name)
        if document is not None:
            restored.add(name)
            yield document, plan.hints.get(name, Hint())
        report(Event("read", done, total, name))
    for file in plan.refused:
        if file.name not in restored:
            status = file.status or Status.SKIPPED
            yield Document(Source(file.name, size=file.size, mtime_ns=file.mtime_ns), status, file.reason), Hint()
    if plan.read:
        with Workers(settings.extract) as workers:
            for done, document in enumerate(workers.documents(plan.read, check), len(plan.restore) + 1):
                report(Event("read", done, total, document.source.path))
                yield document, plan.hints[document.source.path]


def _digest(path: Path) -> str:
    """Return the sha256 of a file, "" if it can't be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
