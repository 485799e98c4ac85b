"""The charts of a report: recall against characters, size against overlap, quality against cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag_index.evaluate.drawing import Area, Box, Dot, Line, Picture, Point, Shape, Text
from rag_index.evaluate.grid import Cell
from rag_index.evaluate.run import Run
from rag_index.evaluate.verdict import Verdict, resampled

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6b5b95", "#444444")
"""Told apart with any kind of colour vision (after Okabe and Ito), the most different first."""
GRID = "#e3e6ec"
MUTED = "#667085"
CHARTS = ("curves", "heat", "costs")
"""Names for ``--png``."""


@dataclass(frozen=True, slots=True)
class _Frame:
    """A plot's inner rectangle and the values at its corners."""

    left: float
    top: float
    width: float
    height: float
    x: Point
    y: Point

    def at(self, x: float, y: float) -> Point:
        across = (x - self.x[0]) / (self.x[1] - self.x[0])
        up = (y - self.y[0]) / (self.y[1] - self.y[0])
        return (self.left + across * self.width, self.top + (1 - up) * self.height)

    def axes(self, xs: Sequence[float], ys: Sequence[float], across: str, up: str) -> Iterator[Shape]:
        bottom, right = self.top + self.height, self.left + self.width
        for y in ys:
            level = self.at(self.x[0], y)[1]
            yield Line([(self.left, level), (right, level)], GRID)
            yield Text((self.left - 8, level + 4), f"{100 * y:.0f} %", "end", 11, MUTED)
        for x in xs:
            place = self.at(x, self.y[0])[0]
            yield Line([(place, bottom), (place, bottom + 4)], MUTED)
            yield Text((place, bottom + 18), f"{x:,.0f}", "middle", 11, MUTED)
        yield Line([(self.left, bottom), (right, bottom)], MUTED)
        yield Text((self.left + self.width / 2, bottom + 38), across, "middle", 12, MUTED)
        yield Text((self.left - 40, self.top - 14), up, "start", 12, MUTED)


def chart(name: str, run: Run, verdict: Verdict) -> Picture:
    """Return a chart by its name, one of `CHARTS`."""
    return {"curves": curves, "heat": heat, "costs": costs}[name](run, verdict)


def curves(run: Run, verdict: Verdict) -> Picture:
    """Draw mean recall of the first B characters for the best configurations, with 95 % bands."""
    shown = sorted(range(len(run.results)), key=lambda n: -verdict.standings[n].value.mean)[: len(COLOURS)]
    if verdict.recommended not in shown:
        shown[-1] = verdict.recommended
    budgets = run.measure.budgets
    bands = {n: [_band(run, n, f"recall@{budget}") for budget in budgets] for n in shown}
    top = max(high for band in bands.values() for _, _, high in band)
    frame = _Frame(60, 40, 520, 320, (0, budgets[-1]), (0, _ceiling(top)))
    shapes: list[Shape] = list(frame.axes([0, *budgets[1:]], _ticks(frame.y[1]), "characters read", "recall"))
    for rank, n in reversed(list(enumerate(shown))):
        xs = [0, *budgets]
        lows, means, highs = ([0.0, *column] for column in zip(*bands[n], strict=True))
        edge = [frame.at(x, y) for x, y in zip(xs, highs, strict=True)]
        back = [frame.at(x, y) for x, y in zip(xs, lows, strict=True)]
        shapes.append(Area([*edge, *reversed(back)], COLOURS[rank], 0.12))
        shapes.append(Line([frame.at(x, y) for x, y in zip(xs, means, strict=True)], COLOURS[rank], 2.2))
    for rank, n in enumerate(shown):
        y = frame.top + 12 + 20 * rank
        shapes.append(Line([(604, y - 4), (628, y - 4)], COLOURS[rank], 3))
        shapes.append(Text((636, y), run.names[n], bold=n == verdict.recommended))
    if len(shown) < len(run.results):
        y = frame.top + 12 + 20 * len(shown)
        shapes.append(Text((604, y), f"{len(shown)} of {len(run.results)} shown", size=11, colour=MUTED))
    width = 660 + 7.2 * max(len(run.names[n]) for n in shown)
    return Picture(width, 420, shapes, "Recall against characters read, with 95 % bands")


def heat(run: Run, verdict: Verdict) -> Picture:
    """Draw the deciding metric over size and overlap, one panel for each other combination."""
    panels: dict[str, list[int]] = {}
    for n, result in enumerate(run.results):
        panels.setdefault(_panel(result.cell), []).append(n)
    means = [standing.value.mean for standing in verdict.standings]
    low, high = min(means), max(means)
    shares = _as_shares([result.cell for result in run.results])
    shapes: list[Shape] = []
    y, width = 30.0, 0.0
    for title, members in panels.items():
        cells = {n: run.results[n].cell for n in members}
        sizes = sorted({cell.chunk.size for cell in cells.values()})
        overlaps = sorted({_overlap(cell, shares=shares) for cell in cells.values()})
        shapes.append(Text((16, y), title, bold=True))
        shapes += [Text((170 + 92 * c, y + 22), f"size {size}", "middle", 11, MUTED) for c, size in enumerate(sizes)]
        for r, overlap in enumerate(overlaps):
            name = f"overlap {overlap:.0%}" if shares else f"overlap {overlap:.0f}"
            shapes.append(Text((112, y + 54 + 40 * r), name, "end", 11, MUTED))
        for n, cell in cells.items():
            column, row = sizes.index(cell.chunk.size), overlaps.index(_overlap(cell, shares=shares))
            at = (126 + 92 * column, y + 30 + 40 * row)
            shapes += _square(at, verdict, n, (means[n] - low) / (high - low) if high > low else 1.0)
        width = max(width, 150 + 92 * len(sizes), 40 + 7.6 * len(title))
        y += 70 + 40 * len(overlaps)
    note = f"{verdict.metric}, %; framed: recommended"
    shapes.append(Text((16, y - 12), note, size=11, colour=MUTED))
    return Picture(max(width, 360), y, shapes, f"{verdict.metric} by size and overlap")


def costs(run: Run, verdict: Verdict) -> Picture:
    """Draw the deciding metric, with its interval, against the chunks that it takes."""
    chunks = [result.costs.chunks for result in run.results]
    values = [standing.value for standing in verdict.standings]
    floor = max(0.0, min(value.low for value in values) - 0.05)
    frame = _Frame(
        60, 40, 560, 300, (0, 1.12 * max(*chunks, 1)), (floor, min(1.02, max(v.high for v in values) + 0.05))
    )
    step = _round_step(max(*chunks, 1) / 4)
    xs = [step * n for n in range(int(frame.x[1] / step) + 1)]
    fine = frame.y[1] - floor < 0.4  # noqa: PLR2004 (lines every five points where ten would be too few)
    ys = [tick / 100 for tick in range(0, 101, 5 if fine else 10) if floor <= tick / 100 <= frame.y[1]]
    shapes: list[Shape] = list(frame.axes(xs, ys, "chunks", verdict.metric))
    taken: list[float] = []
    for n in sorted(range(len(values)), key=lambda n: -values[n].mean):
        colour = COLOURS[1] if n == verdict.recommended else COLOURS[0] if verdict.standings[n].contender else MUTED
        x, y = frame.at(chunks[n], values[n].mean)
        label = _free(y + 4, taken)
        taken.append(label)
        shapes.append(Line([(x, y), (636, label - 4)], GRID))
        shapes.append(Line([frame.at(chunks[n], values[n].low), frame.at(chunks[n], values[n].high)], colour, 1.2))
        shapes.append(Dot((x, y), 4.5, colour, f"{run.names[n]}: {100 * values[n].mean:.1f} %, {chunks[n]} chunks"))
        shapes.append(Text((640, label), run.names[n], size=11, colour=colour, bold=n == verdict.recommended))
    legend = "orange: recommended; blue: can't be told from the best; grey: worse"
    shapes.append(Text((60, frame.top + frame.height + 56), legend, size=11, colour=MUTED))
    height = max([frame.top + frame.height + 70, *(label + 16 for label in taken)])
    return Picture(664 + 6.6 * max(map(len, run.names)), height, shapes, f"{verdict.metric} against chunks")


def _band(run: Run, n: int, metric: str) -> tuple[float, float, float]:
    found = resampled(len(run.questions)).interval(run.results[n].scores[metric])
    return (found.low, found.mean, found.high)


def _square(at: Point, verdict: Verdict, n: int, shade: float) -> Iterator[Shape]:
    standing = verdict.standings[n]
    pale, deep = (237, 243, 250), (0, 92, 151)
    colour = "#" + "".join(f"{round(p + (d - p) * shade):02x}" for p, d in zip(pale, deep, strict=True))
    border = COLOURS[1] if n == verdict.recommended else ""
    yield Box(at, (88, 36), colour, border, f"{standing.name}: {100 * standing.value.mean:.1f} %")
    ink = "#ffffff" if shade > 0.55 else "#1f2430"  # noqa: PLR2004 (where white begins to read better)
    yield Text((at[0] + 44, at[1] + 23), f"{100 * standing.value.mean:.1f}", "middle", 13, ink)


def _panel(cell: Cell) -> str:
    model = cell.embed.model.rpartition("/")[2]
    return f"{cell.chunk.chunker} · {cell.chunk.unit} · {model} · {cell.search.mode} · {cell.search.passages}s"


def _as_shares(cells: Sequence[Cell]) -> bool:
    """Whether the overlaps were meant as shares of the size: then there are fewer shares than numbers."""
    return len({_overlap(cell, shares=True) for cell in cells}) < len({cell.chunk.overlap for cell in cells})


def _overlap(cell: Cell, *, shares: bool) -> float:
    return round(cell.chunk.overlap / cell.chunk.size, 2) if shares else float(cell.chunk.overlap)


def _free(y: float, taken: Sequence[float]) -> float:
    """Return the nearest line at or below `y` on which no label stands."""
    while any(abs(y - other) < 14 for other in taken):  # noqa: PLR2004 (height of a label)
        y += 2
    return y


def _ceiling(value: float) -> float:
    return min(1.0, (int(value * 10) + 1) / 10)


def _ticks(top: float) -> list[float]:
    return [tick / 10 for tick in range(int(top * 10 + 1e-9) + 1)]


def _round_step(rough: float) -> float:
    scale = 10.0 ** (len(str(int(rough))) - 1) if rough >= 1 else 1.0
    return next((n * scale for n in (1, 2, 5, 10) if n * scale >= rough), 10 * scale)
