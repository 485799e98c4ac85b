"""Pictures as a list of shapes, written as SVG or, with Pillow, as PNG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING, Any, TypeAlias

from rag_index.errors import UsageError

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

Point: TypeAlias = tuple[float, float]
"""x to the right, y downward, in pixels."""
INK = "#1f2430"
SCALE = 2
"""Pixels of a PNG for one of the picture's own, so that text stays sharp."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line through points."""

    points: Sequence[Point]
    colour: str = INK
    width: float = 1.0


@dataclass(frozen=True, slots=True)
class Area:
    """A filled polygon."""

    points: Sequence[Point]
    colour: str
    opacity: float = 1.0


@dataclass(frozen=True, slots=True)
class Dot:
    """A filled circle; `title` shows when it is pointed at."""

    at: Point
    radius: float
    colour: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle from `at` (its upper left corner); with a `border` colour it is framed."""

    at: Point
    size: Point
    colour: str
    border: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Text:
    """One line of text; `at` is on its baseline, at its ``start``, ``middle`` or ``end``."""

    at: Point
    text: str
    anchor: str = "start"
    size: float = 12.0
    colour: str = INK
    bold: bool = False


Shape: TypeAlias = Line | Area | Dot | Box | Text


@dataclass(frozen=True, slots=True)
class Picture:
    """Shapes on a white ground, later ones over earlier ones; `title` describes it to who can't see it."""

    width: float
    height: float
    shapes: Sequence[Shape]
    title: str


def svg(picture: Picture) -> str:
    """Return the picture as an ``<svg>`` element that stands alone."""
    size = f'viewBox="0 0 {picture.width:g} {picture.height:g}" width="{picture.width:g}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="system-ui, sans-serif">',
        f"<title>{escape(picture.title)}</title>",
        *(_element(shape) for shape in picture.shapes),
        "</svg>",
    ]
    return "\n".join(parts)


def png(picture: Picture) -> bytes:
    """Return the picture as a PNG, two pixels for one. Raises UsageError where Pillow is not installed."""
    try:
        from PIL import Image, ImageDraw
    except ImportError as error:
        raise UsageError("--png needs Pillow, which is not installed", "pip install 'rag-index[png]'") from error
    size = (round(picture.width * SCALE), round(picture.height * SCALE))
    image = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(image, "RGBA")
    for shape in picture.shapes:
        _paint(draw, shape)
    buffer = BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def _element(shape: Shape) -> str:
    if isinstance(shape, Line):
        style = f'fill="none" stroke="{shape.colour}" stroke-width="{shape.width:g}"'
        return f'<polyline points="{_points(shape.points)}" {style}/>'
    if isinstance(shape, Area):
        return f'<polygon points="{_points(shape.points)}" fill="{shape.colour}" fill-opacity="{shape.opacity:g}"/>'
    if isinstance(shape, Dot):
        place = f'cx="{shape.at[0]:.1f}" cy="{shape.at[1]:.1f}" r="{shape.radius:g}"'
        return f'<circle {place} fill="{shape.colour}">{_title(shape.title)}</circle>'
    if isinstance(shape, Box):
        place = f'x="{shape.at[0]:.1f}" y="{shape.at[1]:.1f}" width="{shape.size[0]:.1f}" height="{shape.size[1]:.1f}"'
        border = f' stroke="{shape.border}" stroke-width="2"' if shape.border else ""
        return f'<rect {place} fill="{shape.colour}"{border}>{_title(shape.title)}</rect>'
    place = f'x="{shape.at[0]:.1f}" y="{shape.at[1]:.1f}" text-anchor="{shape.anchor}" font-size="{shape.size:g}"'
    bold = ' font-weight="600"' if shape.bold else ""
    return f'<text {place} fill="{shape.colour}"{bold}>{escape(shape.text)}</text>'


def _title(text: str) -> str:
    return f"<title>{escape(text)}</title>" if text else ""


def _points(points: Sequence[Point]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _paint(draw: ImageDraw, shape: Shape) -> None:
    if isinstance(shape, Line):
        draw.line([_big(point) for point in shape.points], shape.colour, round(shape.width * SCALE), joint="curve")
    elif isinstance(shape, Area):
        draw.polygon([_big(point) for point in shape.points], shape.colour + f"{round(shape.opacity * 255):02x}")
    elif isinstance(shape, Dot):
        x, y = _big(shape.at)
        reach = shape.radius * SCALE
        draw.ellipse((x - reach, y - reach, x + reach, y + reach), shape.colour)
    elif isinstance(shape, Box):
        x, y = _big(shape.at)
        right, bottom = x + shape.size[0] * SCALE, y + shape.size[1] * SCALE
        draw.rectangle((x, y, right, bottom), shape.colour, shape.border or None, 2 * SCALE if shape.border else 0)
    else:
        anchor = {"start": "ls", "middle": "ms", "end": "rs"}[shape.anchor]
        weight = 1 if shape.bold else 0
        draw.text(_big(shape.at), shape.text, shape.colour, _font(shape.size), anchor=anchor, stroke_width=weight)


def _font(size: float) -> Any:  # noqa: ANN401 (Pillow's two kinds of font have no type in common)
    from PIL import ImageFont

    return ImageFont.load_default(round(size * SCALE))


def _big(point: Point) -> Point:
    return (point[0] * SCALE, point[1] * SCALE)
