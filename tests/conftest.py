from __future__ import annotations

from pathlib import Path

import pytest

TRACES = Path(__file__).resolve().parents[2] / "shared" / "traces"


@pytest.fixture(scope="session")
def traces() -> Path:
    """Folder of real logs beside the repository; tests that need it are skipped without it."""
    if not TRACES.is_dir():
        pytest.skip("no folder of real logs beside the repository")
    return TRACES
