"""Named points of the write protocol at which a test can kill this process."""

from __future__ import annotations

import os
import signal

VARIABLE = "RAG_INDEX_FAILPOINT"
"""``name:k`` kills the process with SIGKILL at the k-th passage of the point, ``name:k:full`` makes the disk full."""

POINTS = (
    "state-created",
    "pointer-written",
    "vectors-appended",
    "vectors-synced",
    "keys-committed",
    "unit-begun",
    "unit-written",
    "unit-committed",
    "removal-committed",
    "compaction-written",
    "compaction-committed",
    "switch-begun",
    "switch-pointed",
    "finish-committed",
    "seal-removed",
    "checkpoint-done",
    "seal-written",
    "projection-begun",
    "projection-added",
    "projection-closed",
    "projection-verified",
    "projection-synced",
    "projection-renamed",
    "projection-pointed",
    "projection-cleaned",
)

_passed: dict[str, int] = {}


def passing(name: str) -> None:
    """Die here if the environment says so; costs one dictionary look-up otherwise."""
    armed = os.environ.get(VARIABLE)
    if not armed:
        return
    point, _, rest = armed.partition(":")
    if point != name:
        return
    count, _, effect = (rest or "1").partition(":")
    _passed[name] = _passed.get(name, 0) + 1
    if _passed[name] != int(count):
        return
    if effect == "full":
        raise OSError(28, "No space left on device", name)
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
