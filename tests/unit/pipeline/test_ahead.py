import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_index.pipeline.ahead import ahead


@given(st.lists(st.integers(0, 50), max_size=30), st.integers(0, 100))
def test_results_come_in_the_order_of_the_jobs_whatever_they_weigh(jobs, most):
    assert list(ahead(jobs, str, weight=int, most=most)) == [str(job) for job in jobs]


@given(st.lists(st.integers(1, 20), min_size=1, max_size=30), st.integers(0, 60))
def test_no_more_is_begun_than_may_wait(jobs, most):
    held, peak = 0, 0

    def counted():
        nonlocal held, peak
        for job in jobs:
            held += job
            peak = max(peak, held - job)  # before this job is added
            yield job

    for job in ahead(counted(), lambda job: job, weight=int, most=most):
        held -= job
    assert peak <= max(most, *jobs)


def test_jobs_are_worked_on_while_the_caller_is_busy():
    begun, pulled = [threading.Event() for _ in range(3)], threading.Event()

    def jobs():
        yield from range(3)
        pulled.set()

    def work(job):
        begun[job].set()
        assert pulled.wait(5)  # so that the first result comes when all jobs are here
        return job

    results = ahead(jobs(), work, weight=lambda _: 1, most=80)
    assert next(results) == 0
    assert begun[2].wait(5)
    assert list(results) == [1, 2]


def test_work_is_done_in_one_other_thread():
    names = set(ahead(range(20), lambda _: threading.current_thread().name, weight=lambda _: 1, most=5))
    assert len(names) == 1
    assert names != {threading.current_thread().name}


def test_a_failure_is_raised_in_its_place():
    def work(job):
        if job == 2:
            raise ValueError("two")
        return job

    results = ahead(range(5), work, weight=lambda _: 1, most=10)
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(ValueError, match="two"):
        next(results)


def test_stopping_early_drops_what_was_not_begun_and_leaves_no_thread():
    gate, begun = threading.Event(), []

    def work(job):
        begun.append(job)
        if job:
            gate.wait(5)
        return job

    results = ahead(range(100), work, weight=lambda _: 1, most=50)
    assert next(results) == 0
    gate.set()
    results.close()
    assert len(begun) < 60
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("ahead")]


def test_a_result_that_is_there_is_not_kept_waiting_for_jobs_to_come():
    pulled = []

    def jobs():
        for job in range(200):
            time.sleep(0.01)
            pulled.append(job)
            yield job

    results = ahead(jobs(), str, weight=lambda _: 1, most=1000)
    assert next(results) == "0"
    assert len(pulled) < 100
    results.close()
