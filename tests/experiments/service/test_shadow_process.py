"""The shadow as a process: what it asks of clusters, and what it does with their answers."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from contextlib import closing

import pytest

from experiments.service.at_sites import batch
from experiments.service.at_sites.slurm import Processors
from experiments.service.grid_file import load_grid
from experiments.service.shadow import look as looking
from experiments.service.shadow import watching
from experiments.service.shadow.comparing import Pair, check, usual
from experiments.service.shadow.look import Seen, Watched, look
from experiments.service.shadow.sightings import Sightings
from experiments.service.shadow.watching import Asked, shadowing
from grid.errors import GridError
from tests.experiments.commands import call

from .served import WATCHED
from .test_service import ROOT, SOON

FAKE = """#!/bin/sh
echo "${{0##*/}} $*" >> {folder}/calls
if [ -e {folder}/$SLURM_CONF.silent ]; then
    echo "Unable to contact slurm controller" >&2
    exit 1
fi
cat {folder}/$SLURM_CONF.${{0##*/}}
"""
HOME = Pair("home", "fcfs")


def told(**fields):
    """Return a line of squeue."""
    usual = dict.fromkeys(looking._WIDTHS, "N/A")
    usual |= {"NumCPUs": "1", "UserID": "7", "RestartCnt": "0", "TimeLimit": "10:00"}
    return "".join(
        f"{value!s:<{looking._WIDTHS[name]}}" for name, value in (usual | fields).items()
    )


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    """Two pretended clusters, whose every command is noted."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("squeue", "sinfo", "sbatch", "scancel", "scontrol", "sacct"):
        (folder / name).write_text(FAKE.format(folder=folder))
        (folder / name).chmod(0o755)
    for site in "ab":
        (folder / f"{site}.conf.sinfo").write_text(
            "main*|up|idle|0/2/0/2\nother|up|allocated|9/0/0/9\n"
        )
        (folder / f"{site}.conf.squeue").write_text("")
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    (tmp_path / "grid.toml").write_text(WATCHED)
    return folder


def site_of(grid, number=0):
    return load_grid(str(grid), driver=Watched).drivers[number].partition


def test_what_squeue_tells_of_jobs(slurm, grid):
    lines = [
        told(JobArrayID="5_1", SubmitTime=100, EligibleTime=110, StartTime=120, EndTime=720,
             State="RUNNING", NumCPUs=4),
        told(JobArrayID="5_2", SubmitTime=100, StartTime=900, EndTime="NONE", State="PENDING",
             TimeLimit="UNLIMITED"),
        told(JobArrayID="6+1", SubmitTime=100, EligibleTime=100, StartTime=100, EndTime=130,
             State="TIMEOUT", TimeLimit="365-00:00:00", RestartCnt=1),
        told(JobArrayID="7", SubmitTime=100, StartTime=150, EndTime=150, State="CANCELLED",
             TimeLimit="1-02:03:00"),
    ]  # fmt: skip
    (slurm / "a.conf.squeue").write_text("\n".join(lines) + "\n")
    lines = ["other|drain|mixed|5/4/0/9", "main*|up|draining|2/0/2/4", "main*|up|allocated|4/0/0/4"]
    (slurm / "a.conf.sinfo").write_text("\n".join(lines) + "\n")
    grid.write_text(WATCHED)
    found = look(site_of(grid))
    assert found.processors == Processors("main", 6, 0, 2, 8, 2)
    assert found.others == 2
    assert found.jobs == [
        Seen("5_1", 100, 110, 120, None, 4, 600, 7, "RUNNING", 0),
        Seen("5_2", 100, None, None, None, 1, None, 7, "PENDING", 0),
        Seen("6+1", 100, 100, 100, 130, 1, None, 7, "TIMEOUT", 1),
        Seen("7", 100, None, None, 150, 1, 93780, 7, "CANCELLED", 0),
    ]
    asked = (slurm / "calls").read_text().splitlines()[-1]
    assert "--partition=main" in asked
    for name in ("Name", "UserName", "Account", "Command", "WorkDir"):
        assert f"{name}:" not in asked.replace("JobArrayID:", "")
    assert site_of(grid)._partitions()["other"] == Processors("other", 5, 0, 4, 9, 5)


def test_a_site_that_is_silent_is_told_once_and_the_other_goes_on(slurm, tmp_path, monkeypatch):
    monkeypatch.setattr(batch, "LONGEST", 0.05)
    grid = load_grid(str(tmp_path / "grid.toml"), driver=Watched)
    (slurm / "a.conf.silent").touch()
    said, asked = [], Asked((HOME,), 1000.0, 0.05)
    with shadowing(grid, tmp_path / "state", asked, said.append) as shadow:

        def follow():
            try:
                until(lambda: any(line.startswith("b: 2 processors") for line in said))
                until(lambda: (slurm / "calls").read_text().count("sinfo") > 10)
                (slurm / "a.conf.silent").unlink()
                until(lambda: "a: answers again" in said)
            finally:
                shadow.stop()

        following = threading.Thread(target=follow)
        following.start()
        shadow.run(lambda told: None)
        following.join()
    silent = "a: Unable to contact slurm controller; nothing is seen of it until it answers again"
    assert said.count(silent) == 1
    with closing(Sightings(tmp_path / "state")) as sightings:
        looks = [row["site"] for row in sightings.looks(0.0)]
    assert looks.count("b") > 1
    assert "a" in looks


@pytest.mark.thorough
def test_periods_follow_each_other_even_if_one_cannot_be_told(slurm, tmp_path, monkeypatch):
    grid, said, told = load_grid(str(tmp_path / "grid.toml"), driver=Watched), [], []
    known, asked = watching.period_of, []

    def failing(*given):
        asked.append(given)
        if len(asked) == 1:
            raise GridError("jobs: found some; accepted: others")
        return known(*given)

    monkeypatch.setattr(watching, "period_of", failing)

    def tell(found):
        told.append(found)
        if len(told) == 2:
            shadow.stop()

    with shadowing(grid, tmp_path / "state", Asked((HOME,), 0.4, 0.05), said.append) as shadow:
        shadow.run(tell)
    assert "no report: jobs: found some; accepted: others" in said
    with closing(Sightings(tmp_path / "state")) as sightings:
        first, second = sightings.periods()
    assert [first["begin"], second["begin"]] == [told[0]["begin"], first["end"]]
    assert first["end"] - first["begin"] >= 0.4
    assert told[-1]["begin"] in (second["begin"], second["end"])


def until(holds):
    begun = time.monotonic()
    while not holds():
        assert time.monotonic() - begun < SOON
        time.sleep(0.02)


def shadow(*words, cwd):
    code = "from experiments.cli.app import main; main()"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-c", code, "shadow", *words],
        cwd=cwd,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.thorough
def test_it_may_be_killed_and_goes_on_and_asks_nothing_but_squeue_and_sinfo(slurm, tmp_path):
    state, now = tmp_path / "state", int(time.time())
    words = ("grid.toml", "--state", "state", "--look", "1s")
    scenario = load_grid(str(tmp_path / "grid.toml"), driver=Watched).scenario
    check(scenario, usual(scenario))  # what is compiled here need not be in each process
    first = shadow(*words, cwd=tmp_path)
    jobs = slurm / "a.conf.squeue"
    try:
        until(lambda: (slurm / "calls").exists())
        until(lambda: "squeue" in (slurm / "calls").read_text())
        running = told(JobArrayID=1, SubmitTime=now + 1000, EligibleTime=now + 1000,
                       StartTime=now + 1005, EndTime=now + 9999, State="RUNNING")  # fmt: skip
        jobs.write_text(running + "\n")

        def has_job():
            with closing(Sightings(state)) as sightings:
                return len([*sightings.jobs(0.0)])

        until(has_job)
        second = shadow(*words, cwd=tmp_path)
        out, err = second.communicate(timeout=SOON)
        assert (second.returncode, out) == (2, "")
        assert err.splitlines()[-1] == (
            "metasched: state: another shadow is there already; accepted: another --state"
        )
    finally:
        first.kill()
        first.communicate()
    ended = told(JobArrayID=1, SubmitTime=now + 1000, EligibleTime=now + 1000,
                 StartTime=now + 1005, EndTime=now + 1010, State="COMPLETED")  # fmt: skip
    jobs.write_text(ended + "\n")
    third = shadow(*words, cwd=tmp_path)

    def has_ended():
        with closing(Sightings(state)) as sightings:
            return any(row["ended"] for row in sightings.jobs(0.0))

    try:
        until(has_ended)
        third.send_signal(signal.SIGINT)
        out, err = third.communicate(timeout=SOON)
    finally:
        third.kill()
    assert third.returncode == 0, err
    assert "1 job that came and ended, at a (2) and b (2)" in " ".join(out.split())
    assert "home/easy" in out
    assert "dll/fcfs" in out
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    calls = {line.split()[0] for line in (slurm / "calls").read_text().splitlines()}
    assert calls == {"squeue", "sinfo"}
    before = (slurm / "calls").read_text()
    found = call("shadow", "--state", state, "--report", "--json", "--policies", "home/fcfs")
    assert found.exit_code == 0
    told_of = json.loads(found.stdout)
    assert [row["name"] for row in told_of["policies"]] == ["as it was", "home/fcfs"]
    assert told_of["policies"][0]["mean_wait"] == 5.0
    assert (slurm / "calls").read_text() == before


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--state", "x"], "GRID: missing; accepted: the path of a file, or --report"),
        (["--report"], "--state: missing; accepted: the folder of a shadow"),
        (["grid.toml", "--json"], "--json: found without --report; accepted: one with it"),
        (["grid.toml", "--report"], "GRID: found with --report; accepted: one without it"),
        (["grid.toml", "--look", "5m"], "--look: found 300 s; accepted: from 1 s to 240 s"),
        (["grid.toml", "--every", "9"], "--every: found 9 s; accepted: from 30 s, that of --look"),
        (
            ["grid.toml", "--policies", "dll"],
            "--policies: found 'dll'; accepted: pairs GLOBAL/LOCAL with commas between them",
        ),
        (["--state", "x", "--report"], "x: no shadow has been there; accepted: the folder of one"),
    ],
)
def test_bad_input_is_told_in_a_line(slurm, tmp_path, monkeypatch, words, line):
    monkeypatch.chdir(tmp_path)
    found = call("shadow", *words)
    assert (found.exit_code, found.stdout) == (2, "")
    assert found.stderr.splitlines()[-1] == f"metasched: {line}"
    assert not (tmp_path / "grid-shadow").exists()


@pytest.mark.parametrize(
    ("policies", "why"),
    [
        ("dl/easy", "policies dl/easy: global scheduler 'dl': unknown"),
        ("home/recorded", "policies home/recorded: "),
        ("coallocation/easy", "policies coallocation/easy: "),
    ],
)
def test_policies_that_cannot_be_simulated_are_refused_first(
    slurm, tmp_path, monkeypatch, policies, why
):
    monkeypatch.chdir(tmp_path)
    found = call("shadow", "grid.toml", "--policies", policies)
    assert found.exit_code == 2
    assert found.stderr.splitlines()[-1].startswith(f"metasched: {why}")
    assert not (tmp_path / "grid-shadow").exists()


def test_sites_whose_jobs_nobody_knows_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "grid.toml").write_text('[[sites]]\nname = "a"\nslots = 2\n')
    found = call("shadow", "grid.toml")
    assert found.exit_code == 2
    assert found.stderr.splitlines()[-1] == (
        "metasched: grid.toml: sites[0]: driver: found 'local'; accepted: 'slurm', for of others "
        "it is not known which jobs they have"
    )


def test_two_sites_are_not_one_partition(slurm, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "grid.toml").write_text(WATCHED.replace("b.conf", "a.conf"))
    found = call("shadow", "grid.toml")
    assert found.exit_code == 2
    assert "sites[1]: found the cluster and partition of sites[0]; accepted: an" in found.stderr
