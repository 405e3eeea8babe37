"""Partitions and sites of one log as the clusters that its jobs come from."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from experiments.cli.app import main
from experiments.scenario.scenario import Scenario
from grid.errors import WorkloadError
from grid.jobs import ANYWHERE
from grid.logs.cleaning import NO_RUNTIME
from grid.logs.formats import read
from grid.logs.partitions import Partition, partitions_of
from grid.logs.workload import read_log, read_site_logs
from grid.platform.multicluster import Platform

CLUSTERS = ["C1", "C2"]


def swf(path, partitions, comment=";"):
    lines = [
        f"{j} {10 * j} 0 60 {j} -1 -1 {j} 60 -1 1 1 -1 -1 -1 {name} -1 -1"
        for j, name in enumerate(partitions, 1)
    ]
    path.write_text(f"{comment} a log\n" + "\n".join(lines) + "\n")
    return path


def test_jobs_come_from_the_cluster_of_their_partition(tmp_path):
    log = swf(tmp_path / "log.swf", [7, 2, 7, -1, 2, 5, 7])
    assert partitions_of(read(log)) == [
        Partition("7", 3, 7),
        Partition("2", 2, 5),
        Partition("5", 1, 6),
    ]
    table = read_log(log, CLUSTERS, partitions={"7": "C2", "2": "C1"})
    assert table.jobs["origin"].tolist() == [1, 0, 1, ANYWHERE, 0, ANYWHERE, 1]
    assert table.cleaning.rules == {"partition of no cluster (5): without an origin": 2}
    plain = read_log(log, CLUSTERS)
    for name in ("number", "arrival", "size", "user"):
        assert (plain.jobs[name] == table.jobs[name]).all()
    assert (plain.jobs["origin"] == ANYWHERE).all()


def test_dropped_records_of_other_partitions_do_not_count(tmp_path):
    log = swf(tmp_path / "log.swf", [7, 5, 5])
    log.write_text(log.read_text().replace("2 20 0 60", "2 20 0 -1"))
    rules = read_log(log, CLUSTERS, partitions={"7": "C2"}).cleaning.rules
    assert rules == {"partition of no cluster (5): without an origin": 1, NO_RUNTIME: 1}


@pytest.mark.parametrize(
    ("mapping", "says"),
    [
        (
            {"9": "C1"},
            r"^partitions: found '9'; accepted: those of .*: 7 with 2 jobs, 2 with 1 jobs",
        ),
        ({"7": "C9"}, r"^partitions: 7: found 'C9'; accepted: C1, C2$"),
    ],
)
def test_what_is_not_there_is_refused(tmp_path, mapping, says):
    log = swf(tmp_path / "log.swf", [7, 2, 7])
    with pytest.raises(WorkloadError, match=says):
        read_log(log, CLUSTERS, partitions=mapping)


def test_a_table_has_no_partitions(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text("arrival,size,runtime\n0,1,1\n")
    with pytest.raises(WorkloadError, match=r"found '1'; accepted: none, for .* has none$"):
        read_log(path, CLUSTERS, partitions={"1": "C1"})


def test_names_of_gwf_and_of_slurm(tmp_path, traces):
    gwf = swf(tmp_path / "log.gwf", ["gpu", "long", "gpu"], "#")
    table = read_log(gwf, CLUSTERS, partitions={"gpu": "C1", "long": "C2"})
    assert table.jobs["origin"].tolist() == [0, 1, 0]
    slurm = read(traces / "sacct" / "slurm_acct_micro_cluster_real.out")
    found = {each.name: each.jobs for each in partitions_of(slurm)}
    assert found["normal"] > 0
    assert sum(found.values()) == len(slurm.records)


def test_a_scenario_maps_partitions_and_inspect_lists_them(tmp_path):
    log = swf(tmp_path / "log.swf", [1, 2, 2, 3])
    text = f"""
workload = "{log.name}"
global = "no-share"
local = "fcfs"
[[clusters]]
name = "C1"
size = 8
[[clusters]]
name = "C2"
size = 8
[parameters]
mode = "open"
[parameters.partitions]
1 = "C1"
2 = "C2"
3 = "C1"
"""
    (tmp_path / "mine.toml").write_text(text)
    model = Scenario.load(str(tmp_path / "mine.toml")).model()
    model.run()
    records = model.world.log.records()
    assert (records["cluster"] == records["origin"]).all()  # no-share binds jobs to their cluster
    assert np.sort(records["cluster"]).tolist() == [0, 0, 1, 1]
    shown = CliRunner().invoke(main, ["inspect", str(log)]).output
    assert "Partitions or sites: 3" in shown
    told = json.loads(CliRunner().invoke(main, ["inspect", str(log), "--json"]).output)
    assert told["partitions"][0] == {"name": "2", "jobs": 2, "largest": 3}


@pytest.mark.thorough
def test_sites_of_a_grid(traces):
    log = read(traces / "swf" / "LCG-2005-1.swf.gz")
    found = partitions_of(log)
    assert len(found) == 170
    assert found[0] == Partition("40", 30966, 1)
    scenario = Scenario(
        "lcg",
        Platform.star([50, 50]),
        {"mode": "open", "partitions": {"40": "C1", "52": "C2"}, "window_end": 20_000.0},
        "migration-only",
        "fcfs",
        workload=traces / "swf" / "LCG-2005-1.swf.gz",
    )
    jobs = np.concatenate(list(scenario.model().workload.chunks()))
    assert {*jobs["origin"].tolist()} == {ANYWHERE, 0, 1}


HOSTS = ["{3,3}", "{12}", "{3,12,12}", "-1", "", "{7}"]
FURTHER = [f"{hosts} q_{place % 2}" for place, hosts in enumerate(HOSTS)]


def further(path, comment=";"):
    """Write records that go on after the 18th field."""
    lines = [
        f"{j} {10 * j} 0 60 {j} -1 -1 {j} 60 -1 1 1 -1 -1 {j % 2} 1 4 -1 {more}"
        for j, more in enumerate(FURTHER, 1)
    ]
    path.write_text(f"{comment} a log\n" + "\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(
    ("field", "found"),
    [
        (15, [Partition("0", 3, 6), Partition("1", 3, 5)]),
        (16, [Partition("1", 6, 6)]),
        (17, [Partition("4", 6, 6)]),
        # A line without hosts has its queue there.
        (19, [("3", 2, 3), ("12", 1, 2), ("q_0", 1, 5), ("7", 1, 6)]),
        (20, [("q_1", 3, 6), ("q_0", 2, 3)]),
    ],
)
@pytest.mark.parametrize("format", ["swf", "gwf"])
def test_any_field_may_name_the_partition(tmp_path, field, found, format):
    path = further(tmp_path / f"log.{format}", "#" if format == "gwf" else ";")
    log = read(path, partition_field=field)
    assert sorted(partitions_of(log)) == sorted(found)
    others = [name for name in log.records.dtype.names if name != "partition"]
    assert (log.records[others] == read(path).records[others]).all()
    places = log.records["partition"].tolist()
    assert {log.filed["partition"][place] for place in places} == {name for name, *_ in found}
    shown = CliRunner().invoke(main, ["inspect", str(path), f"--partition-field={field}", "--json"])
    assert sorted(
        tuple(each.values()) for each in json.loads(shown.output)["partitions"]
    ) == sorted(found)


@pytest.mark.parametrize("format", ["swf", "gwf"])
def test_a_field_that_no_record_has_is_refused(tmp_path, format):
    path = further(tmp_path / f"log.{format}", "#" if format == "gwf" else ";")
    with pytest.raises(WorkloadError, match=r"partition_field: found 30; accepted: from 1 to 20"):
        read(path, partition_field=30)


def test_a_range_of_partitions(tmp_path):
    path = further(tmp_path / "log.swf")

    def origins(mapping):
        jobs = read_log(path, CLUSTERS, partitions=mapping, partition_field=19).jobs
        return jobs["origin"].tolist()

    assert origins({"1-12": "C1"}) == [0, 0, 0, ANYWHERE, ANYWHERE, 0]
    assert origins({"1-12": "C1", "7": "C2"}) == [0, 0, 0, ANYWHERE, ANYWHERE, 1]
    assert origins({"3-6": "C1", "7-12": "C2", "q_0": "C2"}) == [0, 1, 0, ANYWHERE, 1, 1]
    for mapping, says in (
        ({"1-7": "C1", "7-12": "C2"}, r"^partitions: 7-12: found '7' in another range too"),
        ({"12-1": "C1"}, r"^partitions: found '12-1'; accepted: those of .*: 3 with 2 jobs"),
        ({"q_0-q_1": "C1"}, r"^partitions: found 'q_0-q_1'; accepted: those of"),
    ):
        with pytest.raises(WorkloadError, match=says):
            origins(mapping)


def test_the_log_of_a_site_names_partitions_by_any_field(tmp_path):
    log = swf(tmp_path / "log.swf", [7, 2, 7])
    table = read_site_logs({"C1": log}, CLUSTERS, partition_field=5)
    assert table.filed["partition"] == ("1", "2", "3")


def test_only_formats_with_fields_have_another_partition_field(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text("arrival,size,runtime\n0,1,1\n")
    says = r"^partition_field: found 19 for .*jobs.csv, of format csv; accepted: with swf and gwf"
    with pytest.raises(WorkloadError, match=says):
        read_log(path, CLUSTERS, partition_field=19)


@pytest.mark.thorough
def test_clusters_that_only_hosts_tell_apart(tmp_path, traces):
    log = traces / "swf" / "CERIT-SC-wagap-2013.swf.gz"
    assert len(partitions_of(read(log))) == 1
    (tmp_path / "cerit.toml").write_text(
        """
global = "home"
local = "easy"
[[clusters]]
name = "zewura"
size = 1600
[[clusters]]
name = "zegox"
size = 576
[parameters]
mode = "open"
partition_field = 19
partitions = { 1129-1248 = "zewura", 1249-1288 = "zegox" }
"""
    )
    result = str(tmp_path / "result")
    run = ["run", str(tmp_path / "cerit.toml"), "--workload", str(log), "--out", result]
    assert CliRunner().invoke(main, run).exit_code == 0
    assert CliRunner().invoke(main, ["verify", result]).exit_code == 0
    first = {}
    with gzip.open(log, "rt") as file:
        for line in file:
            fields = line.split()
            first[int(fields[0])] = int(fields[18][1:].partition(",")[0].rstrip("}"))
    jobs = pd.read_csv(tmp_path / "result" / "jobs.csv")
    placed = jobs["placement"].str.partition(":")[0]
    assert (placed == np.where(jobs["job"].map(first) <= 1248, "zewura", "zegox")).all()
    assert placed.value_counts().to_dict() == {"zegox": 9264, "zewura": 8634}
