"""Which files there are to read: sorted by name, ignore files obeyed, each refusal with its reason."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pathspec import GitIgnoreSpec

from rag_index.errors import UsageError
from rag_index.settings import FILE_NAME, ExtractSettings
from rag_index.types import Status

IGNORE_FILES = (".gitignore", ".ragignore")
_LEFTOVERS = {".ds_store", "thumbs.db", "desktop.ini", "__macosx", "$recycle.bin", "lost+found"}
_KINDS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFBLK: "a device",
    stat.S_IFCHR: "a device",
}


@dataclass(frozen=True, slots=True)
class Found:
    """One file that was come across.

    Attributes:
        path: Where it is.
        name: Its name in the index: POSIX, relative to the root; a folder that is left out whole ends in ``/``.
        size: Bytes.
        mtime_ns: Modification time.
        inode: Number of the file on its device.
        status: Set when it is not to be read: SKIPPED (left out on purpose), TOO_LARGE, UNREADABLE.
        reason: Why.
    """

    path: Path
    name: str
    size: int = 0
    mtime_ns: int = 0
    inode: int = 0
    status: Status | None = None
    reason: str = ""


def discover(paths: Sequence[Path], settings: ExtractSettings, *, root: Path) -> Iterator[Found]:
    """Return an iterator over the files at `paths`, in order of their names within each path.

    Folders are read one at a time, when their turn comes. A file named outright is read even if an ignore file or its
    dot would leave it out. Symbolic links inside folders are never followed: what they point to is read where it is,
    if it is inside. A file reached twice comes once.

    Raises:
        UsageError: a path doesn't exist; raised at once, before anything is read.
    """
    for path in paths:
        if not path.exists():
            raise UsageError(f"no such file or folder: {path}", "Check the path.")
    return _Walk(settings, Path(os.path.realpath(root))).all(paths)


@dataclass(slots=True)
class _Walk:
    settings: ExtractSettings
    root: Path
    seen: set[str] = field(default_factory=set)
    include: GitIgnoreSpec | None = None
    exclude: GitIgnoreSpec | None = None

    def __post_init__(self) -> None:
        if self.settings.include:
            self.include = GitIgnoreSpec.from_lines(self.settings.include)
        if self.settings.exclude:
            self.exclude = GitIgnoreSpec.from_lines(self.settings.exclude)

    def all(self, paths: Sequence[Path]) -> Iterator[Found]:
        for path in paths:
            real = Path(os.path.realpath(path))
            found = self.folder(real, self._ignored_above(real)) if real.is_dir() else iter([self.file(real)])
            for one in found:
                if one.name not in self.seen:
                    self.seen.add(one.name)
                    yield one

    def folder(self, folder: Path, above: tuple[_Rules, ...]) -> Iterator[Found]:
        try:
            with os.scandir(folder) as entries:
                listed = sorted(entries, key=lambda entry: entry.name + ("/" if _is_folder(entry) else ""))
        except OSError as error:
            yield Found(folder, self.name(folder) + "/", status=Status.UNREADABLE, reason=error.strerror or str(error))
            return
        rules = above if self.settings.no_ignore else (*above, *_rules_of(folder))
        for entry in listed:
            path = folder / entry.name
            reason = self._refused(entry, path, rules)
            if reason:
                name = self.name(path) + ("/" if _is_folder(entry) else "")
                yield Found(path, name, status=Status.SKIPPED, reason=reason)
            elif _is_folder(entry):
                yield from self.folder(path, rules)
            else:
                yield self.file(path)

    def file(self, path: Path) -> Found:
        name = self.name(path)
        try:
            status = path.lstat()
        except OSError as error:
            return Found(path, name, status=Status.UNREADABLE, reason=error.strerror or str(error))
        found = Found(path, name, status.st_size, status.st_mtime_ns, status.st_ino)
        if not stat.S_ISREG(status.st_mode):
            kind = _KINDS.get(stat.S_IFMT(status.st_mode), "something else")
            return _refuse(found, Status.SKIPPED, f"not a regular file but {kind}")
        if status.st_size > self.settings.max_file_mb * 1e6:
            limit = self.settings.max_file_mb
            return _refuse(
                found, Status.TOO_LARGE, f"{status.st_size / 1e6:.1f} MB is more than max_file_mb = {limit:g}"
            )
        return found

    def name(self, path: Path) -> str:
        """Return a path's name in the index."""
        try:
            return path.relative_to(self.root).as_posix()
        except ValueError:
            return path.as_posix()

    def _refused(self, entry: os.DirEntry[str], path: Path, rules: tuple[_Rules, ...]) -> str:
        """Return why an entry of a folder is left out, or ""."""
        if entry.is_symlink():
            target = Path(os.path.realpath(path))
            inside = target == self.root or self.root in target.parents
            return "a symbolic link" if inside else "a symbolic link out of the folder"
        if entry.name.lower() in _LEFTOVERS or entry.name.startswith("~$"):
            return "left behind by another program"
        if entry.name == FILE_NAME:
            return "settings of rag-index"
        if entry.name.startswith(".") and not self.settings.hidden:
            return "hidden"
        if by := _ignoring(path, rules, folder=_is_folder(entry)):
            return f"ignored by {by}"
        return self._unwanted(self.name(path), folder=_is_folder(entry))

    def _unwanted(self, name: str, *, folder: bool) -> str:
        if self.exclude and self.exclude.match_file(name + "/" * folder):
            return "excluded"
        if self.include and not folder and not self.include.match_file(name):
            return "not included"
        return ""

    def _ignored_above(self, path: Path) -> tuple[_Rules, ...]:
        """Return the rules of the folders above `path`, up to the top of its repository."""
        if self.settings.no_ignore:
            return ()
        above: list[Path] = []
        for folder in path.parents:
            above.append(folder)
            if (folder / ".git").exists():
                return tuple(rule for place in reversed(above) for rule in _rules_of(place))
        return ()


@dataclass(frozen=True, slots=True)
class _Rules:
    """One ignore file."""

    folder: Path
    label: str
    spec: GitIgnoreSpec


def _rules_of(folder: Path) -> list[_Rules]:
    found = []
    for name in IGNORE_FILES:
        try:
            lines = (folder / name).read_text("utf-8", "replace").splitlines()
        except OSError:
            continue
        found.append(_Rules(folder, name, GitIgnoreSpec.from_lines(lines)))
    return found


def _ignoring(path: Path, rules: tuple[_Rules, ...], *, folder: bool) -> str:
    """Return the ignore file that leaves `path` out, or ""; the one nearest to it that has a say decides."""
    for rule in reversed(rules):
        verdict = rule.spec.check_file(path.relative_to(rule.folder).as_posix() + "/" * folder)
        if verdict.include is not None:
            return rule.label if verdict.include else ""
    return ""


def _is_folder(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False)


def _refuse(found: Found, status: Status, reason: str) -> Found:
    return Found(found.path, found.name, found.size, found.mtime_ns, found.inode, status, reason)
