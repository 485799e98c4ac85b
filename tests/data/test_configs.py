from pathlib import Path

import pytest

from rag_index.settings import Settings, load_settings

CONFIGS = Path(__file__).resolve().parents[2] / "configs"
NAMES = ["code", "default", "multilingual", "prose", "sweep"]


def load(name: str) -> Settings:
    return load_settings(config=CONFIGS / f"{name}.toml", environ={}).settings


def test_every_profile_is_tested() -> None:
    assert sorted(path.stem for path in CONFIGS.glob("*.toml")) == NAMES


@pytest.mark.parametrize("name", [name for name in NAMES if name != "default"])
def test_a_profile_loads_and_changes_something(name: str) -> None:
    assert load(name) != Settings()


def test_the_default_profile_is_the_defaults() -> None:
    assert load("default") == Settings()
