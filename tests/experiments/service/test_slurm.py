"""A service of real Slurm clusters, started on this machine for the test."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, closing
from datetime import datetime

import pytest

from experiments.bench import clusters as bench
from experiments.service.at_sites import batch
from experiments.service.grid_file import load_grid
from experiments.service.serving import serving
from experiments.service.shadow.comparing import Pair
from experiments.service.shadow.look import Watched
from experiments.service.shadow.sightings import Sightings
from experiments.service.shadow.watching import Asked, shadowing
from experiments.service.store import Store
from grid.errors import GridError
from metasched.live import Executor, JobError
from tests.agents.slurm.real_cluster import DAEMONS, RealCluster, lacking
from tests.experiments.commands import call

from .served import at_work
from .test_service import ROOT, SOON, shell, until
from .test_taken_up import CODE

SITE = '[[sites]]\nname = "{name}"\ndriver = "slurm"\nslurm_conf = "{conf}"\n'
CONF = """\
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,sched_interval=1,batch_sched_delay=0,bf_resolution=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
NodeName={name}1 CPUs=4 State=UNKNOWN
NodeName={name}2 CPUs=4 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=UNLIMITED State=UP
PartitionName=fast Nodes=ALL MaxTime=1 State=UP
"""
WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
PORTS = {"a": 7310 + 100 * WORKER, "b": 7330 + 100 * WORKER}
ONE_MINUTE = 60.0


@pytest.fixture(scope="module")
def clusters(tmp_path_factory):
    """Two clusters of two nodes of four processors each."""
    required = os.environ.get("METASCHED_SLURM") == "required"
    if (missing := lacking(DAEMONS)) and not required:
        pytest.skip(f"needs Slurm: {missing} not installed")
    with ExitStack() as opened:
        os.environ["PATH"] += ":/usr/sbin:/sbin"
        yield {
            name: opened.enter_context(
                RealCluster(
                    tmp_path_factory.mktemp(name),
                    CONF.format(name=name),
                    [f"{name}1", f"{name}2"],
                    port,
                    factor=1,
                )
            )
            for name, port in PORTS.items()
        }


@pytest.fixture
def grid(clusters, tmp_path):
    """Both, of which one has jobs early, held."""
    sites = [SITE.format(name=name, conf=of.conf) for name, of in clusters.items()]
    sites[1] += "early = 3\n"
    (tmp_path / "grid.toml").write_text('global = "dll"\nlocal = "easy"\n' + "".join(sites))
    return tmp_path / "grid.toml"


def ask(cluster, *words):
    return cluster._command(*words)


@pytest.mark.thorough
def test_jobs_run_on_clusters_of_slurm(grid, state, clusters, tmp_path):
    text = 'echo "$METASCHED_JOB $METASCHED_SITE $SLURM_NTASKS" >> told; sleep 1'
    said = []
    with serving(load_grid(str(grid)), state, 0, said.append) as service:
        for at in range(12):
            service.store.add(**shell(text), size=1 + at % 3, time_s=10.0, folder=str(tmp_path))
        service.store.add(**shell("exit 3"), size=8)
        service.store.add(**shell("exec sleep 1000"), size=5, name="endless")
        until(service, lambda: service.store.job(14).started is not None)
        assert call("cancel", "--state", state, 14).exit_code == 0
        waits = f"until [ -e {tmp_path}/go ]; do sleep 0.1; done"
        first = service.store.add(**shell(waits), size=8, only="b")
        until(service, lambda: service.store.job(first).started is not None)
        second = service.store.add(**shell("sleep 1"), size=8, only="b")
        held = "squeue", "-h", "-o", "%r|%j"
        until(service, lambda: "JobHeldUser|metasched" in ask(clusters["b"], *held))
        service.store.add(**shell("sleep 1"), size=8, only="b")
        assert call("cancel", "--state", state, second).exit_code == 0
        (tmp_path / "go").touch()
        until(service, lambda: not service.store.left())
        jobs = service.store.jobs()
    assert [job.state for job in jobs[14:]] == ["done", "cancelled", "done"]
    jobs = jobs[:14]
    assert [job.state for job in jobs] == ["done"] * 12 + ["failed", "cancelled"]
    assert (jobs[12].exit_status, jobs[13].exit_status) == (3, 143)
    told = sorted((tmp_path / "told").read_text().split("\n")[:-1])
    assert told == sorted(f"{job.job} {job.site} {job.size}" for job in jobs[:12])
    assert {job.site for job in jobs} == {"a", "b"}
    for site in "ab":
        for each in (here := [job for job in jobs if job.site == site]):
            beside = [job for job in here if job.started <= each.started < job.ended]
            assert sum(job.size for job in beside) <= 8


@pytest.mark.thorough
def test_functions_are_called_on_clusters_of_slurm(grid, state, clusters):
    def where(x):
        if x == 3:
            raise KeyError(x)
        return x, os.environ["SLURM_JOB_PARTITION"], os.environ["METASCHED_SITE"]

    with at_work(grid, state), Executor(state, size=2, time="1m") as executor:
        futures = [executor.submit(where, x) for x in range(8)]
        assert type(futures.pop(3).exception(ONE_MINUTE)) is KeyError
        told = [future.result(ONE_MINUTE) for future in futures]
        killed = executor.submit(os.kill, 0, signal.SIGKILL)
        assert type(killed.exception(ONE_MINUTE)) is JobError
    assert [x for x, *_ in told] == [0, 1, 2, 4, 5, 6, 7]
    assert {partition for _, partition, _ in told} == {"main"}
    assert {site for *_, site in told} == {"a", "b"}
    left = [file.name for file in (state / "jobs").iterdir() if file.name not in ("4", "9")]
    assert left == []


@pytest.mark.thorough
def test_two_partitions_of_a_cluster_are_two_sites(grid, state, clusters, monkeypatch):
    monkeypatch.setattr(batch, "LEFT", 0.5)
    monkeypatch.setattr(batch, "TOO_LONG", 1.0)
    sites = [
        SITE.format(name=name, conf=clusters["a"].conf) + f'partition = "{name}"\n'
        for name in ("main", "fast")
    ]
    grid.write_text('global = "dll"\nlocal = "easy"\n' + "".join(sites))
    said = []
    with serving(load_grid(str(grid)), state, 0, said.append) as service:
        for site in ("main", "fast"):
            service.store.add(**shell("sleep 4"), size=2, only=site)
        until(service, lambda: not service.store.left())
        assert [(job.state, job.site) for job in service.store.jobs()] == [
            ("done", "main"), ("done", "fast")
        ]  # fmt: skip
        late = service.store.add(["true"], 1, 3600.0, only="fast")
        waits = f"job {late} (true): PENDING (PartitionTimeLimit) at fast"
        until(service, lambda: waits in said)
        call("cancel", "--state", state, late)
        until(service, lambda: not service.store.left())


@pytest.mark.thorough
def test_what_others_have_and_nodes_that_are_drained_are_left_to_them(grid, state, clusters):
    other = clusters["a"]
    ask(other, "sbatch", "-n", "3", "-J", "other", "-o", "/dev/null", "--wrap", "sleep 1000")
    ask(other, "scontrol", "update", "nodename=a2", "state=drain", "reason=test")
    said = []
    try:
        with serving(load_grid(str(grid)), state, 0, said.append) as service:
            until(service, lambda: "a: 1 of 8 processors for our jobs" in said)
            for _ in range(4):
                service.store.add(["true"], 4)
            service.store.add(["true"], 1, only="a")
            until(service, lambda: not service.store.left())
            assert [job.site for job in service.store.jobs()] == [*"bbbba"]
            ask(other, "scancel", "-n", "other")
            other.resume()
            until(service, lambda: "a: 8 of 8 processors for our jobs" in said)
    finally:
        ask(other, "scancel", "-n", "other")
        other.resume()
        while ask(other, "squeue", "-h", "-n", "other"):  # a controller that is killed forgets it
            time.sleep(0.1)


@pytest.mark.thorough
def test_a_partition_that_starts_no_job_gets_none_and_fails_none(grid, state, clusters):
    of, said = clusters["a"], []
    with serving(load_grid(str(grid)), state, 0, said.append) as service:
        first = service.store.add(**shell("sleep 10"), size=8, only="a")
        until(service, lambda: service.store.job(first).started is not None)
        ask(of, "scontrol", "update", "partitionname=main", "state=drain")
        try:
            early = service.store.add(["true"], 1, only="a")  # before it is known
            until(service, lambda: "a: 0 of 8 processors for our jobs" in said)
            assert service.store.job(first).state == "running"
            elsewhere = service.store.add(["true"], 8)
            until(service, lambda: service.store.job(elsewhere).ended is not None)
        finally:
            ask(of, "scontrol", "update", "partitionname=main", "state=up")
        until(service, lambda: not service.store.left())
        assert [service.store.job(job).state for job in (early, elsewhere)] == ["done", "done"]
        assert service.store.job(elsewhere).site == "b"


@pytest.mark.thorough
def test_what_waits_where_nodes_are_drained_goes_elsewhere(grid, state, clusters, monkeypatch):
    monkeypatch.setattr(batch, "TOO_LONG", 1.0)
    of, said = clusters["a"], []
    with serving(load_grid(str(grid)), state, 0, said.append) as service:
        for node in ("a1", "a2"):  # which the service does not know yet
            ask(of, "scontrol", "update", f"nodename={node}", "state=drain", "reason=test")
        try:
            job = service.store.add(["true"], 8)
            until(service, lambda: service.store.job(job).ended is not None)
        finally:
            of.resume()
        until(service, lambda: "a: 8 of 8 processors for our jobs" in said)
        found = service.store.job(job)
        assert (found.state, found.site, found.attempt) == ("done", "b", 2)
        assert f"job {job} (true): has not begun at a; waits again" in said
    stories = call("explain", "--json", state, job).stdout
    assert "has not begun at a; waits again" in stories
    assert call("verify", state).exit_code == 0


@pytest.mark.thorough
def test_a_controller_that_is_killed_loses_no_job(grid, state, clusters, tmp_path):
    """Not even those that it has just taken in, which Slurm forgets then."""
    said, killed = [], clusters["a"]
    with serving(load_grid(str(grid)), state, 0, said.append) as service:
        first = service.store.add(**shell(f"sleep 4; echo 1 >> {tmp_path}/ran"), size=8, only="a")
        until(service, lambda: service.store.job(first).started is not None)
        for number in (2, 3, 4):
            service.store.add(**shell(f"echo {number} >> {tmp_path}/ran"), size=2, only="a")
        until(service, lambda: all(job.site for job in service.store.jobs("job = 1")))
        killed.kill()
        until(service, lambda: any("it gets no job until it answers again" in x for x in said))
        elsewhere = service.store.add(["true"], 8)
        until(service, lambda: service.store.job(elsewhere).ended is not None)
        assert service.store.job(elsewhere).site == "b"
        killed.start()
        begun = time.monotonic()
        while service.store.left():
            service.step()
            killed.resume()
            assert time.monotonic() - begun < 4 * ONE_MINUTE
            time.sleep(0.5)
        assert {job.state for job in service.store.jobs()} == {"done"}
    assert sorted((tmp_path / "ran").read_text().split()) == ["1", "2", "3", "4"]


@pytest.mark.slow
def test_every_job_runs_once_whatever_is_killed(grid, state, clusters, tmp_path):
    draws, jobs, kills = random.Random(1), 1000, 100
    with closing(Store(state, make=True)) as store:
        for number in range(1, jobs + 1):
            text = f"echo {number} >> {tmp_path}/ran; sleep {draws.uniform(1.0, 5.0):.2f}"
            store.add(**shell(text), size=draws.choice([1, 1, 2, 4]), time_s=20.0)
    command = [sys.executable, "-c", CODE, str(grid), str(state)]

    def serve():
        return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)

    service = serve()
    for _ in range(kills):
        time.sleep(draws.uniform(1.0, 6.0))
        for cluster in clusters.values():
            cluster.resume()
        what, cluster = draws.choice(["service", "controller", "node"]), draws.choice("ab")
        if what == "service":
            service.send_signal(signal.SIGKILL)
            service.wait()
            service = serve()
        else:
            daemon = "slurmctld" if what == "controller" else f"{cluster}{draws.choice('12')}"
            clusters[cluster].kill(daemon)
            time.sleep(draws.uniform(0.0, 8.0))
            clusters[cluster].start(daemon)
    while service.poll() is None:
        for cluster in clusters.values():
            cluster.resume()
        time.sleep(1.0)
    with closing(Store(state)) as store:
        failed = [job for job in store.jobs() if job.state != "done"]
    # Slurm kills a job now and then that it takes for an earlier one of its number.
    assert len(failed) <= jobs // 200, failed
    killed = [job.exit_status in batch.SIGNALLED or "were killed" in job.why for job in failed]
    assert all(killed), failed
    assert sorted(map(int, (tmp_path / "ran").read_text().split())) == [*range(1, jobs + 1)]


@pytest.mark.thorough
def test_a_cluster_that_does_not_answer_is_refused_unless_it_is_known(grid, state, clusters):
    for job in (served := [load_grid(str(grid))]):
        assert [each.size for each in job.drivers] == [8, 8]
    with serving(served[0], state, 0, print):
        pass
    nowhere = clusters["a"].folder / "none.conf"
    grid.write_text(grid.read_text().replace(str(clusters["a"].conf), str(nowhere)))
    with pytest.raises(GridError, match=r"sites\[0\]: .*; accepted: a cluster that answers"):
        load_grid(str(grid))
    found = call("serve", grid, "--state", state, "--once")
    assert found.exit_code == 0, found.output
    assert json.loads(call("queue", "--state", state, "--json").stdout) == []
    text = SITE.format(name="a", conf=clusters["a"].conf) + 'partition = "none"\n'
    grid.write_text('global = "dll"\nlocal = "easy"\n' + text)
    with pytest.raises(GridError, match="partition: found 'none'; accepted: fast, main"):
        load_grid(str(grid))


@pytest.mark.thorough
def test_policies_are_compared_on_clusters(grid, clusters, tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "SHORTEST", 1.0)
    monkeypatch.setattr(bench, "LONGEST", 2.0)
    words = "bench", "clusters", grid, "--jobs", 6, "--replications", 1, "--json"
    found = call(*words, "--out", tmp_path / "out")
    assert found.exit_code == 0, found.output
    told = json.loads(found.stdout)
    assert [each["name"] for each in told["policies"]] == [way.name for way in bench.WAYS]
    assert len(told["differences"]) == 3
    assert [each["simulated"]["same_site"] <= 1.0 for each in told["policies"]] == [True] * 3
    assert told["policies"][2]["simulated"]["same_site"] == 1.0
    refused = call(*words, "--federation", "--out", tmp_path / "out")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "sites[0]: found a cluster that is in no federation; accepted" in refused.stderr
    told = json.loads((tmp_path / "out" / "in-turn-0.json").read_text())
    assert told["site"] == [0, 1, 0, 1, 0, 1]
    jobs = bench.Clusters(str(grid), tmp_path, 6, 0.8).drawn(0)
    ran = [end - start for start, end in zip(told["start"], told["finish"], strict=True)]
    assert all(-0.05 < each - job["runtime"] < 5 for each, job in zip(ran, jobs, strict=True))
    assert all(start > job["arrival"] for start, job in zip(told["start"], jobs, strict=True))

    def interrupted(jobs, began):
        yield from [*jobs][:4]
        raise KeyboardInterrupt

    monkeypatch.setattr(bench, "LONGEST", 1000.0)
    monkeypatch.setattr(bench, "SHORTEST", 999.0)
    monkeypatch.setattr(bench, "_coming", interrupted)
    chosen = bench.Clusters(str(grid), tmp_path / "other", 6, 0.8)

    def live():
        asked = "squeue", "-h", "-t", "PD,R", "-o", "%i"
        return {(name, job) for name, of in clusters.items() for job in ask(of, *asked).split()}

    before = live()  # Slurm has jobs of before a controller was killed run now and then
    for way in bench.WAYS[1:]:
        with pytest.raises(KeyboardInterrupt):
            chosen.run(way, 0)
        time.sleep(2.0)
        assert live() <= before


@pytest.mark.thorough
def test_clusters_by_psij(grid, state, clusters, monkeypatch):
    pytest.importorskip("psij")
    monkeypatch.setenv("SLURM_CONF", str(clusters["a"].conf))
    site = '[[sites]]\nname = "P"\ndriver = "psij"\nexecutor = "slurm"\nslots = 4\n'
    grid.write_text(f'global = "dll"\nlocal = "fcfs"\n{site}')
    with serving(load_grid(str(grid)), state, 0, print) as service:
        for text in ("echo x; echo $SLURM_NTASKS", "exit 4", "exec sleep 1000"):
            service.store.add(**shell(text), size=2, time_s=300.0)
        until(service, lambda: service.store.job(3).started is not None)
    with serving(load_grid(str(grid)), state, 0, print) as service:
        assert service.store.job(3).state == "running"
        assert call("cancel", "--state", state, 3).exit_code == 0
        until(service, lambda: not service.store.left())
        jobs = service.store.jobs()
    assert [job.state for job in jobs] == ["done", "failed", "cancelled"]
    assert [job.exit_status for job in jobs[:2]] == [0, 4]
    assert (state / "jobs" / "1" / "output").read_text() == "x\n2\n"
    grid.write_text(grid.read_text().replace('"slurm"', '"slrum"'))
    with pytest.raises(GridError, match="executor: found 'slrum'; did you mean slurm"):
        load_grid(str(grid))


@pytest.mark.thorough
def test_a_shadow_sees_what_slurm_did(grid, state, clusters, tmp_path):
    of, told = clusters["a"], []
    usual = "-D", str(tmp_path), "-o", "/dev/null", "--parsable"
    ask(of, "scancel", "--me")  # what tests before may have left
    begun = time.monotonic()
    while ask(of, "squeue", "-h").strip():
        assert time.monotonic() - begun < SOON
        time.sleep(0.2)
    held = int(ask(of, "sbatch", *usual, "-n", "1", "-H", "--wrap", "true"))

    def seen():
        with closing(Sightings(state)) as sightings:
            return [dict(job) for job in sightings.jobs(0.0)]

    def until_seen(**facts):
        begun = time.monotonic()
        while not any(facts.items() <= job.items() for job in seen()):
            assert time.monotonic() - begun < SOON
            time.sleep(0.2)

    def submit():
        try:
            until_seen(id=str(held), state="PENDING")
            ask(of, "sbatch", *usual, "-n", "3", "-t", "2", "--array=1-4%2", "--wrap", "sleep 2")
            ask(of, "sbatch", *usual, "-n", "2", "-t", "1", "--wrap", "sleep 1")
            long = ask(of, "sbatch", *usual, "-n", "8", "--requeue", "--wrap", "sleep 99").strip()
            until_seen(id=long, state="RUNNING")
            time.sleep(1.0)  # Slurm tells of whole seconds: one later than it was submitted
            ask(of, "scontrol", "requeue", long)
            until_seen(id=long, restarts=1)
        finally:
            shadow.stop()

    asked = Asked((Pair("home", "easy"), Pair("dll", "easy")), 1000.0, 1.0)
    try:
        with shadowing(load_grid(str(grid), driver=Watched), state, asked, print) as shadow:
            submitting = threading.Thread(target=submit)
            submitting.start()
            shadow.run(told.append)
            submitting.join()
    finally:
        ask(of, "scancel", "--me")
    jobs = [job for job in seen() if job["submitted"] >= told[0]["begin"]]
    first, again = (job for job in jobs if job["size"] == 8)
    assert (first["state"], first["ended"]) == ("REQUEUED", again["submitted"])
    assert (again["started"], again["restarts"]) == (None, 1)
    done = [job for job in jobs if job["state"] == "COMPLETED"]
    assert sorted(job["id"].partition("_")[2] for job in done) == ["", "1", "2", "3", "4"]
    lines = (of.folder / "ended.txt").read_text().splitlines()
    lines = [line for line in lines if "JobState=COMPLETED" in line][-5:]
    said = [dict(word.split("=", 1) for word in line.split() if "=" in word) for line in lines]
    for name in ("submitted", "started", "ended"):
        word = {"submitted": "SubmitTime", "started": "StartTime", "ended": "EndTime"}[name]
        times = sorted(datetime.fromisoformat(each[word]).timestamp() for each in said)
        assert sorted(job[name] for job in done) == times
    assert told[0]["left_out"]["still waiting"] == 2
    assert [row["jobs"] for row in told[0]["policies"]] == [6, 6, 6]
