"""Pages of a PDF as pictures: the blocks of one, and a page with a place marked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image

from rag_index.cli.app import main
from tests.unit.extract.samples import lines, pdf

BLUE, PAGE_PT = (40, 90, 220), (300, 400)


@pytest.fixture
def report(docs: Path) -> Path:
    path = docs / "report.pdf"
    path.write_bytes(pdf(lines("first page"), lines("the warranty lasts two years", "and no longer")))
    return path


def shaded(path: Path) -> list[tuple[float, float]]:
    """Return where a picture of a page is yellow, in points from its lower left corner."""
    image = Image.open(path).convert("RGB")
    scale = image.width / PAGE_PT[0]
    pixels = [(x, y) for x in range(image.width) for y in range(image.height)]
    return [
        (x / scale, PAGE_PT[1] - y / scale)
        for x, y in pixels
        if image.getpixel((x, y))[2] < 150 < image.getpixel((x, y))[0]
    ]


def test_the_blocks_of_a_page_are_drawn(report, capsys) -> None:
    assert main(["extract", "docs/report.pdf", "--render", "page.png", "--page", "2"]) == 0
    out, err = capsys.readouterr()
    assert "the warranty lasts two years" in out
    assert err == "wrote page.png\n"
    assert BLUE in {colour for _, colour in Image.open("page.png").convert("RGB").getcolors(1 << 24)}


def test_a_place_is_marked_on_its_page(report, capsys) -> None:
    assert main(["extract", "docs/report.pdf", "--json"]) == 0
    start = json.loads(capsys.readouterr().out)["text"].index("warranty")
    assert main(["show", "docs/report.pdf", "--start", str(start), "--end", str(start + 8), "--png", "out.png"]) == 0
    assert capsys.readouterr().err == "wrote out.png\n"
    yellow = shaded(Path("out.png"))
    assert yellow
    # Helvetica 12 from x = 30, y = 350: "the " is 20 points wide, "warranty" 45.4.
    assert all(49 < x < 97 and 345 < y < 362 for x, y in yellow)


def test_a_page_is_marked_whole(report) -> None:
    assert main(["show", "docs/report.pdf", "--page", "2", "--png", "out.png"]) == 0
    assert len(shaded(Path("out.png"))) > 1000


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["extract", "docs/report.pdf", "--render", "page.png", "--page", "3"], "docs/report.pdf has no page 3"),
        (["extract", "docs/guide.md", "--render", "page.png"], "docs/guide.md is not a PDF with text"),
        (["extract", "docs/report.pdf", "--render", "no/page.png"], "can't write no/page.png: No such file"),
        (["show", "docs/guide.md:3", "--png", "out.png"], "docs/guide.md is not a PDF with text"),
    ],
)
def test_what_cannot_be_drawn_is_an_error(report, arguments: list[str], error: str, capsys) -> None:
    assert main(arguments) == 2
    assert error in capsys.readouterr().err
    assert not Path("page.png").exists()
