"""What is measured of a list of chunks, and of the time that it took."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import pairwise

Spans = Sequence[tuple[int, int]]


def seconds(work: Callable[[], object], repeats: int) -> float:
    """Return the least CPU time of some runs: other work on the machine makes the others longer."""
    best = float("inf")
    for _ in range(repeats):
        began = time.process_time()
        work()
        best = min(best, time.process_time() - began)
    return best


def quality(text: str, spans: Spans, size: int) -> dict[str, float | int]:
    """Return counts and shares; `lost` are characters that are no white space and in no chunk."""
    ends = [end for _, end in spans[:-1]]
    good = sum(_ends_well(text, end) for end in ends)
    places = [start for start, _ in spans[1:]] + ends
    shared = [max(0, one[1] - two[0]) for one, two in pairwise(spans)]
    return {
        "chunks": len(spans),
        "mean": round(sum(end - start for start, end in spans) / max(1, len(spans))),
        "ends_well": round(100 * good / max(1, len(ends)), 1),
        "words_cut": sum(_inside_word(text, place) for place in places),
        "overlap": round(sum(shared) / max(1, len(shared))),
        "lost": _lost(text, spans),
        "too_long": sum(end - start > size for start, end in spans),
    }


def _ends_well(text: str, end: int) -> bool:
    after = text[end : end + 1]
    return after in "\r\n" or text[end - 1] in ".!?。！？．…" or (text[end - 1] == "\n")


def _inside_word(text: str, at: int) -> bool:
    """Whether a cut parts two letters of a script that writes spaces."""
    return 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum() and text[at] < "\u2e80"


def _lost(text: str, spans: Spans) -> int:
    lost, reach = 0, 0
    for start, end in [*spans, (len(text), len(text))]:
        if start > reach:
            lost += sum(not char.isspace() for char in text[reach:start])
        reach = max(reach, end)
    return lost


def f1(gold: Sequence[int], found: Sequence[int]) -> float:
    both = len({*gold} & {*found})
    return 2 * both / (len({*gold}) + len({*found}))


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)
