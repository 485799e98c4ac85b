"""Commands that answer: query."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rag_index.cli.frame import ConfigFile, Flags, IndexDir, Json, JsonLines, command

Words = Annotated[list[str], typer.Argument(metavar="TEXT...", help="The question; after -- it may begin with a dash.")]
Globs = Annotated[
    list[str] | None,
    typer.Option("--path", metavar="GLOB", help="Search only documents of these paths. Can be given several times."),
]


@command("query", "search", settings=("search",), example='rag-index query "how long is the warranty" -n 3')
def query(
    text: Words,
    *,
    path: Globs = None,
    index: IndexDir = None,
    config: ConfigFile = None,
    flags: Flags,
    as_json: Json = False,
    json_lines: JsonLines = False,
) -> None:
    """Answer a question with the best passages, each exactly as it stands in its document.

    Model and chunking are those of the index.
    """
    from rag_index.cli.render_passages import show_passages
    from rag_index.embed import load_embedder
    from rag_index.search import search
    from rag_index.settings import load_settings
    from rag_index.store import find_index, open_snapshot
    from rag_index.types import Filter

    settings = load_settings(flags, config=config).settings.search
    question, where = " ".join(text), Filter(paths=tuple(path)) if path else None
    with open_snapshot(find_index(Path(), index)) as snapshot:
        info = snapshot.info
        found = search(snapshot, lambda: load_embedder(info.settings.embed), question, settings, where)
        show_passages(question, settings.mode, found, info.root, as_json=as_json, json_lines=json_lines)
