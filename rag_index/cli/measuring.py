"""Commands that look after speed: bench, cache."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rag_index.cli.frame import ConfigFile, Flags, Json, Quiet, command

Paths = Annotated[
    list[Path] | None, typer.Argument(metavar="[PATH]...", help="Folders and files [default: this folder].")
]
Most = Annotated[float, typer.Option("--most", metavar="MB", help="Megabytes of files to measure with.")]
Prune = Annotated[
    float | None, typer.Option("--prune", metavar="MB", help="Drop the vectors unused for longest, down to MB.")
]
Clear = Annotated[bool, typer.Option("--clear", help="Remove all vectors and converted models.")]


@command("bench", settings=("chunk", "embed", "extract"), example="rag-index bench docs --most 5")
def bench(
    paths: Paths = None,
    *,
    most: Most = 2.0,
    config: ConfigFile = None,
    flags: Flags,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure the speed of indexing and of answers, on this machine and with these files.

    Builds an index of some of the files in a temporary folder and asks it questions; no index is changed.
    """
    from rag_index.cli.render_speed import show_speed
    from rag_index.cli.terminal import progress
    from rag_index.evaluate.speed import measure_speed
    from rag_index.settings import load_settings

    given = paths or [Path()]
    settings = load_settings(flags, near=given[0], config=config).settings
    with progress(quiet=quiet) as report:
        speed = measure_speed(given, settings, most_mb=most, report=report)
    show_speed(speed, as_json=as_json)


@command("cache", example="rag-index cache --prune 500")
def cache(*, prune: Prune = None, clear: Clear = False, as_json: Json = False) -> None:
    """Tell what is kept between builds in the cache folder of the user: vectors of texts, converted models.

    Nothing in it is needed: what is removed is made again, which takes time. Its place can be set by the variable
    RAG_INDEX_CACHE_DIR.
    """
    from rag_index.cli.render_speed import show_cache
    from rag_index.embed import keeping

    if clear:
        keeping.clear()
    elif prune is not None:
        keeping.prune(prune)
    show_cache(keeping.look(), as_json=as_json)
