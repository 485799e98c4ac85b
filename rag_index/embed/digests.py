"""SHA-256 of large files, remembered by their size and times, so that a query need not read a model's weights twice."""

from __future__ import annotations

import hashlib
import json
import os
import time
from contextlib import suppress
from pathlib import Path

from rag_index.embed.cache import cache_folder
from rag_index.errors import ModelError

_SMALL = 1 << 20
"""Bytes below which reading a file is as fast as remembering it."""
_SETTLED_NS = 2 * 10**9
"""A file changed less than this ago may change again within one tick of its clock."""


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file as hex.

    What was found for a large file is believed while size, inode, modification and change time stay as they are.
    """
    try:
        stat = path.stat()
        if stat.st_size < _SMALL:
            return _read(path)
        stamp = f"{path}|{stat.st_size}|{stat.st_ino}|{stat.st_mtime_ns}|{stat.st_ctime_ns}"
        known = _known()
        if stamp not in known:
            digest = _read(path)
            if time.time_ns() - max(stat.st_mtime_ns, stat.st_ctime_ns) < _SETTLED_NS:
                return digest
            _remember({**known, stamp: digest})
            return digest
        return known[stamp]
    except OSError as error:
        raise ModelError(f"can't read {path}: {error.strerror}", "Check the file's permissions.") from error


def _read(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _file() -> Path:
    return cache_folder() / "digests.json"


def _known() -> dict[str, str]:
    with suppress(OSError, ValueError):
        known = json.loads(_file().read_bytes())
        if isinstance(known, dict):
            return {str(stamp): str(digest) for stamp, digest in known.items()}
    return {}


def _remember(known: dict[str, str]) -> None:
    """Write the newest hundred; where nothing can be written, files are read again next time."""
    file = _file()
    scratch = file.with_name(f"{file.name}.{os.getpid()}")
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        scratch.write_text(json.dumps(dict(list(known.items())[-100:])), encoding="utf-8")
        scratch.replace(file)
