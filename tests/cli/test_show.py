from __future__ import annotations

import json
import os
from html.parser import HTMLParser
from pathlib import Path

import pytest

from rag_index.cli.app import main


def test_a_line_is_shown_with_the_lines_around_it(docs, snapshot, capsys) -> None:
    assert main(["show", "docs/guide.md:7", "-C", "2"]) == 0
    snapshot(capsys.readouterr().out, "show_line.txt")


def test_characters_are_marked_across_lines(docs, snapshot, capsys) -> None:
    text = (docs / "guide.md").read_text()
    start, end = text.index("twelve"), text.index(" on the day")
    assert main(["show", "docs/guide.md", "--start", str(start), "--end", str(end), "--lines", "1"]) == 0
    snapshot(capsys.readouterr().out, "show_characters.txt")


def test_without_a_place_the_whole_document_is_shown(docs, capsys) -> None:
    assert main(["show", "docs/guide.md"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "docs/guide.md"
    assert lines[1] == " 1   # Pump guide"
    assert len(lines) == 1 + len((docs / "guide.md").read_text().splitlines())


def test_the_json_gives_the_text_and_the_place(docs, capsys) -> None:
    assert main(["show", "docs/guide.md:7", "-C", "0", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    text = (docs / "guide.md").read_text()
    assert text[shown["start"] : shown["end"]] == shown["text"]
    assert shown["highlights"] == [{"start": shown["start"], "end": shown["end"]}]
    assert shown["location"] == {
        "label": "L7",
        "page": None,
        "line": 7,
        "end_line": 7,
        "heading": ["Pump guide", "Warranty"],
        "link": "docs/guide.md#L7",
    }


def test_the_index_shows_what_it_holds_though_the_file_has_changed(indexed, capsys) -> None:
    (indexed / "guide.md").write_text("quite new\n")
    assert main(["show", "docs/guide.md:7", "-C", "0"]) == 0
    assert "warranty of twelve months" in capsys.readouterr().out


def test_a_document_can_be_named_as_the_index_names_it(indexed, capsys) -> None:
    assert main(["show", "fr/garantie.md:3", "-C", "0", "--index", "docs/.rag-index"]) == 0
    assert "garantie douze mois" in capsys.readouterr().out


def test_a_file_outside_of_the_index_is_read(indexed, capsys) -> None:
    (indexed / "new.txt").write_text("not indexed yet\n")
    assert main(["show", "docs/new.txt:1"]) == 0
    assert capsys.readouterr().out == "docs/new.txt:1\n1 > not indexed yet\n"


@pytest.mark.parametrize(
    ("arguments", "code", "error", "hint"),
    [
        pytest.param(["docs/guide.md:99"], 2, "docs/guide.md has no line 99", "Choose a line from 1 to 12.", id="line"),
        pytest.param(["docs/guide.md:0"], 2, "docs/guide.md has no line 0", "Choose a line from 1 to 12.", id="line 0"),
        pytest.param(
            ["docs/guide.md", "--page", "2"], 2, "docs/guide.md has no page 2", "Name a line or characters.", id="page"
        ),
        pytest.param(
            ["docs/guide.md", "--start", "9", "--end", "9999"],
            2,
            "docs/guide.md has no characters 9 to 9999",
            "Choose --start and --end from 0 to 253.",
            id="characters",
        ),
        pytest.param(["docs/no.md:3"], 2, "no such file or folder: docs/no.md", "Check the path.", id="file"),
        pytest.param(
            ["guide.md", "--index", "nowhere"],
            3,
            "there is no index in nowhere",
            "Run: rag-index build PATH --index DIR",
            id="index",
        ),
    ],
)
def test_a_place_that_isnt_there_is_an_error(docs, arguments, code, error, hint, capsys) -> None:
    assert main(["show", *arguments]) == code
    assert capsys.readouterr() == ("", f"error: {error}\nhint: {hint}\n")


def test_a_name_that_the_index_doesnt_know_is_answered_with_the_nearest(indexed, capsys) -> None:
    assert main(["show", "fr/garanti.md", "--index", "docs"]) == 2
    error = "error: fr/garanti.md is neither a file nor a document of the index\nhint: Did you mean 'fr/garantie.md'?\n"
    assert capsys.readouterr() == ("", error)


MARKUP = """<script>alert("1")</script> &amp; &lt;b&gt;
<b>The</b> <script src='x.js'>pump</script> & costs &euro; 5 </p></body>
<img src=x onerror=alert(2)> \x1b[31m end
"""


class Page(HTMLParser):
    """The tags, the shown text and the marked text of a page."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = self.marked = ""
        self.feed(file.read_text())

    def handle_starttag(self, tag, _attrs) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag) -> None:
        self.tags.append(f"/{tag}")

    def handle_data(self, data) -> None:
        self.text += data
        self.marked += data if self.tags[-1:] == ["mark"] else ""


@pytest.mark.parametrize(("place", "marked"), [("docs/evil.txt:2", MARKUP.splitlines()[1]), ("docs/evil.txt", "")])
def test_a_page_shows_markup_in_a_document_as_text(docs, place, marked, capsys) -> None:
    (docs / "evil.txt").write_text(MARKUP)
    assert main(["show", place, "--html", "out.html"]) == 0
    assert capsys.readouterr().err == "wrote out.html\n"
    page = Page(Path("out.html"))
    assert MARKUP.replace("\x1b", "\ufffd") in page.text
    assert page.marked.rstrip("\n") == marked
    assert not {"script", "b", "img"} & set(page.tags)
    assert page.tags.count("/body") == 1


def test_a_page_of_a_file_whose_name_is_markup_or_no_text_shows_it(docs, capsys) -> None:
    names = [b"<script>x&amp;.txt", b"caf\xe9.txt"]
    for name in names:
        path = os.fsdecode(os.fsencode(docs) + b"/" + name)
        Path(path).write_text("pump\n")
        assert main(["show", path, "--html", "out.html"]) == 0
        assert "script" not in Page(Path("out.html")).tags
    assert "caf\ufffd.txt" in Path("out.html").read_text()


def test_a_page_that_cant_be_written_is_an_error(docs, capsys) -> None:
    assert main(["show", "docs/guide.md:7", "--html", "no/out.html"]) == 2
    error = "error: can't write no/out.html: No such file or directory\nhint: Name another file.\n"
    assert capsys.readouterr() == ("", error)
