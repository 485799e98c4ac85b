"""Commands for an index that one lives with: check, watch, diff."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rag_index.cli.frame import ConfigFile, Flags, IndexDir, Json, Quiet, command
from rag_index.cli.indexing import Paths, what_and_where

Repair = Annotated[bool, typer.Option("--repair", help="Mend what is wrong; needs the sources for a damaged index.")]
All = Annotated[bool, typer.Option("--full", help="Compare every record of Chroma's copy, not a sample.")]
IndexArgument = Annotated[Path, typer.Argument(metavar="INDEX", help="Folder of an index, or a folder that has one.")]


@command("check", example="rag-index check --repair --index docs/.rag-index")
def check(
    *, index: IndexDir = None, repair: Repair = False, full: All = False, as_json: Json = False, quiet: Quiet = False
) -> None:
    """Compare all that an index holds: texts, chunks, keywords, vectors, checksums and Chroma's copy.

    The exit code is 3 if something is wrong and stays so.
    """
    from rag_index.cli.render_upkeep import show_check
    from rag_index.cli.terminal import progress
    from rag_index.pipeline import check as run
    from rag_index.store import find_index

    folder = find_index(Path(), index)
    with progress(quiet=quiet) as report:
        result = run(folder, repair=repair, full=full, report=report)
    show_check(result, as_json=as_json)
    if not result.ok:
        raise typer.Exit(3)


@command("watch", settings=("chunk", "embed", "extract", "store"), example="rag-index watch docs")
def watch(
    paths: Paths = None,
    *,
    index: IndexDir = None,
    config: ConfigFile = None,
    flags: Flags,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Build, and build again whenever files change, until Ctrl-C."""
    from rag_index.cli.render_upkeep import show_rebuilt, telling_errors
    from rag_index.pipeline import watch as run
    from rag_index.settings import load_settings

    given, folder = what_and_where(paths or [], index)
    settings = load_settings(flags, near=given[0], config=config).settings
    for result in run(given, folder, settings, report=telling_errors()):
        show_rebuilt(result, as_json=as_json, quiet=quiet)


@command("diff", example="rag-index diff old/.rag-index new/.rag-index")
def diff(first: IndexArgument, second: IndexArgument, *, as_json: Json = False) -> None:
    """Tell in what the second of two indexes differs from the first."""
    from rag_index.cli.render_upkeep import show_difference
    from rag_index.store import find_index, open_snapshot
    from rag_index.store.comparing import compare

    with open_snapshot(find_index(Path(), first)) as a, open_snapshot(find_index(Path(), second)) as b:
        show_difference(compare(a, b), as_json=as_json)
