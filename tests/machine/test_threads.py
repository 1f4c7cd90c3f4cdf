"""BLAS on one thread for a while, however many are inside."""

import threading

import numpy as np
import pytest

from fewlabels.machine import threads
from fewlabels.machine.threads import one_blas_thread

np.ones((2, 2)) @ np.ones((2, 2))  # BLAS is loaded


def blas_threads():
    return {library["num_threads"] for library in threads._libraries().info() if library["user_api"] == "blas"}


def test_the_limit_goes_with_the_last():
    before = blas_threads()
    first_in, second_done = threading.Event(), threading.Event()

    @one_blas_thread
    def first():
        first_in.set()
        second_done.wait(10)
        return blas_threads()

    seen = []
    thread = threading.Thread(target=lambda: seen.append(first()))
    thread.start()
    first_in.wait(10)
    assert one_blas_thread(blas_threads)() == {1}
    assert blas_threads() == {1}  # the other is still at it
    second_done.set()
    thread.join()
    assert seen == [{1}]
    assert blas_threads() == before


def test_a_failure_takes_it_back_as_well():
    before = blas_threads()
    with pytest.raises(ZeroDivisionError):
        one_blas_thread(lambda: 1 / 0)()
    assert blas_threads() == before
