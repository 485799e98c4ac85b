"""A run as table, CSV, JSON, page and pictures."""

from __future__ import annotations

import csv
import json
import re
from html.parser import HTMLParser
from io import BytesIO, StringIO
from xml.etree import ElementTree as ET

import pytest

from rag_index.evaluate.charts import CHARTS, chart
from rag_index.evaluate.drawing import png, svg
from rag_index.evaluate.grid import Grid
from rag_index.evaluate.page import html
from rag_index.evaluate.report import by_tag, characters_for, table, to_csv, to_dict, worst
from rag_index.evaluate.verdict import judge
from tests.unit.evaluate.runs import DOCUMENTS, asked, run_of

RUN = run_of([0.4, 0.9, 0.5, 0.55, 0.6, 0.45, 0.7, 0.65])
VERDICT = judge(RUN, "recall@3000")


def test_the_table_marks_the_recommended_configuration():
    header, rows = table(RUN, VERDICT)
    assert header[:3] == ["configuration", "chunks", "recall k=3"]
    assert all(len(row) == len(header) for row in rows)
    assert [row[0] for row in rows if row[0].startswith("*")] == ["* character 200/50"]
    assert re.fullmatch(r"\d+\.\d \(\d+\.\d to \d+\.\d\)", rows[0][-3])


def test_csv_has_one_line_a_configuration_with_every_metric():
    rows = list(csv.DictReader(StringIO(to_csv(RUN))))
    assert len(rows) == 8
    assert rows[1]["configuration"] == "character 200/50"
    assert float(rows[1]["recall@3000 low"]) < float(rows[1]["recall@3000"]) < float(rows[1]["recall@3000 high"])
    assert rows[1]["chunks"] == "99"


def test_the_characters_for_a_recall_are_read_off_between_the_budgets():
    run = run_of([0.9, 0.2])
    assert characters_for(run, 0, 0.4) == round(500 * 0.4 / (sum(run.scores("recall@500")[0]) / 60))
    assert characters_for(run, 1, 0.8) is None


def test_json_is_whole_and_plain():
    plain = json.loads(json.dumps(to_dict(RUN, VERDICT)))
    assert [entry["recommended"] for entry in plain["configurations"]].index(True) == 1
    assert plain["verdict"]["recommended"] == "character 200/50"
    assert set(plain["configurations"][0]["values"]) == set(RUN.measure.names)


def test_tags_show_which_kind_of_question_fails():
    assert {tag for tag, _, _ in by_tag(RUN, VERDICT, asked())} == {"even", "odd"}
    assert sum(count for _, count, _ in by_tag(RUN, VERDICT, asked())) == 60


def test_the_worst_questions_are_marked_in_their_documents():
    entries = worst(RUN, VERDICT, asked(), DOCUMENTS, 4)
    assert 0 < len(entries) <= 4
    assert entries[0].value == 0
    (excerpt,) = entries[0].excerpts
    assert excerpt.where == "guide.md L2"
    marks = {part.mark: part.text for part in excerpt.parts if part.mark}
    text = DOCUMENTS["guide.md"].text
    assert marks == {"extra": text[10:20], "found": text[20:50]}
    assert "".join(part.text for part in excerpt.parts) == text[:210]


def test_answers_far_from_the_reference_get_an_excerpt_of_their_own():
    run = run_of([0.1])
    answers = [[type(answer[0])("guide.md", 500, 540)] for answer in run.results[0].answers]
    object.__setattr__(run.results[0], "answers", answers)
    entry = worst(run, judge(run, "recall@3000"), asked(), DOCUMENTS, 1)[0]
    assert [[part.mark for part in excerpt.parts if part.mark] for excerpt in entry.excerpts] == [["missed"], ["extra"]]


class Page(HTMLParser):
    VOID = frozenset({"meta", "br"})

    def __init__(self):
        super().__init__()
        self.open: list[str] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.loads += [f"{tag} {name}" for name, _ in attrs if name in {"src", "href"}]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize("levels", [[0.4, 0.9, 0.5], [0.5], [1.01]], ids=["several", "one", "nothing wrong"])
def test_the_page_is_whole_stands_alone_and_escapes_what_documents_say(levels):
    run = run_of(levels, questions=20)
    page = html(run, judge(run, "recall@3000"), asked(20), DOCUMENTS)
    parser = Page()
    parser.feed(page)
    assert parser.open == []
    assert parser.loads == []
    assert "<script" not in page
    assert "<b>Line" not in page
    assert ("What is &lt;" in page) == (levels != [1.01])


@pytest.mark.parametrize("name", CHARTS)
def test_each_chart_is_well_formed_svg_and_a_png_of_twice_its_size(name):
    from PIL import Image

    picture = chart(name, RUN, VERDICT)
    root = ET.fromstring(svg(picture))
    assert root.tag.endswith("svg")
    assert "nan" not in svg(picture)
    image = Image.open(BytesIO(png(picture)))
    assert image.size == (round(picture.width * 2), round(picture.height * 2))
    assert len(image.getcolors(1_000_000)) > 10


def test_the_curves_show_the_best_and_the_recommended_of_many():
    run = run_of([0.5] * 9 + [0.49], grid=Grid(sizes=tuple(range(100, 1100, 100)), overlaps=("0",)))
    picture = svg(chart("curves", run, judge(run, "recall@3000")))
    assert "8 of 10 shown" in picture
    assert judge(run, "recall@3000").standings[judge(run, "recall@3000").recommended].name in picture


def test_the_heat_map_has_a_row_a_share_where_shares_were_meant_and_one_an_overlap_else():
    assert "overlap 25%" in svg(chart("heat", RUN, VERDICT))
    run = run_of([0.4, 0.9], grid=Grid(sizes=(500,), overlaps=("0", "100")))
    assert "overlap 100" in svg(chart("heat", run, judge(run, "recall@3000")))
