"""The HTML page: everything escaped, marks where they belong, PDF pages as pictures."""

import re
from html.parser import HTMLParser

from rag_index.search import as_page, document_page
from rag_index.types import Document, Source, Span

NASTY = (
    "<script>alert(1)</script> & &lt;b&gt; \"quoted\" 'single' \x00\x1b[31m pump\r\n\r\n"
    "</span></body> The pump costs <b>5</b> euros.\n"
)


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.marked, self.text, self.inside = [], [], "", False

    def handle_starttag(self, tag, _attrs):
        self.tags.append(tag)
        self.inside = tag == "mark"

    def handle_endtag(self, tag):
        self.inside = self.inside and tag != "mark"

    def handle_data(self, data):
        self.text += data
        if self.inside:
            self.marked.append(data)


def parsed(page):
    tags = Tags()
    tags.feed(page)
    return tags


def test_documents_full_of_markup_show_as_text(index_of, ask):
    snapshot = index_of({"a<b>.txt": NASTY})
    passages = ask(snapshot, 'what does the <script>"pump"</script> cost?')
    page = as_page(snapshot, 'what does the <script>"pump"</script> cost?', passages)
    tags = parsed(page)
    assert "script" not in tags.tags
    assert "b" not in tags.tags
    assert "<script>alert(1)</script>" in tags.text
    assert "&lt;b&gt;" in tags.text
    assert "pump" in tags.marked
    assert "\x00" not in page
    assert "\x1b" not in page


def test_the_page_loads_nothing_and_runs_nothing(index_of, ask):
    snapshot = index_of({"a.txt": NASTY})
    page = as_page(snapshot, "pump", ask(snapshot, "pump"))
    assert "default-src 'none'" in page
    assert not re.search(r"<script|<link|src=|url\(|@import|https?://", page.replace("&lt;script", ""))
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page


def test_a_page_without_passages_says_so(index_of):
    assert "No passages found." in as_page(index_of({"a.txt": "x"}), "pump", [])


def test_a_document_is_shown_around_a_place():
    document = Document(Source("a.txt"), text="x" * 2000 + " here " + "y" * 2000)
    page = document_page(document, Span(2001, 2005))
    assert "<mark>here</mark>" in page
    assert "… x" in page
    assert "y …" in page


def test_pdf_pages_are_pictures_with_a_frame_around_each_line(tmp_path, embedder, ask):
    from reportlab.pdfgen.canvas import Canvas

    from rag_index.pipeline import build
    from rag_index.settings import EmbedSettings, Settings, StoreSettings
    from rag_index.store import open_snapshot

    (tmp_path / "docs").mkdir()
    canvas = Canvas(str(tmp_path / "docs" / "a.pdf"), pagesize=(300, 200))
    canvas.drawString(40, 150, "The pump has a warranty of two years.")
    canvas.save()
    settings = Settings(embed=EmbedSettings(model="hash"), store=StoreSettings(publish=False))
    build([tmp_path / "docs"], tmp_path / "index", settings, embedder=embedder)
    with open_snapshot(tmp_path / "index") as snapshot:
        passages = ask(snapshot, "warranty", limit=1)
        page = as_page(snapshot, "warranty", passages)
        (tmp_path / "docs" / "a.pdf").write_bytes(b"no pdf any more")
        without = as_page(snapshot, "warranty", passages)
    frame = re.search(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"', page)
    x, y, width, height = map(float, frame.groups())
    assert 30 < x <= 40
    assert y < 50 < y + height  # the base line lies 50 points below the top
    assert 150 < width < 260
    assert "data:image/png;base64,iVBOR" in page
    assert "<svg" not in without
    assert "<mark>warranty</mark>" in without
