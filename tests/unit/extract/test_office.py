"""Word, PowerPoint, spreadsheets, books: what the programs show, each thing once, with its place."""

import pytest

from rag_index.extract.positions import heading_path, locate
from rag_index.types import Document, Status
from tests.unit.extract.samples import STRICT, docx, epub, extract, para, pptx, rels, shape_of, xlsx, zipped


def roles(document: Document, kind: str) -> list[tuple[str, str]]:
    return [(document.text[b.start : b.end], b.role) for b in document.blocks if b.kind == kind]


def box(text: str) -> str:
    content = f"<w:txbxContent>{para(text)}</w:txbxContent>"
    both = f"<mc:Choice>{content}</mc:Choice><mc:Fallback>{content}</mc:Fallback>"
    return f"<w:r><mc:AlternateContent>{both}</mc:AlternateContent></w:r>"


def table(*rows: str) -> str:
    return "<w:tbl>" + "".join(f"<w:tr>{row}</w:tr>" for row in rows) + "</w:tbl>"


def cell(text: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{para(text)}</w:tc>"


@pytest.mark.parametrize("namespace", [STRICT, "http://schemas.openxmlformats.org/wordprocessingml/2006/main"])
def test_word_headings_give_the_heading_path(namespace: str) -> None:
    body = (
        para("Guide", '<w:pStyle w:val="Heading1"/>')
        + para("Install", '<w:outlineLvl w:val="1"/>')
        + para("Unpack it.")
        + para("Use", '<w:pStyle w:val="Custom"/>')
        + para("Start it.")
    )
    style = '<w:style w:styleId="Custom"><w:basedOn w:val="Heading1"/></w:style>'
    document = extract(
        docx(
            body,
            {"word/styles.xml": f"<w:styles ROOT>{style}</w:styles>"},
            namespace=namespace,
            related=[("s", "styles", "styles.xml")],
        ),
        "a.docx",
    )
    assert heading_path(document, document.text.index("Unpack")) == ("Guide", "Install")
    assert heading_path(document, document.text.index("Start")) == ("Use",)


def test_word_shows_text_boxes_once_and_what_was_deleted_never() -> None:
    body = (
        f"<w:p><w:r><w:t>Beside the box.</w:t></w:r>{box('In the box.')}</w:p>"
        "<w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:ins><w:r><w:t>stays</w:t></w:r></w:ins>"
        "<w:r><w:tab/><w:t>tab</w:t><w:br/><w:t>line</w:t><w:instrText>PAGE</w:instrText></w:r></w:p>"
        "<w:sdt><w:sdtContent>" + para("controlled") + "</w:sdtContent></w:sdt>"
    )
    document = extract(docx(body), "a.docx")
    assert document.text == "Beside the box.\n\nIn the box.\n\nstays\ttab\nline\n\ncontrolled"


def test_word_notes_stand_after_their_paragraph_and_headers_are_furniture() -> None:
    body = (
        '<w:p><w:r><w:t>With a note</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r>'
        '<w:r><w:commentReference w:id="0"/></w:r></w:p>' + para("next")
    )
    parts = {
        "word/footnotes.xml": f'<w:footnotes ROOT><w:footnote w:id="0" w:type="separator">{para("---")}</w:footnote>'
        f'<w:footnote w:id="2">{para("the note")}</w:footnote></w:footnotes>',
        "word/comments.xml": f'<w:comments ROOT><w:comment w:id="0" w:author="Ann">{para("really?")}'
        "</w:comment></w:comments>",
        "word/h1.xml": f"<w:hdr ROOT>{para('Company')}</w:hdr>",
        "word/h2.xml": f"<w:hdr ROOT>{para('Company')}</w:hdr>",
        "word/f1.xml": f"<w:ftr ROOT>{para('Page')}</w:ftr>",
    }
    related = [("a", "footnotes", "footnotes.xml"), ("b", "comments", "comments.xml"), ("c", "header", "h1.xml")]
    related += [("d", "header", "h2.xml"), ("e", "footer", "f1.xml")]
    document = extract(docx(body, parts, related=related), "a.docx")
    assert document.text.split("\n\n") == ["Company", "With a note", "the note", "really?", "next", "Page"]
    assert roles(document, "header") == [("Company", "furniture")]
    assert roles(document, "footer") == [("Page", "furniture")]
    assert [block.label for block in document.blocks if block.kind == "note"] == ["footnote 2", "comment by Ann"]
    assert locate(document, document.text.index("really"), len(document.text)).label == "comment by Ann"


def test_a_word_row_is_a_line_and_a_merged_cell_comes_once() -> None:
    body = para("before") + table(
        cell("a") + cell("b"),
        cell("down", '<w:vMerge w:val="restart"/>') + cell("c d"),
        cell("never shown", "<w:vMerge/>") + f"<w:tc>{table(cell('inner'))}{para('')}</w:tc>",
    )
    document = extract(docx(body + para("after")), "a.docx")
    assert document.text == "before\n\na\tb\ndown\tc d\ninner\n\nafter"
    assert [block.label for block in document.blocks if block.kind == "row"][1] == "table 1, row 2"


def test_hidden_word_text_is_flagged_dropped_or_kept() -> None:
    body = "<w:p><w:r><w:t>seen </w:t></w:r><w:r><w:rPr><w:vanish/></w:rPr><w:t>unseen</w:t></w:r></w:p>"
    assert roles(extract(docx(body), "a.docx"), "hidden") == [("unseen", "hidden")]
    assert extract(docx(body), "a.docx", hidden_text="drop").text == "seen"
    assert roles(extract(docx(body), "a.docx", hidden_text="keep"), "hidden") == []


def test_word_lists_and_titles() -> None:
    body = para("Report", '<w:pStyle w:val="Title"/>') + para("one", "<w:numPr/>") + para("two", "<w:numPr/>")
    document = extract(docx(body), "a.docx")
    assert document.text == "Report\none\ntwo"
    assert [text for text, _ in roles(document, "item")] == ["one", "two"]


def test_slides_come_in_order_with_tables_groups_and_notes() -> None:
    grouped = f"<p:grpSp>{shape_of('in a group')}</p:grpSp>"
    frame = (
        "<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tr>"
        "<a:tc><a:txBody><a:p><a:r><a:t>x</a:t></a:r></a:p></a:txBody></a:tc>"
        '<a:tc hMerge="1"><a:txBody><a:p><a:r><a:t>merged</a:t></a:r></a:p></a:txBody></a:tc>'
        "<a:tc><a:txBody><a:p><a:r><a:t>y</a:t></a:r></a:p></a:txBody></a:tc>"
        "</a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>"
    )
    first = (
        "|" + shape_of("Plan", '<p:ph type="title"/>') + shape_of("one\ntwo") + shape_of("7", '<p:ph type="sldNum"/>')
    )
    document = extract(
        pptx(first, "|" + grouped + frame, 'show="0"|' + shape_of("skipped"), notes={0: "say this"}), "a.pptx"
    )
    assert document.text == "Plan\n\none\ntwo\n\n7\n\nsay this\n\nin a group\n\nx\ty\n\nskipped"
    assert [block.label for block in document.blocks if block.kind == "slide"] == ["slide 1", "slide 2", "slide 3"]
    assert roles(document, "slide")[2] == ("skipped", "hidden")
    place = locate(document, document.text.index("two"), document.text.index("two") + 3)
    assert (place.label, place.page, place.heading) == ("slide 1", 1, ("Plan",))
    assert locate(document, document.text.index("say"), len(document.text)).label == "notes of slide 1"
    assert locate(document, document.text.index("group"), len(document.text)).page == 2
    assert (
        "skipped"
        not in extract(pptx('show="0"|' + shape_of("skipped"), "|" + shape_of("x")), "a.pptx", hidden_text="drop").text
    )


def test_other_frames_of_a_slide_give_their_text() -> None:
    inner = "<a:p><a:r><a:t>in a diagram</a:t><a:br/></a:r></a:p>"
    chart = f"<p:graphicFrame><a:graphic><a:graphicData>{inner}</a:graphicData></a:graphic></p:graphicFrame>"
    assert extract(pptx("|" + chart), "a.pptx").text == "in a diagram"


def test_sheet_rows_stand_alone_with_their_header_and_range() -> None:
    cells = [("B2", "Name"), ("C2", "Price"), ("B3", "Pump"), ("C3", 12.5), ("C5", 3)]
    document = extract(xlsx(("Parts", cells), ("Notes", [("A1", "only this")])), "a.xlsx")
    assert document.text == "Parts\n\nName\tPrice\nName: Pump; Price: 12.5\nPrice: 3\n\nNotes\n\nonly this"
    labels = [block.label for block in document.blocks if block.kind == "row"]
    assert labels == ["Parts!B2:C2", "Parts!B3:C3", "Parts!C5", "Notes!A1"]
    place = locate(document, document.text.index("Pump"), document.text.index("12.5"))
    assert (place.label, place.link, place.heading) == ("Parts!B3:C3", "a.xlsx#Parts!B3:C3", ("Parts",))


def test_numbers_are_no_header_and_hidden_sheets_are_flagged() -> None:
    numbers = [("A1", 1), ("B1", 2), ("A2", 3), ("B2", 4)]
    document = extract(xlsx(("Data", numbers), ("Secret", [("A1", "pay")]), hidden=("Secret",)), "a.xlsx")
    assert document.text.startswith("Data\n\n1\t2\n3\t4")
    assert roles(document, "sheet")[1] == ("Secret\n\npay", "hidden")
    dropped = extract(
        xlsx(("Data", numbers), ("Secret", [("A1", "pay")]), hidden=("Secret",)), "a.xlsx", hidden_text="drop"
    )
    assert "pay" not in dropped.text


def test_cells_read_as_people_read_them() -> None:
    import datetime as dt

    from rag_index.extract.sheets import column_name, shown

    midnight = dt.datetime(2024, 5, 6)  # noqa: DTZ001 (spreadsheets know no time zones)
    values = [True, 3.0, 2.5, "a\n b", midnight, midnight.replace(hour=7), dt.date(2024, 1, 2), ""]
    assert [shown(value) for value in values] == [
        "TRUE", "3", "2.5", "a b", "2024-05-06", "2024-05-06 07:00:00", "2024-01-02", "",
    ]  # fmt: skip
    assert [column_name(i) for i in (0, 25, 26, 701, 702)] == ["A", "Z", "AA", "ZZ", "AAA"]


def test_a_sheet_far_longer_than_the_limit_is_cut_and_said() -> None:
    cells = [(f"A{row}", f"word{row}") for row in range(1, 200)]
    document = extract(xlsx(("S", cells)), "a.xlsx", max_text=100)
    assert (document.status, len(document.text)) == (Status.PARTIAL, 100)
    assert all(block.end <= 100 for block in document.blocks)


def test_a_book_is_read_in_the_order_of_its_spine() -> None:
    chapters = {
        "two.xhtml": "<html><head><style>p {color: red}</style></head><body><h1>Two</h1><p>second</p></body></html>",
        "one.xhtml": "<html><head><title>Part One</title></head><body><p>first</p></body></html>",
        "empty.xhtml": "<html><body></body></html>",
        "gone.xhtml": "",
    }
    document = extract(epub(chapters, spine=["one.xhtml", "two.xhtml", "empty.xhtml", "gone.xhtml"]), "a.epub")
    assert document.text == "first\n\nTwo\n\nsecond"
    assert document.meta == {"title": "A Book", "language": "en"}
    assert heading_path(document, 0) == ("Part One",)
    assert heading_path(document, document.text.index("second")) == ("Two",)
    assert locate(document, document.text.index("second"), len(document.text)).label == "Two"
    assert [warn.code for warn in document.warnings] == ["missing_parts"]


def test_a_locked_book_is_encrypted() -> None:
    locked = '<encryption><CipherReference URI="OPS/one.xhtml"/></encryption>'
    document = extract(epub({"one.xhtml": "<p>x</p>"}, extra={"META-INF/encryption.xml": locked}), "a.epub")
    assert (document.status, document.reason) == (Status.ENCRYPTED, "its chapters are locked (DRM)")


def test_documents_without_text_say_so() -> None:
    for data, name in ((docx(""), "a.docx"), (pptx("|"), "a.pptx"), (epub({"a.xhtml": "<p></p>"}), "a.epub")):
        document = extract(data, name)
        assert (document.status, document.reason) == (Status.NO_TEXT, "it holds no text")


def test_properties_become_metadata() -> None:
    core = "<cp xmlns:dc='d'><dc:title>The\x09Plan</dc:title><dc:creator>Ann</dc:creator><other>x</other></cp>"
    parts = {
        "_rels/.rels": rels(
            ("r1", "officeDocument", "word/document.xml"), ("r2", "core-properties", "docProps/core.xml")
        ),
        "word/document.xml": "<document><body><p><r><t>x</t></r></p></body></document>",
        "docProps/core.xml": core,
    }
    assert extract(zipped(parts), "a.docx").meta == {"title": "The Plan", "author": "Ann"}
