"""What a person sees of an index: the summary of a build, the status."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rag_index.cli.terminal import BOLD, DIM, paint, safe, say, say_json
from rag_index.pipeline import BuildReport

_MOST = 20
"""Lines of a list that may be long; `--json` has them all."""


def show_build(report: BuildReport, *, dry_run: bool, as_json: bool, quiet: bool) -> None:
    """Print what a build did, or would do."""
    if as_json:
        say_json({**report.to_dict(), "seconds": round(report.seconds, 3)})
        return
    if quiet:
        return
    files, chunks, tokens = report.files, report.chunks, report.tokens
    counts = {"unchanged": files.unchanged, "removed": files.removed, "not searchable": files.skipped}
    others = "".join(f", {count:,} {name}" for name, count in counts.items() if count)
    say(f"{'would index' if dry_run else 'indexed'} {files.indexed:,} of {files.seen:,} files{others}")
    say(f"chunks     {chunks.live:,} (+{chunks.added:,} -{chunks.removed:,})")
    say(f"embedded   {report.embedded:,} texts, {report.reused:,} were known")
    say(f"tokens     {tokens.seen:,} seen, {tokens.cut:,} cut, {tokens.unknown:,} unknown to the model")
    if report.model:
        say(f"model      {report.model}" + (f" ({report.engine})" if report.engine else ""))
    say(f"index      {safe(report.index)}")
    say(f"time       {report.seconds:.1f} s")
    _show_faults([{"path": each.path, "status": each.status, "reason": each.reason} for each in report.skipped])


def show_status(status: Mapping[str, Any], *, as_json: bool) -> None:
    """Print what `inventory.take` counted."""
    if as_json:
        say_json(status)
        return
    documents, chunker, model, tokens = status["documents"], status["chunker"], status["model"], status["tokens"]
    sizes = {name: count for name, count in status["bytes"].items() if name != "all" and count}
    rows = {
        "index": f"{status['index']} (generation {status['generation']})",
        "root": status["root"],
        "built": status["built_at"] or "not finished",
        "size": f"{_bytes(status['bytes']['all'])} ({_list(sizes, _bytes)})",
        "documents": f"{documents['searchable']:,} searchable ({_list(documents['by_format'])})",
        "languages": _languages(status["languages"]),
        "chunks": f"{status['chunks']['live']:,}, {status['chunks']['texts']:,} different texts",
        "chunker": f"{chunker['chunker']}, {chunker['size']:,} {chunker['unit']}, overlap {chunker['overlap']:,}",
        "model": f"{model['name']} ({model['engine']} {model['precision']}, {model['dimension']} dimensions)",
        "tokens": f"{tokens['seen']:,} seen, {tokens['cut']:,} cut, {tokens['unknown']:,} unknown to the model",
    }
    for name, text in rows.items():
        if text:
            say(f"{paint(f'{name:<10}', BOLD)} {safe(text)}")
    _show_faults(status["not_searchable"])
    _show_lines("changed since the build:", [f"{each['change']:<10} {each['path']}" for each in status["changed"]])


def _show_faults(files: Sequence[Mapping[str, str]]) -> None:
    lines = [f"{each['status']:<11} {each['path']}: {each['reason']}" for each in files]
    counts = Counter(str(each["status"]) for each in files)
    _show_lines(f"not searchable, or only in part ({_list(dict(counts.most_common()))}):", lines)


def _show_lines(title: str, lines: Sequence[str]) -> None:
    if not lines:
        return
    say(f"\n{paint(title, BOLD)}")
    for line in lines[:_MOST]:
        say(f"  {safe(line)}")
    if len(lines) > _MOST:
        say(paint(f"  and {len(lines) - _MOST:,} more: see --json", DIM))


def _list(counts: Mapping[str, int], form: Any = "{:,}".format) -> str:  # noqa: ANN401 (a function to text)
    return ", ".join(f"{name} {form(count)}" for name, count in counts.items())


def _languages(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return each language with its share of the tokens, those that the model can't read last."""
    from rag_index.pipeline.languages import name_of

    total = sum(row["tokens"] for row in rows) or 1
    shares: dict[bool, list[str]] = {True: [], False: []}
    for row in rows:
        name = name_of(row["language"]) if row["language"] else "not recognised"
        shares[row["known"]].append(f"{name} {row['tokens'] / total:.0%}")
    parts = [", ".join(shares[True]), "not known to the model: " + ", ".join(shares[False]) if shares[False] else ""]
    return "; ".join(part for part in parts if part)


def _bytes(count: int) -> str:
    size, unit = float(count), "B"
    for bigger in ("KB", "MB", "GB"):
        if size < 1000:  # noqa: PLR2004
            break
        size, unit = size / 1000, bigger
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
