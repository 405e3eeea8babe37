"""A federation of Slurm beside policies; Slurm's commands are pretended, and jobs run here."""

from __future__ import annotations

import json
import os
import time
from contextlib import closing

import pytest

from experiments.bench import clusters
from experiments.bench.clusters import FEDERATION, WAYS, Clusters
from experiments.service.at_sites.batch_system import SilentError
from experiments.service.at_sites.slurm import Federation, Slurm
from experiments.service.store import Store
from tests.experiments.commands import call
from tests.experiments.service.test_service import running

FAKE = """#!/bin/sh
cluster=$(basename "$SLURM_CONF" .conf)
mkdir -p {folder}/jobs
echo "$cluster ${{0##*/}} $*" >> {folder}/calls
silent={folder}/$cluster.silent
[ ! -e $silent ] || [ "${{0##*/}}" = scontrol ] || {{ echo timed out >&2; exit 1; }}
case ${{0##*/}} in
sinfo) echo "main*|up|idle|0/4/0/4" ;;
scontrol) [ -e $silent ] || cat {folder}/$cluster.federation 2>/dev/null || : ;;
sbatch)
    at=b  # where jobs of the federation run: not where they are submitted
    while case $1 in -*) ;; *) false ;; esac; do
        case $1 in
            --job-name=*) name=${{1#*=}} ;;
            --clusters=*) at=${{1#*=}} ;;
        esac
        shift
    done
    setsid sh "$@" > /dev/null 2>&1 &
    echo "$at $!" > {folder}/jobs/$name ;;
squeue)
    for job in {folder}/jobs/*; do
        [ -e "$job" ] || continue
        read -r at pid < $job
        state=REVOKED
        [ $at != $cluster ] || {{ state=COMPLETED; kill -0 $pid 2>/dev/null && state=RUNNING; }}
        echo "${{job##*/}}|$state|1|None"
    done ;;
scancel)
    read -r at pid < {folder}/jobs/${{1#--name=}}
    [ $at != $cluster ] || kill -KILL -$pid ;;
esac
"""
SELF = "Self:       {}:127.0.0.1:6817 ID:1 FedState:ACTIVE Features:\n"
SIBLING = (
    "Sibling:    {}:127.0.0.1:6818 ID:2 FedState:ACTIVE Features: PersistConnSend/Recv:No/No\n"
)
SITE = '[[sites]]\nname = "{}"\ndriver = "slurm"\nslurm_conf = "{}"\n'


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    """Return a folder whose `NAME.federation` are what clusters say of the one they are in."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sbatch", "scancel", "scontrol", "sinfo", "squeue"):
        (folder / name).write_text(FAKE.format(folder=folder))
        (folder / name).chmod(0o755)
    for name in "abcd":
        (folder / f"{name}.conf").touch()
    for own, other in ("ab", "ba"):
        said = "Federation: fed\n" + SELF.format(own) + SIBLING.format(other)
        (folder / f"{own}.federation").write_text(said)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setattr(clusters, "SHORTEST", 0.1)
    monkeypatch.setattr(clusters, "LONGEST", 0.3)
    monkeypatch.setattr(clusters, "LOOK", 0.1)
    return folder


@pytest.fixture
def grid(slurm, tmp_path):
    (tmp_path / "grid.toml").write_text(
        "".join(SITE.format(name.upper(), f"{slurm}/{name}.conf") for name in "ab")
    )
    return tmp_path / "grid.toml"


def calls(slurm, command):
    """Return the clusters that a command was for, and its words."""
    lines = [line.split() for line in (slurm / "calls").read_text().splitlines()]
    return [(cluster, words) for cluster, name, *words in lines if name == command]


@pytest.mark.thorough
def test_a_federation_is_a_way_of_its_own(grid, slurm, tmp_path, monkeypatch):
    monkeypatch.setattr(clusters, "WAYS", WAYS[2:])  # agents are as elsewhere
    out = tmp_path / "out"
    words = "bench", "clusters", grid, "--jobs", 4, "--replications", 2, "--out", out
    found = call(*words, "--federation", "--json")
    assert found.exit_code == 0, found.output
    told = json.loads(found.stdout)
    assert [each["name"] for each in told["policies"]] == ["given in turn", "Slurm's federation"]
    assert [(each["of"], each["to"]) for each in told["differences"]] == [
        ("given in turn", "Slurm's federation")
    ]
    for seed in (0, 1):
        kept = json.loads((out / f"federation-{seed}.json").read_text())
        assert kept["site"] == [-1] * 4
        assert kept["given"] == json.loads((out / f"in-turn-{seed}.json").read_text())["given"]
    submitted = calls(slurm, "sbatch")
    alone = [(at, word) for at, given in submitted for word in given if "--clusters" in word]
    assert alone == [("a", "--clusters=a"), ("b", "--clusters=b")] * 4
    assert [at for at, given in submitted if not any("--clusters" in word for word in given)] == [
        *("a" * 8)
    ]
    before = len(submitted)
    assert call(*words, "--federation").exit_code == 0  # what is kept is not run again
    assert len(calls(slurm, "sbatch")) == before
    assert len(json.loads(call(*words, "--json").stdout)["policies"]) == 1  # only on request


@pytest.mark.thorough
def test_jobs_of_agents_stay_at_their_sites(grid, slurm, tmp_path):
    found = Clusters(str(grid), tmp_path / "out", 4, 0.8, True).run(WAYS[1], 0)
    submitted = calls(slurm, "sbatch")
    assert len(submitted) == 4
    assert all(f"--clusters={at}" in given for at, given in submitted)
    assert sorted(found.site) == sorted("ab".index(at) for at, _ in submitted)


def test_ctrl_c_ends_jobs_wherever_they_are(grid, slurm, tmp_path, monkeypatch):
    own = f"{7000 + os.getpid() % 1000}.000"  # of no other test
    monkeypatch.setattr(clusters, "SHORTEST", float(own))
    monkeypatch.setattr(clusters, "LONGEST", float(own) + 0.0001)

    def interrupted(jobs, began):
        yield from [*jobs][:3]
        until = time.monotonic() + 20
        while len([*tmp_path.glob("out/.*/state/jobs/*/started")]) < 3:
            assert time.monotonic() < until
            time.sleep(0.05)
        (slurm / "a.silent").touch()
        raise KeyboardInterrupt

    monkeypatch.setattr(clusters, "_coming", interrupted)
    chosen = Clusters(str(grid), tmp_path / "out", 4, 0.8, True)
    with pytest.raises(KeyboardInterrupt):
        chosen.run(FEDERATION, 0)
    assert not running("sleep", own)
    assert {at for at, _ in calls(slurm, "scancel")} == {"a", "b"}
    assert not os.listdir(tmp_path / "out")


@pytest.mark.parametrize(
    ("sites", "told"),
    [
        (
            ["a", "b", "local"],
            "sites[2]: driver: found 'local'; accepted with --federation: 'slurm'",
        ),
        (
            ["a", "b:main"],
            "sites[1]: partition: found 'main'; accepted with --federation: none, as of sites[0]",
        ),
        (["a", "c"], "sites[1]: found a cluster that is in no federation; accepted"),
        (["a"], "sites: found clusters a, and federation fed of a, b; accepted"),
        (["a", "a"], "sites[1]: found the cluster and partition of sites[0]; accepted"),
        (["a", "d"], "sites: found clusters a, d, and federation fed of a, b; accepted"),
    ],
)
def test_sites_that_are_no_federation_are_refused(sites, told, grid, slurm, tmp_path):
    (slurm / "d.federation").write_text("Federation: other\n" + SELF.format("d"))
    grid.write_text("".join(_site(at, name, slurm) for at, name in enumerate(sites)))
    found = call("bench", "clusters", grid, "--federation", "--out", tmp_path / "out")
    assert (found.exit_code, found.stdout) == (2, "")
    assert f"metasched: {grid}: {told}" in found.stderr
    assert not (tmp_path / "out").exists()


def _site(at, name, slurm):
    if name == "local":
        return '[[sites]]\nname = "local"\nslots = 4\n'
    cluster, _, partition = name.partition(":")
    site = SITE.format(f"s{at}", f"{slurm}/{cluster}.conf")
    return site + f'partition = "{partition}"\n' if partition else site


def test_a_controller_that_does_not_answer_is_in_no_federation_for_now(slurm):
    """Else all jobs would have siblings from then on: scontrol is silent then, but not in error."""
    cluster = Slurm("", f"{slurm}/a.conf")
    (slurm / "a.silent").touch()
    with pytest.raises(SilentError, match="timed out"):
        cluster.federation  # noqa: B018
    (slurm / "a.silent").unlink()
    assert cluster.federation == Federation("fed", "a", frozenset("ab"))
    assert Slurm("", f"{slurm}/c.conf").federation is None


def test_clusters_are_asked_of_themselves_alone(slurm):
    """Whatever `FederationParameters` has commands tell."""
    cluster = Slurm("", f"{slurm}/a.conf")
    assert (cluster.look().jobs, cluster.jobs("main", {"State": 10})) == ({}, [])
    asked = [words for command in ("sinfo", "squeue") for _, words in calls(slurm, command)]
    assert len(asked) == 3
    assert all("--local" in words for words in asked)


def test_a_cluster_of_no_federation_is_not_told_of_clusters(slurm, tmp_path):
    with closing(Store(tmp_path / "state", make=True)) as store:
        job = store.job(store.add(["true"], 1))
    Slurm("", f"{slurm}/c.conf").submit("token", job, ["-c", "true"], tmp_path / "output")
    ((_, words),) = calls(slurm, "sbatch")
    assert not any(word.startswith("--clusters") for word in words)
