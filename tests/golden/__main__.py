"""Record anew what must stay as it is: ``python -m tests.golden [policies|papers|keys ...]``."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from .recorded import KINDS

if __name__ == "__main__":  # workers import it too
    for kind in sys.argv[1:] or KINDS:
        with tempfile.TemporaryDirectory() as folder:
            found = dict(KINDS[kind](Path(folder)))
        text = json.dumps(found, indent=1) + "\n"
        Path(__file__).with_name(f"{kind}.json").write_text(text, encoding="utf-8")
