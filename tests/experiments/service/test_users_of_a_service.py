"""What users and administrators of a service say to it, and what is refused."""

from __future__ import annotations

import json
import time
from contextlib import closing

import pytest

from experiments.service.grid_file import load_grid
from experiments.service.script import read_script
from experiments.service.serving import serving
from experiments.service.store import FILE, Store
from grid.errors import GridError
from grid.logs.formats import read
from tests.experiments.commands import call

from .served import GRID, served
from .test_service import SOON, until


def test_the_commands_of_users(grid, state, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with serving(load_grid(str(grid)), state, 0, print) as service:
        to = "--state", state
        told = call("submit", *to, "--json", "--size", 2, "--time", "10m", "--", "echo", "-n", "x")
        assert (told.stdout, told.stderr) == ("1\n", "")
        assert call("submit", *to, "--name", "bad", "--deadline", "2h", "false").stdout == "job 2\n"
        listed = call("queue", *to)
        assert [line.split()[:3] for line in listed.stdout.splitlines()[1:]] == [
            ["1", "echo", "waiting"],
            ["2", "bad", "waiting"],
        ]
        first, second = service.store.jobs()
        assert (first.command, first.size, first.time) == (("echo", "-n", "x"), 2, 600.0)
        assert second.deadline - second.submitted == pytest.approx(7200.0)
        assert first.folder == str(tmp_path)
        service.run(once=True)
    waited = call("wait", *to)
    assert (waited.exit_code, waited.stderr) == (0, "")
    waited = call("wait", *to, 1, 2)
    assert (waited.exit_code, waited.stdout) == (1, "")
    assert "job 2 (bad): failed" in waited.output
    assert "no job waits or runs; 2 jobs have ended (--all)" in call("queue", *to).stdout
    rows = json.loads(call("queue", *to, "--json").stdout)
    keys = ["job", "name", "state", "site", "size", "submitted", "started", "ended", "exit_status"]
    assert [[*row] for row in rows] == [keys, keys]
    assert [(row["state"], row["exit_status"]) for row in rows] == [("done", 0), ("failed", 1)]
    assert len(call("queue", *to, "--all").stdout.splitlines()) == 3
    assert call("log", *to, 1).stdout == "x"


def test_it_is_said_that_no_service_is_there(grid, state):
    with serving(load_grid(str(grid)), state, 0, print):
        pass
    told = call("submit", "--state", state, "--json", "true")
    assert (told.stdout, told.exit_code) == ("1\n", 0)
    assert "no service is there now: jobs wait\n" in told.stderr
    listed = call("queue", "--state", state)
    assert listed.exit_code == 0
    assert "no service is there now: this is as it was left\n" in listed.stderr
    foretold = call("forecast", "--state", state)
    assert "no service is there now: this is as it was left\n" in foretold.stderr
    for words in (["hold", 1], ["drain", "A"], ["cancel", 1]):
        asked = call(words[0], "--state", state, *words[1:])
        assert asked.exit_code == 0
        assert asked.stderr.endswith("no service is there now: the next one does what is asked\n")


@pytest.mark.thorough
def test_what_would_be_served(grid, state):
    asked = "serve", grid, "--state", state, "--dry-run"
    told = call(*asked)
    assert told.exit_code == 0
    lines = [line.split() for line in told.stdout.splitlines()]
    assert lines[0] == ["grid:", "dll", "over", "fcfs"]
    assert lines[2:4] == [["A", "local", "2", "1"], ["B", "local", "1", "1"]]
    assert "0 jobs of before, 0 jobs of the grid's own" in " ".join(told.stdout.split())
    assert not state.exists()
    with serving(load_grid(str(grid)), state, 0, print) as service:
        service.store.add(
            ["sh", "-c", "while [ ! -e go ]; do sleep 0.1; done"], 1, folder=str(state)
        )
    assert "1 job of before" in " ".join(call(*asked).stdout.split())
    with serving(load_grid(str(grid)), state, 0, print) as service:
        service.step()
        until(service, (state / "jobs" / "1" / "claim").is_symlink)
        there = call(*asked)
        assert (there.exit_code, there.stdout) == (2, "")
        assert "another service is there already" in there.stderr
    assert call(*asked).exit_code == 0
    grid.write_text(GRID.replace('"A"', '"C"').replace('"B"', '"D"'))
    told = call(*asked)
    assert told.exit_code == 2
    assert "jobs hold 1 processor: found no such site" in told.stderr
    (state / "go").touch()
    begun = time.monotonic()
    while not (state / "jobs" / "1" / "ended").exists():
        assert time.monotonic() - begun < SOON
    assert call(*asked).exit_code == 0
    grid.write_text(f'{GRID}[[jobs]]\ncommand = ["true"]\nsize = 3\n')
    told = call(*asked)
    assert told.exit_code == 2
    assert "jobs[0]: size: found 3; accepted: at most 2, which the largest site has" in told.stderr


@pytest.mark.parametrize("words", [["cancel", 1], ["hold", 1], ["drain", "A"]])
def test_a_dry_run_does_nothing(grid, state, words):
    with serving(load_grid(str(grid)), state, 0, print) as service:
        service.store.add(["true"], 1)
        before = service.store.jobs()
        told = call(words[0], "--state", state, *words[1:], "--dry-run")
        assert (told.exit_code, told.stdout) == (0, "")
        assert told.stderr == "metasched: nothing has been done\n"
        assert service.store.jobs() == before
        assert service.store.note("drained") is None
        in_vain = call("release", "--state", state, 1, "--dry-run")
        assert in_vain.exit_code == 2
        assert "job 1: waiting; accepted: a job that is held" in in_vain.stderr
        held = call("submit", "--state", state, "--hold", "--dry-run", "true")
        assert held.exit_code == 2
        assert "--dry-run: found a job that is held; accepted: one that may start" in held.stderr


def test_what_has_run_is_a_workload(grid, state, tmp_path):
    grid.write_text(GRID.replace("slots = 2", "slots = 2\nrate = 2.0"))
    jobs = [{"command": ["sleep", "0.2"], "name": name, "time_s": 60.0} for name in "xyx"]
    done, _ = served(grid, state, *jobs, {"command": ["true"], "size": 3})
    log = read(state / FILE)
    assert (log.format, log.processors) == ("live", 3)
    table = log.cleaned()
    assert table.jobs["number"].tolist() == [1, 2, 3]
    rates = [{"A": 2.0, "B": 1.0}[job.site] for job in done[:3]]
    ran = [(job.ended - job.started) * rate for job, rate in zip(done, rates, strict=False)]
    assert table.jobs["runtime"].tolist() == pytest.approx(ran)
    assert table.jobs["recorded_wait"].tolist() == pytest.approx(
        [job.started - job.submitted for job in done[:3]]
    )
    assert table.jobs["application"].tolist() == [0, 1, 0]
    assert table.applications == {0: "x", 1: "y", 2: "true"}
    assert table.start.timestamp() == pytest.approx(done[0].submitted)
    with closing(Store(state)) as store:
        store._file.execute("PRAGMA user_version = 99")
    with pytest.raises(GridError, match=r"jobs\.db: found version 99; accepted: 4"):
        read(state / FILE)
    (tmp_path / "other").write_bytes(b"SQLite format 3\0 and no more")
    with pytest.raises(GridError, match=r"other: .*; accepted: the jobs\.db of metasched serve"):
        read(tmp_path / "other")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["submit", "--size", 3, "true"], "--size: found 3; accepted: at most 2, the largest site"),
        (["submit", "no-such-program"], "command: found 'no-such-program'; accepted: a program"),
        (["submit", "--time", "1e300d", "true"], "--time: found 8.64e+304 s; accepted: at most 1e"),
        (["submit", "--time", "soon", "true"], "--time: found 'soon'; accepted: "),
        (["submit", "--site", "C", "true"], "site 'C': unknown; accepted: A, B"),
        (["submit", "--site", "B", "-n", 2, "true"], "found 2; accepted: at most 1, those of B"),
        (["hold", 7], "job: found 7; accepted: one that"),
        (["cancel", 7], "job: found 7; accepted: one that `metasched queue --all` lists"),
        (["log", 7], "job: found 7; accepted: "),
        (["wait", 7], "job: found 7; accepted: "),
    ],
)
def test_what_users_ask_for_in_vain_is_told_in_a_line(grid, state, words, says):
    with serving(load_grid(str(grid)), state, 0, print) as service:
        found = call(words[0], "--state", state, *words[1:])
        assert (found.exit_code, found.stdout) == (2, "")
        assert says in found.output
        assert len(found.output.splitlines()) == 1
        assert service.store.jobs() == []


@pytest.mark.thorough
def test_folders_that_are_of_no_service_or_of_another(grid, state, tmp_path):
    none = call("queue", "--state", tmp_path / "none")
    assert "no service has been there; accepted: the folder of one" in none.output
    assert not (tmp_path / "none").exists()
    with pytest.raises(GridError, match="found other files; accepted: a new folder, or a service"):
        served(grid, tmp_path)
    (tmp_path / "file").touch()
    for place, found in ((tmp_path, "other files"), (tmp_path / "file", "a file")):
        dry = call("serve", grid, "--state", place, "--dry-run")
        assert (dry.exit_code, dry.stdout) == (2, "")
        assert f"found {found}; accepted: a new folder, or a service's" in dry.output
    with (
        serving(load_grid(str(grid)), state, 0, print),
        pytest.raises(GridError, match="another service is there already"),
    ):
        served(grid, state)
    assert served(grid, state)[0] == []
    assert (state.stat().st_mode & 0o777) == 0o700
    with closing(Store(state)) as store:
        store._file.execute("PRAGMA user_version = 99")
    with pytest.raises(GridError, match="found version 99; accepted: 4, of this metasched"):
        served(grid, state)
    (state / FILE).write_bytes((state / FILE).read_bytes()[:4096] + b"x" * 8192)
    damaged = call("queue", "--state", state)
    assert (damaged.exit_code, len(damaged.output.splitlines())) == (2, 1)
    for each in state.glob(f"{FILE}*"):
        each.unlink()
    (state / FILE).touch()
    with pytest.raises(GridError, match="found other files"):
        served(grid, state)
    (state / FILE).write_bytes(b"no database" * 100)
    with pytest.raises(GridError, match="cannot be used: file is not a database"):
        served(grid, state)


def test_scripts_for_slurm_say_what_they_need(grid, state, tmp_path, monkeypatch):
    script = tmp_path / "job.sh"
    lines = ["#!/bin/sh -e", "#SBATCH -n 2 -c1 --time=1:30 # so", "", "#SBATCH --mem=4G -J mine -H"]
    script.write_text("\n".join([*lines, f"#SBATCH --chdir={tmp_path}", "pwd", "#SBATCH -n 9"]))
    monkeypatch.chdir(tmp_path)
    with serving(load_grid(str(grid)), state, 0, print) as service:
        to = "--state", state
        told = call("submit", *to, "--json", script, "x")
        assert told.stdout == "1\n"
        assert "'--mem=4G' of #SBATCH lines is without meaning here" in told.stderr
        found = service.store.job(1)
        assert found.command == ("/bin/sh", "-e", str(script), "x")
        assert (found.size, found.time, found.name, found.held) == (2, 90.0, "mine", 1)
        script.chmod(0o700)
        assert call("submit", *to, "-n", 1, "--time", "5s", script).exit_code == 0
        found = service.store.job(2)
        assert (found.command, found.size, found.time) == ((str(script),), 1, 5.0)
        for number in (1, 2):
            assert call("release", *to, number).exit_code == 0
        again = call("release", *to, 1)
        assert "job 1: waiting; accepted: a job that is held" in again.output
        service.run(once=True)
    assert call("log", *to, 1).stdout == f"{tmp_path}\n"
    (tmp_path / "sub").mkdir()
    script.write_text("#!/bin/sh\n#SBATCH -t 0 -D sub\n  #SBATCH -n 2\n")
    found = read_script([str(script)])
    assert (found.time, found.folder, found.size) == (None, f"{tmp_path}/sub", None)
    assert found.name == "job.sh"
    for line, size in (("-N 2 --ntasks-per-node=4", 8), ("-N 2-4 -c 3", 6), ("-N 2 -n 3", 3)):
        script.write_text(f"#!/bin/sh\n#SBATCH {line}\n")
        assert read_script([str(script)]).size == size
    for line, says in (
        ("-n many", "job.sh:2: found '#SBATCH -n many'"),
        ("-t x", "job.sh:2: f"),
        ("-n 99", "job.sh:2: #SBATCH: size: found 99; accepted: at most"),
        ("-t 99999999-0", "job.sh:2: --time: found '99999999-0'; accepted: at most 1e+12 s"),
        ("-D none", "job.sh:2: --chdir: found 'none'; accepted: a folder that is there"),
    ):
        script.write_text(f"#!/bin/sh\n#SBATCH {line}\n")
        bad = call("submit", *to, script)
        assert (bad.exit_code, bad.stdout) == (2, "")
        assert says in bad.output


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "sites: none; accepted: at least one"),
        ("sites = 3", "sites: found 3; accepted: tables"),
        ("[[sites]]\nname = 'A'", "sites[0]: slots: missing; accepted: the processors"),
        (
            "[[sites]]\nname = 'A'\ndriver = 'slurm'\nslurm_conf = '/no.conf'",
            "sites[0]: slurm_conf: found '/no.conf', which is no file; accepted: a cluster that",
        ),
        ("[[sites]]\nname = 'A'\nslots = 0", "sites[0]: slots: found 0; accepted: the proc"),
        ("[[sites]]\nname = 'A'\nslots = 1\ndriver = 'pbs'", "driver: found 'pbs'; accepted: 'lo"),
        ("[[sites]]\nname = 'A'\nslots = 1\nslot = 1", "sites[0]: slot: unknown key; "),
        ("clusters = []\n[[sites]]\nname = 'A'\nslots = 1", "clusters: unknown key; "),
        ("global = 'nobody'\n[[sites]]\nname = 'A'\nslots = 1", "nobody"),
        ("[[sites]]\nname = 'A'\nslots = 1\n[parameters]\njobs = 3", "jobs: without meaning for"),
        (
            "[[sites]]\nname = 'A'\nslots = 1\n[parameters]\nprediction = 'exact'",
            "prediction: found 'exact'; accepted: requested, learned or another, for nobody knows",
        ),
        (
            "local = 'recorded'\n[[sites]]\nname = 'A'\nslots = 1",
            "local: found 'recorded', which starts as a log tells; accepted: another",
        ),
        (
            "global = 'first-fit'\nlocal = 'fcfs'\n"
            "[[sites]]\nname = 'A'\nslots = 1\n[[sites]]\nname = 'B'\nslots = 1",
            "splits jobs; accepted: one that has each job run at one site",
        ),
        ("[[sites]]\nname = 'A'\nslots = 1\ndriver = ['local']", "driver: found ['local']; acc"),
        (
            "[[sites]]\nname = 'A'\nslots = 1\n[[jobs]]\nname = 3\ncommand = ['true']",
            "name: found 3",
        ),
        ("[[sites]]\nname = 'A'\nslots = 1\n[[jobs]]\nsize = 1", "jobs[0]: command: missing"),
        (
            '[[sites]]\nname = "A"\nslots = 1\n[[jobs]]\ncommand = ["echo", "a\\u0000b"]',
            "jobs[0]: command: found ",
        ),
        (
            "[[sites]]\nname = 'A'\nslots = 1\n[[jobs]]\ncommand = ['true']\ntime = 'soon'",
            "jobs[0]: time: found 'soon'; accepted: a time such as 90s or 10m",
        ),
        (
            "[[sites]]\nname = 'A'\nslots = 1\n[[jobs]]\ncommand = ['true']\ntime = 1e13",
            "jobs[0]: time: found 10000000000000.0; accepted: at most 1e+12 s",
        ),
        (
            "[[sites]]\nname = 'A'\nslots = 1\n[[jobs]]\ncommand = ['true']\ndeadline = 1e300",
            "jobs[0]: deadline: found 1e+300; accepted: at most 1e+12 s",
        ),
        (
            '[[sites]]\nname = "A"\nslots = 1\n[[jobs]]\ncommand = ["true"]\nname = "a\\u0000b"',
            "jobs[0]: name: found 'a\\x00b'; accepted: a text without NUL",
        ),
        *(
            (
                f"[[sites]]\nname = 'A'\nslots = 1\n[parameters]\n{key} = 1",
                f"{key}: without meaning",
            )
            for key in ("load_factor", "utilization", "mean_down_time", "kill_at_request", "step")
        ),
    ],
)
def test_a_grid_that_cannot_be_served_is_refused_in_a_line(tmp_path, text, says):
    (tmp_path / "grid.toml").write_text(text)
    found = call("serve", tmp_path / "grid.toml", "--state", tmp_path / "state", "--once")
    assert found.exit_code == 2
    assert says in found.output
    assert len(found.output.splitlines()) == 1
    assert not (tmp_path / "state").exists()


def test_a_grids_own_jobs_are_submitted_together_or_not_at_all(grid, state, monkeypatch):
    """As where the service is killed meanwhile."""
    grid.write_text(f'{GRID}[[jobs]]\ncommand = ["true"]\ncount = 5\n')
    whole, times = Store.add, []

    def interrupted(self, *given, **named):
        times.append(1)
        if len(times) == 3:
            raise KeyboardInterrupt
        return whole(self, *given, **named)

    monkeypatch.setattr(Store, "add", interrupted)
    with pytest.raises(KeyboardInterrupt), serving(load_grid(str(grid)), state, 0, print):
        pass
    with serving(load_grid(str(grid)), state, 0, print) as service:
        assert len(service.store.jobs()) == 5


def test_a_grid_that_is_not_there_is_told_with_what_is():
    told = call("serve", "nowhere.toml")
    accepted = "accepted: live-quickstart, or the path of a file"
    assert told.exit_code == 2
    assert told.stderr.endswith(f"metasched: grid 'nowhere.toml': no such file; {accepted}\n")


def test_before_any_service_no_site_is_known(state):
    Store(state, make=True).close()  # as it is while the first one loads
    told = call("drain", "--state", state, "A")
    assert told.exit_code == 2
    assert "site 'A': unknown; accepted: those of a service, once one has begun" in told.output


def test_a_grid_that_its_model_refuses_leaves_no_folder(grid, state):
    grid.write_text(GRID + "\n[parameters]\nidle_watts = 10\n")
    refused = call("serve", grid, "--state", state)
    assert refused.exit_code == 2
    assert "idle_watts: found without busy_watts" in refused.stderr
    assert not state.exists()


def test_of_a_folder_in_which_no_service_has_been_there_is_no_page(state, tmp_path):
    """As one leaves it that was ended before it had begun."""
    with closing(Store(state, make=True)):
        pass
    got = call("report", state, "-o", tmp_path / "page.html")
    assert (got.exit_code, got.stdout) == (2, "")
    assert "no job has run to its end; accepted: a service whose jobs have" in got.stderr
