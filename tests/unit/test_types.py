from __future__ import annotations

import dataclasses

import pytest

from rag_index import types
from rag_index.types import Event, Ledger, Span, Status, ignore

RECORDS = [value for value in vars(types).values() if isinstance(value, type) and dataclasses.is_dataclass(value)]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_records_are_frozen_and_have_slots(record) -> None:
    assert record.__dataclass_params__.frozen
    assert "__slots__" in vars(record)


def test_a_span_counts_code_points_half_open() -> None:
    span = Span(2, 5)
    assert (len(span), span.of("été à Évora")) == (3, "é à")


def test_spans_sort_by_start_then_end() -> None:
    assert sorted([Span(3, 4), Span(0, 9), Span(0, 2)]) == [Span(0, 2), Span(0, 9), Span(3, 4)]


def test_ledgers_add_up_field_by_field() -> None:
    assert Ledger(10, 9, 1, 2) + Ledger(1, 1, 0, 1) == Ledger(11, 10, 1, 3)


def test_only_ok_and_partial_documents_are_searchable() -> None:
    assert [status.value for status in Status if status.searchable] == ["ok", "partial"]


def test_ignore_takes_an_event_and_does_nothing() -> None:
    assert ignore(Event("read", 1)) is None
