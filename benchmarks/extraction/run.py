"""Extraction against named rivals, in one run, on the same bytes: ratios, because times depend on the machine.

    python benchmarks/extraction/run.py [--cases FOLDER] [--write]

Documents are made here (reportlab), and taken from FOLDER too where it is given. CPU time, the least of some rounds
in which the candidates take turns.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from io import BytesIO
from pathlib import Path

from rag_index.extract import Workers, discover, extract_bytes, read_document
from rag_index.settings import ExtractSettings

HERE = Path(__file__).parent
SETTINGS = ExtractSettings()
WORDS = [
    "the",
    "of",
    "and",
    "to",
    "in",
    "is",
    "that",
    "it",
    "for",
    "was",
    "on",
    "are",
    "as",
    "with",
    "his",
    "they",
    "at",
    "be",
    "this",
    "have",
    "from",
    "or",
    "one",
    "had",
    "by",
    "word",
    "but",
    "not",
    "what",
    "all",
    "were",
    "we",
    "when",
    "your",
    "can",
    "said",
    "there",
    "use",
    "an",
    "each",
    "which",
    "she",
    "do",
    "how",
    "their",
    "if",
    "will",
    "up",
    "other",
    "about",
    "out",
    "many",
    "then",
    "them",
    "these",
    "some",
    "her",
    "would",
    "make",
    "like",
    "him",
    "into",
    "time",
    "has",
    "look",
    "two",
    "more",
    "write",
    "go",
    "see",
    "number",
    "way",
    "could",
    "people",
    "than",
    "first",
    "water",
    "been",
    "call",
    "who",
    "oil",
    "its",
    "now",
    "find",
    "long",
    "down",
    "day",
    "did",
    "get",
    "come",
    "made",
    "may",
    "part",
]
SKIPPED = {"password.pdf", "empty.pdf", "ocr_test.pdf"}


def prose(choose: random.Random, count: int) -> str:
    return " ".join(choose.choices(WORDS, k=count)).capitalize() + "."


def report_pdf(paragraphs: int, seed: int) -> bytes:
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import Paragraph, SimpleDocTemplate, Table

    choose, file = random.Random(seed), BytesIO()
    styles = getSampleStyleSheet()
    story: list[object] = []
    for number in range(paragraphs):
        if number % 8 == 0:
            story.append(Paragraph(f"Section {number}", styles["Heading2"]))
        if number % 12 == 5:
            story.append(Table([[f"{a * b}.00" for b in range(1, 6)] for a in range(1, 8)]))
        story.append(Paragraph(prose(choose, 90), styles["BodyText"]))
    SimpleDocTemplate(file, invariant=1).build(story)
    return file.getvalue()


def web_page(seed: int) -> str:
    choose = random.Random(seed)
    parts = [
        f"<h2>Part {n}</h2><p>{prose(choose, 60)} <a href='/x?a=1&amp;b=2'>more</a> &amp; {prose(choose, 40)}</p>"
        f"<ul><li>{prose(choose, 8)}</li><li>{prose(choose, 9)}</li></ul>"
        for n in range(60)
    ]
    menu = "".join(f"<li><a href='/{n}'>{choose.choice(WORDS)}</a></li>" for n in range(40))
    return (
        f"<!doctype html><html><head><title>Page</title><style>p {{ margin: 0 }}</style></head><body><nav><ul>{menu}"
        f"</ul></nav><main><h1>Page {seed}</h1>{''.join(parts)}</main><footer>Contact</footer></body></html>"
    )


def with_ours(files: list[bytes]) -> int:
    return sum(block.kind == "page" for data in files for block in extract_bytes(data, "a.pdf", SETTINGS).blocks)


def with_pdfium(files: list[bytes]) -> int:
    import pypdfium2

    pages = 0
    for data in files:
        document = pypdfium2.PdfDocument(data)
        for page in document:
            text = page.get_textpage()
            text.get_text_range()
            text.close()
            page.close()
            pages += 1
        document.close()
    return pages


def with_pypdf(files: list[bytes]) -> int:
    import logging

    import pypdf

    logging.disable(logging.CRITICAL)
    pages = 0
    for data in files:
        for page in pypdf.PdfReader(BytesIO(data)).pages:
            page.extract_text()
            pages += 1
    return pages


def all_read(data: bytes) -> bool:
    """Tell whether pypdf can read a file: some of the cases are damaged."""
    try:
        return bool(with_pypdf([data]))
    except Exception:  # noqa: BLE001 (whatever a rival raises)
        return False


def ours_html(pages: list[str]) -> None:
    for page in pages:
        extract_bytes(page.encode(), "a.html", SETTINGS)


def trafilatura_html(pages: list[str]) -> None:
    import trafilatura

    for page in pages:
        trafilatura.extract(page)


def rounds(candidates: dict[str, Callable[[], object]], count: int) -> dict[str, float]:
    """Return the least CPU seconds of each candidate; they take turns, so that they meet the same neighbours."""
    best = dict.fromkeys(candidates, float("inf"))
    for number in range(count + 1):
        for name, work in candidates.items():
            began = time.process_time()
            work()
            if number:  # the first round warms up
                best[name] = min(best[name], time.process_time() - began)
    return best


def pdf_figures(files: list[bytes], count: int) -> dict[str, float]:
    pages = with_pdfium(files)
    least = rounds(
        {
            "ours": lambda: with_ours(files),
            "pypdfium2": lambda: with_pdfium(files),
            "pypdf": lambda: with_pypdf(files),
        },
        count,
    )
    return {
        "pages": pages,
        "ours_pages_per_s": round(pages / least["ours"]),
        "pypdfium2_pages_per_s": round(pages / least["pypdfium2"]),
        "pypdf_pages_per_s": round(pages / least["pypdf"]),
        "times_pypdf": round(least["pypdf"] / least["ours"], 2),
        "times_pypdfium2": round(least["pypdfium2"] / least["ours"], 2),
        "map_bytes_per_page": round(
            sum(len(extract_bytes(data, "a.pdf", SETTINGS).positions.data) for data in files) / pages
        ),
    }


def html_figures(count: int) -> dict[str, float]:
    pages = [web_page(seed) for seed in range(6)]
    least = rounds({"ours": lambda: ours_html(pages), "trafilatura": lambda: trafilatura_html(pages)}, count)
    size = sum(map(len, pages)) / 1e6
    return {
        "ours_mb_per_s": round(size / least["ours"], 2),
        "trafilatura_mb_per_s": round(size / least["trafilatura"], 2),
        "times_trafilatura": round(least["trafilatura"] / least["ours"], 2),
    }


def isolation_figures(count: int) -> dict[str, float]:
    """Return what isolation costs a file, and what a second worker gives, on a folder of 200 PDFs.

    The cost is CPU time of all processes, start included, so that other work on the machine counts little; the gain
    of a second worker is wall time, and means something on an idle machine only.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small = [report_pdf(6, seed) for seed in range(10)]
        for number in range(200):
            (folder / f"{number:03}.pdf").write_bytes(small[number % 10])
        files = list(discover([folder], SETTINGS, root=folder))
        inside = rounds({"inside": lambda: [read_document(one, SETTINGS) for one in files]}, count)["inside"]
        outside = min(_cpu_with_workers(files) for _ in range(count))
        turns = [[_with_workers(files, workers) for workers in (1, 2)] for _ in range(count)]
        one, two = map(min, zip(*turns, strict=True))
    return {
        "files": len(files),
        "cpu_ms_per_file": round(1000 * (outside - inside) / len(files), 2),
        "two_workers_times_one": round(one / two, 2),
    }


def _cpu_with_workers(files: list) -> float:
    began = _cpu()
    with Workers(ExtractSettings(workers=1)) as pool:
        for _ in pool.documents(files):
            pass
    return _cpu() - began


def _cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _with_workers(files: list, workers: int) -> float:
    settings = ExtractSettings(workers=workers)
    with Workers(settings) as pool:
        # Both are started before the clock is.
        for _ in pool.documents(files[: 4 * workers]):
            pass
        return _wall(lambda: list(pool.documents(files)))


def _wall(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def peak_mb(folder: Path) -> int:
    """Return the most memory that reading all files of `folder` in one process takes."""
    code = (
        "import sys; from pathlib import Path; from rag_index.extract import discover, read_document\n"
        "from rag_index.settings import ExtractSettings; from rag_index.extract.isolated import peak_mb\n"
        "root = Path(sys.argv[1]); settings = ExtractSettings()\n"
        "[read_document(one, settings) for one in discover([root], settings, root=root)]; print(peak_mb())"
    )
    done = subprocess.run([sys.executable, "-c", code, str(folder)], capture_output=True, text=True, check=True)
    return int(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=Path, default=HERE.parents[1].parent / "shared" / "cases" / "extraction")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="Write results.json beside this file.")
    given = parser.parse_args()
    result: dict[str, object] = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "load_at_start": round(os.getloadavg()[0], 1),
        "versions": {name: version(name) for name in ("pypdfium2", "pypdf", "trafilatura")},
        "pdf_made_here": pdf_figures([report_pdf(60, 1), report_pdf(20, 2)], given.rounds),
        "html": html_figures(given.rounds),
        "isolation": isolation_figures(min(given.rounds, 3)),
    }
    if given.cases.is_dir():
        paths = [path for path in sorted(given.cases.glob("*.pdf")) if path.name not in SKIPPED]
        result["pdf_cases"] = pdf_figures([data for path in paths if all_read(data := path.read_bytes())], given.rounds)
        sheet = (given.cases / "xlsx_04_inflated.xlsx").read_bytes()
        result["phantom_rows_s"] = round(_wall(lambda: extract_bytes(sheet, "a.xlsx", SETTINGS)), 3)
        result["peak_mb_all_cases"] = peak_mb(given.cases)
    result["own_peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    result["readme"] = readme(result)
    text = json.dumps(result, indent=2)
    print(text)
    if given.write:
        (HERE / "results.json").write_text(text + "\n")


def readme(result: dict) -> list[dict[str, str]]:
    pdf, html = result.get("pdf_cases") or result["pdf_made_here"], result["html"]
    return [
        {
            "what": "PDF to text with positions, pages/s on one core",
            "ours": f"{pdf['ours_pages_per_s']}",
            "others": f"pypdf {pdf['pypdf_pages_per_s']}, pypdfium2 without positions {pdf['pypdfium2_pages_per_s']}",
        },
        {
            "what": "HTML to text with positions, MB/s",
            "ours": f"{html['ours_mb_per_s']}",
            "others": f"trafilatura {html['trafilatura_mb_per_s']}",
        },
    ]


if __name__ == "__main__":
    main()
