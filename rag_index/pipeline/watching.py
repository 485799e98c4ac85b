"""watch(): build again whenever files change."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from rag_index.errors import RagIndexError, UsageError
from rag_index.pipeline.building import build
from rag_index.pipeline.report import BuildReport
from rag_index.settings import Settings
from rag_index.types import Embedder, Event, Reporter, ignore

_QUIET_MS = 500
"""Changes that follow each other faster are one."""


def watch(
    paths: Sequence[Path],
    index: Path,
    settings: Settings,
    *,
    report: Reporter = ignore,
    embedder: Embedder | None = None,
    stop: threading.Event | None = None,
) -> Iterator[BuildReport]:
    """Build, and build again after every change below `paths`; yields what each build did. Lazy, without an end.

    A build that fails is told of as an event ``error``, and the next change tries again.

    Args:
        paths: Files and folders, as for `build`.
        index: Folder of the index; changes in it don't count.
        settings: What to build with.
        report: Told of progress and errors.
        embedder: The model; loaded once if not given.
        stop: Ends the iterator when set.

    Raises:
        UsageError: watchfiles is not installed, or the first build is one that can't be meant.
    """
    try:
        from watchfiles import watch as changes
    except ImportError as error:
        raise UsageError("watching needs the package watchfiles", "Run: pip install 'rag-index[watch]'") from error
    own = index.absolute()

    def counts(_: object, path: str) -> bool:
        return own != Path(path) and own not in Path(path).parents

    model = embedder
    yield build(paths, index, settings, report=report, embedder=model)
    for _ in changes(*paths, watch_filter=counts, debounce=_QUIET_MS, stop_event=stop, raise_interrupt=True):
        try:
            yield build(paths, index, settings, report=report, embedder=model)
        except RagIndexError as error:
            report(Event("error", note=f"{error.message}. {error.hint}".strip()))
