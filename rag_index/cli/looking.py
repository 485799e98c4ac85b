"""Commands that look inside: extract, chunk, show, config."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rag_index.cli.frame import ConfigFile, Flags, Json, command


@command(
    "config", settings=("chunk", "embed", "extract", "store", "search"), example="rag-index config --config my.toml"
)
def config(
    file: ConfigFile = None,
    *,
    near: Annotated[Path, typer.Option("--near", metavar="DIR", help="Look for settings from here upward.")] = Path(),
    flags: Flags,
    as_json: Json = False,
) -> None:
    """Show every setting, its value and where the value came from.

    A flag comes before a variable (RAG_INDEX_CHUNK_SIZE), that before rag-index.toml here or in a folder above,
    that before ~/.config/rag-index/config.toml, and that before the default.
    """
    from rag_index.cli.render import show_settings
    from rag_index.settings import load_settings

    show_settings(load_settings(flags, near=near, config=file), as_json=as_json)
