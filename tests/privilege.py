"""Be bound by the modes of files: root reads and writes everything."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

_VERSION_3 = 0x20080522
"""Of the structures that capget(2) and capset(2) take: two words of each set."""


_PR_SET_SECUREBITS = 28


@contextmanager
def unprivileged() -> Iterator[None]:
    """Give up what root may do beside other users, in this thread and in what it starts meanwhile.

    Whom a file belongs to stays as it is, so everything that this process may import can still be imported.
    """
    if os.geteuid():
        yield
        return
    if sys.platform != "linux":
        pytest.skip("root reads everything")
    before = _call("capget", (ctypes.c_uint32 * 6)())
    _no_rights_for_root(on=True)  # a program that root starts would have them all
    effective, permitted, inheritable = before[::3], before[1::3], before[2::3]
    assert any(effective), "root without its rights already"
    words = [0, permitted[0], inheritable[0], 0, permitted[1], inheritable[1]]
    _call("capset", (ctypes.c_uint32 * 6)(*words))
    try:
        yield
    finally:
        _call("capset", (ctypes.c_uint32 * 6)(*before))
        _no_rights_for_root(on=False)


def _no_rights_for_root(*, on: bool) -> None:
    _checked("prctl", ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_SECUREBITS, int(on), 0, 0, 0))


def _call(name: str, data: ctypes.Array[ctypes.c_uint32]) -> list[int]:
    header = (ctypes.c_uint32 * 2)(_VERSION_3, 0)
    _checked(name, getattr(ctypes.CDLL(None, use_errno=True), name)(header, data))
    return list(data)


def _checked(name: str, result: int) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), name)
