"""Commands that look inside: extract, chunk, show, config."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rag_index.cli.frame import ConfigFile, Flags, IndexDir, Json, JsonLines, command

File = Annotated[str, typer.Argument(metavar="FILE", help="File to read; - for standard input.")]


@command("chunk", settings=("chunk", "extract", "embed"), example="rag-index chunk guide.md --size 500 --overlap 50")
def chunk(
    file: File,
    *,
    stream: Annotated[
        bool, typer.Option("--stream", help="Print each chunk, as --jsonl, while the text comes in.")
    ] = False,
    config: ConfigFile = None,
    flags: Flags,
    as_json: Json = False,
    json_lines: JsonLines = False,
) -> None:
    """Cut one file into chunks as `build` does, and show them.

    Every chunk comes with its place, its size in characters and in tokens of the model, and with the part that it
    shares with the one before marked. With --stream the text is read as plain UTF-8, and the first chunk comes
    before the input ends.
    """
    from rag_index.chunk import check_chunker
    from rag_index.cli import render_chunks
    from rag_index.cli.reading import chunks_of, near, read_file, say_status, streamed
    from rag_index.settings import load_settings

    settings = load_settings(flags, near=near(file), config=config).settings
    check_chunker(settings.chunk)
    if stream:
        render_chunks.show_lines(streamed(file, settings))
        return
    document = read_file(file, settings)
    say_status(document)
    chunks = chunks_of(document, settings)
    if json_lines:
        render_chunks.show_lines(chunks)
    else:
        (render_chunks.show_json if as_json else render_chunks.show)(document, settings.chunk, chunks)


@command("extract", settings=("extract",), example="rag-index extract report.pdf --json")
def extract(
    file: File,
    *,
    render: Annotated[
        Path | None,
        typer.Option("--render", metavar="PNG", help="Draw a page of a PDF with its blocks into this file."),
    ] = None,
    page: Annotated[int, typer.Option(metavar="N", help="Which page --render draws.")] = 1,
    config: ConfigFile = None,
    flags: Flags,
    as_json: Json = False,
) -> None:
    """Show the text that a file gives, character for character: what is indexed is this and nothing else.

    What is wrong with the file is said on stderr. In the picture paragraphs are blue, headings green, running headers
    and footers grey, hidden text red.
    """
    from rag_index.cli.pictures import save_blocks
    from rag_index.cli.reading import near, read_file, say_status
    from rag_index.cli.render_documents import show_text
    from rag_index.settings import load_settings

    settings = load_settings(flags, near=near(file), config=config).settings
    document = read_file(file, settings)
    say_status(document)
    if render:
        save_blocks(document, page, render, settings.extract)
    show_text(document, as_json=as_json)


@command("show", settings=("extract",), example="rag-index show docs/guide.md:120")
def show(
    place: Annotated[str, typer.Argument(metavar="PATH[:LINE]", help="Document, as a file or as the index names it.")],
    *,
    start: Annotated[
        int | None, typer.Option(metavar="N", help="Mark from this character, as --json gives it.")
    ] = None,
    end: Annotated[int | None, typer.Option(metavar="N", help="Mark up to this character.")] = None,
    page: Annotated[int | None, typer.Option(metavar="N", help="Show this page.")] = None,
    lines: Annotated[int, typer.Option("--lines", "-C", metavar="N", help="Lines around the place.")] = 5,
    png: Annotated[
        Path | None,
        typer.Option("--png", metavar="PNG", help="Draw the page of a PDF with the place marked into this file."),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write a page with the place marked in the text around it."),
    ] = None,
    index: IndexDir = None,
    config: ConfigFile = None,
    flags: Flags,
    as_json: Json = False,
) -> None:
    """Show a document around a place, which is marked; the whole document without one.

    The text is the one in the index, if the document is in it, else the file's.
    """
    from rag_index.cli.pictures import save_page, save_passage
    from rag_index.cli.places import find_place
    from rag_index.cli.reading import file_of, open_document
    from rag_index.cli.render_documents import show_place
    from rag_index.settings import load_settings

    settings = load_settings(flags, config=config).settings
    document, line = open_document(place, index, settings)
    span = find_place(document, line=line, page=page, start=start, end=end)
    if png:
        save_passage(document, file_of(place, document, index), span, page, png, settings.extract)
    if html:
        save_page(document, span, html)
    show_place(document, span, lines, as_json=as_json)


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
    from rag_index.cli.render_settings import show_settings
    from rag_index.settings import load_settings

    show_settings(load_settings(flags, near=near, config=file), as_json=as_json)
