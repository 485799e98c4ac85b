"""What a person sees of checks, watching and comparisons."""

from __future__ import annotations

from rag_index.cli.terminal import note, safe, say, say_json
from rag_index.pipeline import BuildReport, CheckReport
from rag_index.store.comparing import Difference
from rag_index.types import Event, Reporter


def show_check(report: CheckReport, *, as_json: bool) -> None:
    """Print what a check found."""
    if as_json:
        say_json(report.to_dict())
        return
    for fault in report.repaired:
        say(safe(f"mended  {fault.code:<10} {fault.where}: {fault.message}"))
    for fault in report.faults:
        say(safe(f"wrong   {fault.code:<10} {fault.where}: {fault.message}"))
    compared = f", {report.verified:,} records of Chroma's copy compared" if report.verified else ""
    say(safe(f"{report.index}: {'all is as it must be' if report.ok else f'{len(report.faults)} faults'}{compared}"))


def show_rebuilt(report: BuildReport, *, as_json: bool, quiet: bool) -> None:
    """Print one line about a build of `watch`."""
    if as_json:
        say_json(report.to_dict())
    elif not quiet:
        files, chunks = report.files, report.chunks
        say(
            f"indexed {files.indexed:,}, removed {files.removed:,}, chunks {chunks.live:,} "
            f"(+{chunks.added:,} -{chunks.removed:,}), {report.seconds:.1f} s"
        )


def telling_errors() -> Reporter:
    """Return a reporter that says only what went wrong."""

    def report(event: Event) -> None:
        if event.stage in {"error", "warning"}:
            note(safe(event.note), quiet=False)

    return report


def show_difference(found: Difference, *, as_json: bool) -> None:
    """Print in what two indexes differ."""
    if as_json:
        say_json(found.to_dict())
        return
    for name, (one, other) in found.settings.items():
        say(safe(f"setting    {name}: {one!r} -> {other!r}"))
    if found.model:
        say(f"model      {found.model[0]} -> {found.model[1]}")
    for name in ("removed", "added", "changed", "rechunked"):
        for path in getattr(found, name):
            say(safe(f"{name:<10} {path}"))
    only, both, new = found.texts
    say(f"chunks     {found.chunks[0]:,} -> {found.chunks[1]:,}")
    say(f"texts      {both:,} in both, {only:,} only in the first, {new:,} only in the second")
    if found.same:
        say("both answer alike")
