"""TAP output for tests/run, and the place of the sources."""
import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def examples():
    return ROOT / "examples/corpus"


@pytest.fixture
def data():
    """The folder of real corpora."""
    place = os.environ.get("NEARDUP_DATA")
    if not place:
        pytest.skip("no data")
    return Path(place)
