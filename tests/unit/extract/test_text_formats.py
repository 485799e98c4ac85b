"""Text, code, Markdown, HTML, tables, notebooks, mail: text, blocks and places."""

import json

import pytest

from rag_index.extract.positions import heading_path, locate
from rag_index.types import Document, Status
from tests.unit.extract.samples import extract


def of_kind(document: Document, kind: str) -> list[str]:
    return [document.text[block.start : block.end] for block in document.blocks if block.kind == kind]


MARKDOWN = """---
title: The Manual
tags: [a, b]
---
# Guide

Intro *text*.

## `Install` it [now](x) {#now}

- one
- two

```sh
# no heading
make
```

| a | b |
|---|---|
| 1 | 2 |

<!-- a note to the editor -->

## Use

> # quoted

End.
"""


def test_markdown_gives_headings_code_tables_and_metadata() -> None:
    document = extract(MARKDOWN, "a.md")
    at = document.text.index
    assert document.text == MARKDOWN
    assert document.meta["title"] == "The Manual"
    assert heading_path(document, at("Intro")) == ("Guide",)
    assert heading_path(document, at("make")) == ("Guide", "Install it now")
    assert heading_path(document, at("End.")) == ("Guide", "Use")
    assert of_kind(document, "code") == ["```sh\n# no heading\nmake\n```"]
    assert of_kind(document, "item") == ["- one", "- two"]
    assert of_kind(document, "row") == ["| a | b |", "| 1 | 2 |"]
    assert [block.role for block in document.blocks if block.kind == "html"] == ["hidden"]
    assert locate(document, at("make"), at("make") + 4).label == "L16"


def test_comments_of_markdown_are_body_when_hidden_text_is_kept() -> None:
    document = extract(MARKDOWN, "a.md", hidden_text="keep")
    assert {block.role for block in document.blocks} == {"body"}


def test_markdown_with_any_newline_has_the_same_blocks() -> None:
    plain = extract(MARKDOWN, "a.md")
    for newline in ("\r\n", "\r"):
        other = extract(MARKDOWN.replace("\n", newline), "a.md")
        assert [(b.kind, b.label) for b in other.blocks] == [(b.kind, b.label) for b in plain.blocks]
        assert heading_path(other, other.text.index("make")) == ("Guide", "Install it now")


CODE = '''import os


class Pump:
    """A pump."""

    @property
    def rate(self):
        return 1

    async def start(self):
        def inner():
            pass

        return inner


def main():
    Pump()
'''


def test_python_definitions_nest() -> None:
    document = extract(CODE, "pump.py")
    assert heading_path(document, document.text.index("return 1")) == ("Pump", "rate")
    assert heading_path(document, document.text.index("pass")) == ("Pump", "start", "inner")
    assert heading_path(document, document.text.index("Pump()")) == ("main",)
    assert heading_path(document, 0) == ()
    assert document.source.format == "python"


@pytest.mark.parametrize(
    ("name", "code", "path"),
    [
        ("a.js", "export class A {\n  x() {}\n}\nexport default function run(a)\n{\n  HERE\n}\n", ("run",)),
        ("a.go", "package x\n\nfunc (p *Pump) Start() {\n\tHERE\n}\n", ("Start",)),
        ("a.rs", "pub(crate) fn go() -> u8 {\n    HERE\n}\n", ("go",)),
        ("a.java", "public class A {\n    interface B {\n        HERE\n    }\n}\n", ("A", "B")),
        ("a.rb", "module M\n  def go\n    HERE\n  end\nend\n", ("M", "go")),
    ],
)
def test_definitions_of_other_languages(name: str, code: str, path: tuple[str, ...]) -> None:
    document = extract(code, name)
    assert heading_path(document, code.index("HERE")) == path


def test_restructured_text_titles() -> None:
    text = (
        "=====\nGuide\n=====\n\nIntro\n\nInstall\n-------\n\nunpack\n\nMore\n~~~~\n\ndeep\n\nUse\n---\n\nrun\n\n=====\n"
    )
    document = extract(text, "a.rst")
    assert heading_path(document, text.index("unpack")) == ("Guide", "Install")
    assert heading_path(document, text.index("deep")) == ("Guide", "Install", "More")
    assert heading_path(document, text.index("run")) == ("Guide", "Use")


def test_an_underline_is_not_the_overline_of_the_next_title() -> None:
    titles = [block for block in extract("one\n===\ntwo\n===\n", "a.rst").blocks if block.kind == "heading"]
    assert [(block.label, block.start, block.end, block.level) for block in titles] == [
        ("one", 0, 7, 1),
        ("two", 8, 15, 1),
    ]


PAGE = """<!DOCTYPE html><html lang="en"><head><title>The &amp; Page</title><meta name="author" content="Ann">
<style>p { color: red }</style><script>var x = "no";</script></head>
<body><header>Site name</header><nav><a>Home</a> <a>About</a></nav>
<div hidden>secret</div><span style="display: none">unseen</span>
<h1>Pumps</h1><p>First&nbsp;paragraph
   with   blanks.<br>Next line<p>Second &lt;one&gt;.
<ul><li>one<li>two</ul>
<table><tr><th>a</th><th>b</th></tr><tr><td>1<td>2</tr></table>
<h2>Care</h2><pre>  keep
  this</pre><template>never</template>
<footer>Copyright</footer></body></html>"""


def test_html_gives_what_is_seen_and_marks_the_rest() -> None:
    document = extract(PAGE, "a.html")
    hidden = [document.text[b.start : b.end] for b in document.blocks if b.role == "hidden"]
    furniture = [document.text[b.start : b.end] for b in document.blocks if b.role == "furniture"]
    assert document.text == (
        "Site name\nHome About\nsecret\nunseen\n\nPumps\n\nFirst\u00a0paragraph with blanks.\nNext line\n\n"
        "Second <one>.\n\none\ntwo\n\na\tb\n1\t2\n\nCare\n\n  keep\n  this\n\nCopyright"
    )
    assert hidden == ["secret", "unseen"]
    assert furniture == ["Site name", "Home About", "Copyright"]
    assert document.meta == {"language": "en", "author": "Ann", "title": "The & Page"}
    assert heading_path(document, document.text.index("keep")) == ("Pumps", "Care")
    assert of_kind(document, "row") == ["a\tb", "1\t2"]


def test_places_in_html_are_lines_of_the_source_and_a_link_to_the_words() -> None:
    document = extract(PAGE, "a b.html")
    start = document.text.index("Second")
    place = locate(document, start, start + 6)
    assert (place.line, PAGE.splitlines()[place.line - 1][place.column - 1 :][:6]) == (6, "Second")
    assert place.link == "a%20b.html#:~:text=Second"
    long = locate(document, 0, len(document.text))
    assert long.link.endswith(
        ":~:text=Site%20name%20Home%20About,keep%20this%20Copyright".replace("keep", "Care%20keep")
    )
    assert long.label == "L3-11"


def test_hidden_html_is_dropped_or_kept_as_asked() -> None:
    assert "secret" not in extract(PAGE, "a.html", hidden_text="drop").text
    assert not [b for b in extract(PAGE, "a.html", hidden_text="keep").blocks if b.role == "hidden"]


@pytest.mark.parametrize("tag", ["main", "article"])
def test_the_main_part_of_a_page_is_its_body(tag: str) -> None:
    source = f"<div>Menu</div><{tag}><header><h1>Title</h1></header>{'long text ' * 9}</{tag}><div>Related</div>"
    document = extract(f"<html>{source}", "a.html")
    furniture = [document.text[b.start : b.end].strip() for b in document.blocks if b.role == "furniture"]
    assert furniture == ["Menu", "Related"]


def test_an_almost_empty_main_part_is_not_all_there_is() -> None:
    document = extract(f"<html><main>x</main><div>{'the real text ' * 9}</div>", "a.html")
    assert {block.role for block in document.blocks} <= {"body"}


def test_broken_html_is_read_as_browsers_would() -> None:
    document = extract("<html><p>one</b><div>two</p></div></section>three<p/>four &copy2024 &#0; &bogus; <", "a.html")
    assert " ".join(document.text.split()) == "one two three four ©2024 \ufffd &bogus; <"
    assert extract("<html><body><img></body></html>", "a.html").status is Status.NO_TEXT


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("a < b & c<d", "a < b & c<d"),
        ("x &# y &#x z &; <", "x &# y &#x z &; <"),
        ('<p "one>two<p>three', "two\n\nthree"),
        ("one</p class='>'>two</p 'x>three", "onetwothree"),
        ("one<!-- > --><? two > three<!-- four", "one three"),
        ("<ul><li><p>one<li><p>two</ul>", "one\n\ntwo"),
        ("<table><tr><TD>one<td>two</TD></table>", "one\ttwo"),
        ("one &amp; two&nbsp;three <b> four</b>\r\n five", "one & two\u00a0three four five"),
        ("<template>one</template>two<textarea> three </textarea>", "two three "),
    ],
)
def test_markup_that_is_not_quite_html_costs_no_text(source: str, text: str) -> None:
    document = extract(f"<html>{source}", "a.html")
    assert document.text == text


def test_list_items_end_the_paragraphs_in_them() -> None:
    blocks = extract("<ul><li><p>one<li><p>two</ul>", "a.html").blocks
    assert [(block.kind, block.start, block.end) for block in blocks] == [
        ("item", 0, 3),
        ("paragraph", 0, 3),
        ("item", 5, 8),
        ("paragraph", 5, 8),
    ]


def test_xhtml_and_html_without_a_telling_name() -> None:
    assert extract('<?xml version="1.0"?>\n<html><body><a/><p>x</p></body></html>', "page").source.format == "html"
    assert extract("<!doctype html><p>x", "page.txt").source.format == "html"


def test_csv_keeps_the_file_and_knows_its_rows() -> None:
    text = 'name,note\r\nAnn,"two\r\nlines"\r\n\r\nBob,x\r\n'
    document = extract(text, "a.csv")
    assert document.text == text
    assert of_kind(document, "row") == ["name,note", 'Ann,"two\r\nlines"', "Bob,x"]
    assert [block.label for block in document.blocks if block.kind == "table"] == ["name,note"]
    assert locate(document, text.index("Bob"), text.index("Bob") + 3).label == "L5"


def test_a_quote_that_never_closes_is_one_row() -> None:
    assert of_kind(extract('a,b\n"c,d\ne,f\n', "a.csv"), "row") == ["a,b", '"c,d\ne,f\n']


def test_records_and_cues() -> None:
    assert of_kind(extract('{"a": 1}\n{"b": 2}\n', "a.jsonl"), "row") == ['{"a": 1}', '{"b": 2}']
    subtitles = "1\n00:00:01,000 --> 00:00:02,000\nHello\nthere\n\n2\n00:00:03,000 --> 00:00:04,000\nBye\n"
    document = extract(subtitles, "a.srt")
    assert [block.label for block in document.blocks] == ["00:00:01,000", "00:00:03,000"]
    assert document.text == subtitles


def notebook(*cells: dict) -> str:
    return json.dumps({"cells": list(cells), "metadata": {"language_info": {"name": "python"}}})


def test_notebook_cells_with_headings_and_outputs() -> None:
    data = notebook(
        {"cell_type": "markdown", "source": ["# Title\n", "words"]},
        {
            "cell_type": "code",
            "source": "def f():\n    return 1",
            "outputs": [{"text": ["7\n"]}, {"data": {"text/plain": "'x'", "image/png": "AAAA"}}, "odd"],
        },
        {"cell_type": "raw", "source": "\ud800\x00raw\r\n"},
        {"cell_type": "markdown", "source": "## More\n\nend"},
    )
    document = extract(data, "a.ipynb")
    assert document.text == "# Title\nwords\n\ndef f():\n    return 1\n\n7\n\n'x'\n\n\ufffdraw\n\n\n## More\n\nend"
    assert [b.role for b in document.blocks if b.kind == "output"] == ["furniture", "furniture"]
    assert heading_path(document, document.text.index("return")) == ("Title", "f")
    assert heading_path(document, document.text.index("end")) == ("Title", "More")
    assert locate(document, document.text.index("return"), len(document.text)).label == "cell 2"
    assert document.meta == {"code_language": "python"}


@pytest.mark.parametrize(
    ("data", "reason"),
    [("[1]", "not a notebook: its JSON is no object"), ("{", "not valid JSON"), ("[" * 100_000, "not valid JSON")],
)
def test_what_is_no_notebook_is_damaged(data: str, reason: str) -> None:
    document = extract(data, "a.ipynb")
    assert document.status is Status.DAMAGED
    assert document.reason.startswith(reason)


MAIL = b"""From: =?utf-8?q?Ren=C3=A9?= <rene@example.org>
To: ann@example.org
Subject: =?iso-8859-1?q?R=E9union?=
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=B

--B
Content-Type: multipart/alternative; boundary=C

--C
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: base64

Qm9uam91ciDDoCB0b3Vz
--C
Content-Type: text/html

<p>not this one</p>
--C--
--B
Content-Type: application/pdf; name="plan.pdf"
Content-Disposition: attachment; filename="plan.pdf"

%PDF
--B
Content-Type: message/rfc822

Subject: Inner
Content-Type: text/html

<h1>Head</h1><p>inner text</p><script>no</script>
--B--
"""


def test_mail_gives_headers_and_body_and_names_attachments() -> None:
    document = extract(MAIL, "a.eml")
    assert document.text == (
        "Subject: Réunion\nFrom: René <rene@example.org>\nTo: ann@example.org\n\nBonjour à tous\n\n"
        "Subject: Inner\n\nHead\n\ninner text"
    )
    assert document.meta["subject"] == "Réunion"
    assert [warn.message for warn in document.warnings] == ["1 attachments were not read: plan.pdf"]
    place = locate(document, document.text.index("inner text"), len(document.text))
    assert (place.label, place.heading) == ("Inner", ("Réunion", "Inner", "Head"))


def test_a_mailbox_is_its_messages() -> None:
    one = b"From ann Mon Jan  1 10:00:00 2024\nSubject: First\n\nFrom here on it is text.\n\n"
    two = b"From bob Tue Jan  2 10:00:00 2024\nContent-Type: text/plain; charset=bogus\n\n"
    two += b"caf\xe9 au lait, d\xe9j\xe0 vu\n"
    document = extract(one + two, "a.mbox")
    assert [block.label for block in document.blocks if block.kind == "message"] == ["First", "(no subject)"]
    assert "From here on" in document.text
    assert "café" in document.text
    assert extract(b"Subject: x\n\nno separator\n", "a.mbox").text == "Subject: x\n\nno separator"


def test_endless_forwarding_ends() -> None:
    data = b"Subject: deep\n\nend"
    for _ in range(40):
        data = b"Subject: f\nContent-Type: message/rfc822\n\n" + data
    document = extract(data, "a.eml")
    assert document.status is Status.OK
    assert document.text.count("Subject") < 20
