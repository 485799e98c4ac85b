"""check(): read all of an index, name what is wrong, and mend what can be mended."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rag_index.errors import IndexMissingError, RagIndexError
from rag_index.pipeline.repairing import rebuild
from rag_index.settings import Settings
from rag_index.store import Layout, WriterLock
from rag_index.store.faults import Fault, state_faults
from rag_index.store.layout import drop_folder
from rag_index.store.projection import Publication
from rag_index.store.published import is_fresh, published, readable, verify_published
from rag_index.store.reader import Reader
from rag_index.types import Embedder, Event, Reporter, ignore


@dataclass(slots=True)
class CheckReport:
    """What a check found.

    Attributes:
        index: Folder of the index.
        faults: What is wrong now.
        repaired: What was wrong and has been mended.
        verified: Records of Chroma's copy that were compared with ours.
    """

    index: str
    faults: list[Fault] = field(default_factory=list)
    repaired: list[Fault] = field(default_factory=list)
    verified: int = 0

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong now."""
        return not self.faults

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {**asdict(self), "ok": self.ok}


def check(
    index: Path,
    *,
    repair: bool = False,
    full: bool = False,
    settings: Settings | None = None,
    embedder: Embedder | None = None,
    report: Reporter = ignore,
) -> CheckReport:
    """Compare everything that an index holds with everything else that it holds.

    Args:
        index: Folder of the index.
        repair: Mend what is wrong: a damaged state is built again from the sources, with all vectors that are sound;
            Chroma's copy is made again from the truth.
        full: Compare every record of Chroma's copy, and look for each by its own vector, instead of a sample; make
            the keyword index again and compare that, too.
        settings: For a repair, where the damaged index no longer says its own.
        embedder: The model for a repair, if it is loaded already.
        report: Told of the progress: stages ``check``, and those of a build.

    Raises:
        IndexMissingError: there is no index.
        LockedError: a repair found another process at work.
        RagIndexError: a repair failed; what it says is why.
    """
    layout = Layout(index)
    if not layout.index.is_dir() or not (layout.states() or layout.pointer.exists()):
        raise IndexMissingError(f"there is no index in {index}", "Run: rag-index build PATH")
    result = CheckReport(str(index))
    report(Event("check", 0, 2 if repair else 1))
    result.faults = _find(layout, result, full=full)
    if repair and result.faults:
        found = result.faults
        _repair(layout, found, settings, embedder, report, full=full)
        result.faults = _find(layout, result, full=full)
        still = {(fault.code, fault.where) for fault in result.faults}
        result.repaired = [fault for fault in found if (fault.code, fault.where) not in still]
    return result


def _find(layout: Layout, result: CheckReport, *, full: bool) -> list[Fault]:
    folder, faults = _state(layout)
    if folder is None:
        return faults
    faults += state_faults(layout, folder, full=full)
    if not any(fault.code in {"database", "vectors"} for fault in faults):
        faults += _projection(layout, folder, result, full=full)
    return faults


def _state(layout: Layout) -> tuple[Path | None, list[Fault]]:
    """Return the state that answers; if the pointer is damaged, the one that it must have named."""
    try:
        return layout.current(), []
    except RagIndexError as error:
        states = layout.states()
        return (states[-1] if states else None), [Fault("pointer", str(layout.pointer), error.message)]


def _projection(layout: Layout, folder: Path, result: CheckReport, *, full: bool) -> Iterator[Fault]:
    """Compare Chroma's copy with the truth, unless the index has none on purpose."""
    with Reader(layout, folder) as reader:
        settings = reader.info.settings.store
        if not settings.publish:
            return
        try:
            found = published(layout)
            fresh = is_fresh(found, layout, reader, settings)
        except RagIndexError as error:
            yield Fault("projection", str(layout.published), error.message)
            return
    if found is None or not fresh:
        yield Fault("projection", str(layout.chroma), "Chroma's copy is missing or not up to date")
        return
    where = f"{found.url}/{found.collection}" if found.url else str(found.folder(layout))
    try:
        verdict = verify_published(layout, found, full=full)
    except RagIndexError as error:
        yield Fault("projection", where, error.message)
        return
    result.verified = verdict["checked"]
    for message in verdict["faults"]:
        yield Fault("projection", where, message)


def _repair(
    layout: Layout,
    faults: list[Fault],
    settings: Settings | None,
    embedder: Embedder | None,
    report: Reporter,
    *,
    full: bool,
) -> None:
    codes = {fault.code for fault in faults}
    with WriterLock(layout.lock):
        folder, _ = _state(layout)
        if "pointer" in codes and folder is not None and not next(state_faults(layout, folder), None):
            layout.point_to(folder)
            codes.discard("pointer")
        if codes - {"projection"}:
            rebuild(layout, folder, settings or Settings(), embedder=embedder, report=report)
        folder = layout.current()
        with Reader(layout, folder) as reader:
            where = reader.info.settings.store
            fresh = is_fresh(readable(layout), layout, reader, where)
        if where.publish and ("projection" in codes or not fresh):
            _publish_anew(layout, folder, report, full=full)


def _publish_anew(layout: Layout, folder: Path, report: Reporter, *, full: bool) -> None:
    """Make Chroma's copy from the truth alone: what is there is not to be trusted."""
    before = readable(layout)
    layout.published.unlink(missing_ok=True)
    if before is not None and not before.url:
        drop_folder(before.folder(layout))
    with Reader(layout, folder) as reader:
        settings = reader.info.settings.store
    with Publication(layout, folder, settings, report=report, full=full) as publication:
        publication.finish()
