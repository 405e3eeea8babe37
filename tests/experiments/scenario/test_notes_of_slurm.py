"""What is told of the files of Slurm though it is no error."""

from __future__ import annotations

import pytest

from experiments.scenario.notes import notes
from experiments.scenario.scenario import Scenario
from grid.workloads.table import NOTHING


def test_what_of_the_qos_has_no_meaning_is_named(tmp_path):
    path = tmp_path / "qos"
    path.write_text("Name|Priority|MaxTRES|MaxSubmitPU\na|1|cpu=4,node=1|7\n")
    line = f"slurm_qos: {path}: without meaning here: node of MaxTRES, MaxSubmitPU"
    site = Scenario.load("site").changed(slurm_qos=str(path), local_scheduler="slurm")
    assert line in [*notes(site)]


@pytest.mark.parametrize(("begin", "end", "met"), [(7, 8, 0), (8, 9, 1), (9, 10, 1), (11, 12, 0)])
def test_a_reservation_that_meets_no_job_is_named(tmp_path, begin, end, met):
    path, day = tmp_path / "slurm.conf", "2024-05-01T"
    span = f"StartTime={day}{begin:02d}:30:00 EndTime={day}{end:02d}:30:00"
    path.write_text(f"ReservationName=r {span}\n")
    site = Scenario.load("site").changed(slurm_conf=str(path), local_scheduler="slurm")
    stated = NOTHING._replace(start="2024-05-01T08:30:00")
    lines = notes(site, 7200.0, stated=stated)
    assert (f"slurm_conf: {path}:1: reservation r met no job" not in lines) == bool(met)
