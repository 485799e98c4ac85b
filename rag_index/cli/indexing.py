"""Commands that make an index and tell what is in it: build, status."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag_index.cli.frame import ConfigFile, Flags, IndexDir, Json, Quiet, command

if TYPE_CHECKING:
    from rag_index.pipeline import BuildReport
    from rag_index.settings import Settings

Paths = Annotated[
    list[Path] | None,
    typer.Argument(metavar="[PATH]...", help="Folders and files [default: what the index holds, or this folder]."),
]
Strict = Annotated[bool, typer.Option("--strict", help="Exit with code 4 if a file is not searchable.")]
Full = Annotated[bool, typer.Option("--full", help="Read every file again; known texts are not embedded again.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")]


@command("build", "index", settings=("chunk", "embed", "extract", "store"), example="rag-index build docs --size 500")
def build(
    paths: Paths = None,
    *,
    index: IndexDir = None,
    config: ConfigFile = None,
    flags: Flags,
    full: Full = False,
    dry_run: DryRun = False,
    strict: Strict = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Index folders and files, or bring their index up to date.

    The index of one folder is kept in it, as .rag-index; that of anything else in the current folder. Only what
    changed since the last build is read and embedded.
    """
    from rag_index.chunk import check_chunker
    from rag_index.cli.render_index import show_build
    from rag_index.cli.terminal import progress
    from rag_index.embed.cache import VectorCache
    from rag_index.pipeline import build as run
    from rag_index.settings import load_settings

    given, folder = what_and_where(paths or [], index)
    settings = load_settings(flags, near=given[0], config=config).settings
    check_chunker(settings.chunk)
    say_changes(folder, settings, quiet=quiet)
    with progress(quiet=quiet) as report, VectorCache() as cache:
        result = run(given, folder, settings, report=report, full=full, dry_run=dry_run, cache=cache)
    show_build(result, dry_run=dry_run, as_json=as_json, quiet=quiet)
    fail_if_skipped(result, strict=strict)


@command("status", example="rag-index status --index docs/.rag-index")
def status(*, index: IndexDir = None, as_json: Json = False) -> None:
    """Tell what an index holds, how it was made, what is not searchable and why, and which files have changed."""
    from rag_index.cli.inventory import take
    from rag_index.cli.render_index import show_status
    from rag_index.store import find_index, open_snapshot

    folder = find_index(Path(), index)
    with open_snapshot(folder) as snapshot:
        show_status(take(folder, snapshot), as_json=as_json)


def what_and_where(paths: list[Path], index: Path | None) -> tuple[list[Path], Path]:
    """Return what to index, and the folder of the index: made where nothing else is said.

    Without paths the index at hand is brought up to date; without one, the current folder is indexed.
    """
    from rag_index.errors import IndexMissingError
    from rag_index.store import FOLDER, find_index, open_snapshot

    if not paths:
        try:
            folder = find_index(Path(), index)
        except IndexMissingError:
            paths = [Path()]
        else:
            with open_snapshot(folder) as snapshot:
                return [snapshot.info.root / scope for scope in snapshot.info.scopes], folder
    named = index or (Path(os.environ["RAG_INDEX_DIR"]) if os.environ.get("RAG_INDEX_DIR") else None)
    beside = paths[0] if len(paths) == 1 and paths[0].is_dir() else Path()
    return paths, named or beside / FOLDER


def say_changes(index: Path, settings: Settings, *, quiet: bool) -> None:
    """Say on stderr which settings differ from those that the index was made with: all of it will be made anew."""
    from rag_index.cli.terminal import note
    from rag_index.errors import IndexUnusableError
    from rag_index.store import open_snapshot

    try:
        with open_snapshot(index) as snapshot:
            before = snapshot.info.settings.to_dict()
    except IndexUnusableError:
        return  # a new index, or one that the build itself will complain of
    now = settings.to_dict()
    for part in ("chunk", "embed"):
        for name, value in now[part].items():
            if value != before[part][name]:
                note(f"{part}.{name} changes from {before[part][name]!r} to {value!r}", quiet=quiet)


def fail_if_skipped(report: BuildReport, *, strict: bool) -> None:
    """Raise what `--strict` asks for; files that were left out on purpose don't count."""
    from rag_index.errors import SkippedFilesError
    from rag_index.types import Status

    wrong = [file for file in report.skipped if file.status != Status.SKIPPED]
    if strict and wrong:
        first, count = f"{wrong[0].path} ({wrong[0].status})", len(wrong)
        what = (
            f"1 file is not searchable: {first}" if count == 1 else f"{count} files are not searchable, such as {first}"
        )
        raise SkippedFilesError(what, "See `rag-index status`.")
