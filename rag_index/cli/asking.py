"""Commands that answer: query, why."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag_index.cli.frame import ConfigFile, Flags, IndexDir, Json, JsonLines, command
from rag_index.errors import UsageError

if TYPE_CHECKING:
    from rag_index.types import Filter

Words = Annotated[list[str], typer.Argument(metavar="TEXT...", help="The question; after -- it may begin with a dash.")]
Globs = Annotated[
    list[str] | None,
    typer.Option("--path", metavar="GLOB", help="Search only documents of these paths. Can be given several times."),
]
Kinds = Annotated[
    list[str] | None,
    typer.Option("--type", metavar="FORMAT", help="Search only documents of these formats: pdf, markdown, ..."),
]
Heading = Annotated[
    str, typer.Option("--heading", metavar="TEXT", help="Search only below headings that contain this text.")
]
Meta = Annotated[
    list[str] | None,
    typer.Option("--meta", metavar="NAME=VALUE", help="Search only documents with this metadata: author=Kim."),
]
Since = Annotated[
    str, typer.Option("--since", metavar="DATE", help="Search only files modified since this day or time (ISO 8601).")
]
Format = Annotated[
    str,
    typer.Option(
        "--format", metavar="NAME", help="Print csv, md, files (paths only) or prompt (for a language model)."
    ),
]
Html = Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write a page with the marked passages.")]
Explain = Annotated[bool, typer.Option("--explain", help="Show what each score was made from.")]


@command("query", "search", settings=("search",), example='rag-index query "how long is the warranty" -n 3')
def query(
    text: Words,
    *,
    path: Globs = None,
    kind: Kinds = None,
    heading: Heading = "",
    meta: Meta = None,
    since: Since = "",
    index: IndexDir = None,
    config: ConfigFile = None,
    flags: Flags,
    format_: Format = "",
    html: Html = None,
    explain: Explain = False,
    as_json: Json = False,
    json_lines: JsonLines = False,
) -> None:
    """Answer a question with the best passages, each exactly as it stands in its document.

    Model and chunking are those of the index. "Quoted words" must occur, -words must not.
    """
    from rag_index.cli.render_passages import show_passages, warn, write_page
    from rag_index.embed import load_for_questions
    from rag_index.search import check_format, freshen, search
    from rag_index.settings import load_settings
    from rag_index.store import find_index, open_snapshot

    settings, where = load_settings(flags, config=config).settings.search, _filter(path, kind, heading, meta, since)
    check_format(format_)
    question = " ".join(text)
    with open_snapshot(find_index(Path(), index)) as snapshot:
        info = snapshot.info
        found = search(
            snapshot, lambda: load_for_questions(info.settings.embed), question, settings, where, report=warn
        )
        found = freshen(snapshot, found)
        if html:
            write_page(html, snapshot, question, found)
        show_passages(
            question, settings.mode, found, info.root,
            as_json=as_json, json_lines=json_lines, format_=format_, explain=explain,
        )  # fmt: skip


@command("why", settings=("search",), example='rag-index why "how long is the warranty" manual.md:12')
def explain_place(
    question: Annotated[str, typer.Argument(metavar="TEXT", help="The question.")],
    place: Annotated[str, typer.Argument(metavar="PATH[:LINE]", help="Where the answer stands, as query prints it.")],
    *,
    path: Globs = None,
    kind: Kinds = None,
    index: IndexDir = None,
    config: ConfigFile = None,
    flags: Flags,
    as_json: Json = False,
) -> None:
    """Say why a place is not among the answers: where build or search lost it, or how it ranks."""
    from rag_index.cli.reading import name_in, split_place
    from rag_index.cli.terminal import say, say_json
    from rag_index.embed import load_for_questions
    from rag_index.search import why
    from rag_index.settings import load_settings
    from rag_index.store import find_index, open_snapshot

    settings = load_settings(flags, config=config).settings.search
    named, line = split_place(place)
    near = Path(named).parent if Path(named).exists() else Path()
    with open_snapshot(find_index(near, index)) as snapshot:
        stored, name = snapshot.info.settings.embed, name_in(snapshot, named)
        reason = why(
            snapshot, lambda: load_for_questions(stored), question, name, settings, line=line, where=_filter(path, kind)
        )
    if as_json:
        ranks = {"passage": reason.passage, "dense": reason.dense, "keyword": reason.keyword}
        say_json({"query": question, "path": name, "line": line, "stage": reason.stage, "reason": reason.text} | ranks)
    else:
        say(reason.text)


def _filter(
    paths: Sequence[str] | None,
    kinds: Sequence[str] | None = None,
    heading: str = "",
    meta: Sequence[str] | None = None,
    since: str = "",
) -> Filter | None:
    """Return what the options leave in, or None where they leave in all."""
    from rag_index.types import Filter

    pairs = []
    for pair in meta or ():
        name, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"--meta is {pair!r} but must be NAME=VALUE", "Write --meta author=Kim.")
        pairs.append((name, value))
    where = Filter(tuple(paths or ()), tuple(kinds or ()), heading, tuple(pairs), _seconds(since) if since else None)
    return None if where == Filter() else where


def _seconds(since: str) -> float:
    """Return the time of an ISO 8601 date; without a zone it is local time."""
    try:
        when = datetime.fromisoformat(since)
    except ValueError as error:
        raise UsageError(f"--since is {since!r} but must be a date", "Write --since 2026-01-31.") from error
    return (when if when.tzinfo else when.astimezone()).astimezone(UTC).timestamp()
