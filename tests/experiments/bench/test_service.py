"""What is measured of a service, and that nothing of it is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from experiments.bench import service
from experiments.bench.service import bench_service
from tests.experiments.service.test_service import running

ROOT = Path(__file__).resolve().parents[3]
INTERRUPTED = """
import sys
from experiments.bench import service
from experiments.cli.app import main
small, service.SLEEP = service.bench_service, "6002"
service.bench_service = lambda: small(2, 30, 2, 600.0)
service._one_by_one = service._in_a_row = lambda *given: ()
main(["bench", "service", "--json"])
"""


@pytest.mark.thorough
def test_a_service_is_measured_and_nothing_of_it_is_left(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(service, "SLEEP", "6001")
    found = {each.name: each for each in bench_service(2, 30, 3, 0.2)}
    assert len(found) == 11
    assert all(each.value > 0 for each in found.values())
    assert found["submission to start, median"].value < 10_000
    assert found["submission, median"].value <= found["submission, longest"].value
    assert found["round, median of CPU"].value <= found["round, longest"].value
    assert 0 < found["in a row, started"].value < 75
    assert found["service between events"].note.startswith("for 0.2 s, 20 jobs running, 30 waiting")
    assert not os.listdir(tmp_path)
    assert not running("sleep", "6001")


@pytest.mark.thorough
def test_a_service_that_is_measured_ends_with_all_jobs_on_ctrl_c(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED],
        cwd=ROOT,
        env=os.environ | {"TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        while not running("sleep", "6002"):
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        out, told = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, b""), told
    assert told.endswith(b"metasched: interrupted\n")
    assert not os.listdir(tmp_path)
    assert not running("sleep", "6002")


def test_what_goes_wrong_in_the_service_is_told(monkeypatch):
    def fail(self):
        raise RuntimeError("the disk is gone")

    monkeypatch.setattr(service.Service, "step", fail)
    with pytest.raises(RuntimeError, match="the disk is gone"):
        bench_service(2, 3, 1, 0.1)
