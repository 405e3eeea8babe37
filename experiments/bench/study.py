"""What a study of many runs loses to coordination."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from experiments.bench.measurement import Measurement
from experiments.studies.database import contents
from experiments.studies.study import Study

WORKERS = 2
STUDY = """
scenario = "quickstart"
[policies]
global = ["muscle", "dll"]
local = "titan"
[vary]
load = [0.7, 0.85]
[replications]
least = {least}
"""


def bench_study(runs: int = 200) -> list[Measurement]:
    """Measure a study on two workers, from reading its file to the last result.

    Parameters
    ----------
    runs : int
        A multiple of 4.

    Returns
    -------
    list of Measurement
        The share of the workers' time that is not spent in runs.
    """
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "study.toml", Path(folder) / "results.db"
        path.write_text(STUDY.format(least=runs // 4), encoding="utf-8")
        Study.load(path)  # compiles
        began = time.perf_counter()
        Study.load(path).run(out, WORKERS)
        wall = time.perf_counter() - began
        inside = sum(contents(out).cpu_s.values())
    note = f"{runs} runs on {WORKERS} workers, {inside:.0f} CPU s in runs, {wall:.0f} s in all"
    return [
        Measurement(
            "lost of a study",
            1 - inside / (WORKERS * wall),
            "of the workers' time",
            f"{note}; expected: under 0.1 where nothing else runs",
        )
    ]
