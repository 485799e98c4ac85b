from rag_index.store.projector import SAMPLE, _sample
from rag_index.store.records import Entry


def entries(count):
    return [Entry(n, f"{(n * 7919) % count:08x}", n, 1, {"source": f"{n}.md"}) for n in range(count)]


def test_a_sample_of_a_small_collection_is_all_of_it():
    assert _sample(entries(SAMPLE), full=False) == entries(SAMPLE)


def test_a_sample_of_a_large_collection_holds_the_newest_and_each_record_once():
    found = entries(5 * SAMPLE)

    chosen = _sample(found, full=False)

    assert len(chosen) == SAMPLE == len({entry.uid for entry in chosen})
    assert {entry.text for entry in found[-SAMPLE // 2 :]} <= {entry.text for entry in chosen}


def test_a_full_check_looks_at_every_record():
    assert len(_sample(entries(2 * SAMPLE), full=True)) == 2 * SAMPLE
