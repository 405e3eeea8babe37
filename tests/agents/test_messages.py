"""Messages as they are counted for each cluster."""

from __future__ import annotations

import logging

import pytest

from agents.messages import ScheduleReport, SeedSchedule
from agents.schedulers import GlobalScheduler

from .small_grids import FAR, PLATFORM, heard, model_of, ran, table, workload


class First(GlobalScheduler):
    """Sends every job to the first cluster."""

    def place(self, job):
        return self.clusters[0]


NEVER = float("inf")
JOBS = (
    (0.0, 1, 5.0),
    (1.0, 1, 5.0, NEVER, 0),
    (2.0, 1, 5.0, NEVER, 1),
    (3.0, 99, 5.0, NEVER, 2),
)
"""A job of the global scheduler's users, one of each cluster's; the last is too large."""


@pytest.mark.parametrize(("platform", "latency"), [(PLATFORM, 0.0), (FAR, 0.5)])
def test_messages_of_each_cluster_by_hand(platform, latency):
    model = ran(First, "fcfs", table(*JOBS), platform, latency=latency)
    first, second, third = (cluster.messages for cluster in model.clusters)
    told = model.world.messages["advertisement"]
    # Two transfers, one submission, the order to start its own job; that job's metadata.
    assert first == {"sent": 1 + told, "received": 4}
    # One submission, the order to transfer it; its metadata and the transfer.
    assert second == {"sent": 2, "received": 2}
    assert third == {"sent": 0, "received": 1}
    if not latency:
        assert told == 6  # each start and end
    counts = {"submission": 4, "metadata": 2, "order": 2, "transfer": 2, "advertisement": told}
    assert model.world.messages == counts
    by_users, by_global = 4, 2 + 1
    assert model.messages == by_users + by_global + first["sent"] + second["sent"]


def test_a_job_on_its_way_is_a_message_already():
    model = model_of(First, "fcfs", table(*JOBS[:1]), FAR, latency=0.5, interval=0.1)
    model.step()
    assert model.clusters[0].messages == {"sent": 0, "received": 1}
    assert model.in_flight == 1


@pytest.mark.parametrize("local", ["titan", "fcfs"])
def test_messages_of_schedulers_count_for_the_clusters_too(local):
    model = model_of("muscle", local, workload(share=0.6), FAR, latency=0.5)
    told = heard(model)
    model.run()
    mailed = [m for m in told if isinstance(m, (SeedSchedule, ScheduleReport))]
    assert len(mailed) == model.messages_posted > 0
    records, kinds, advertised = model.world.log.records(), model.world.messages, 0
    for index, cluster in enumerate(model.clusters):
        own, here = records["origin"] == index, records["cluster"] == index
        transfers, reports = (own & ~here).sum(), sum(m.sender == cluster.name for m in mailed)
        seeds = sum(m.receiver == cluster.name for m in mailed)
        assert min(transfers, reports, seeds) > 0
        # Submissions and orders of its own jobs, transfers of the others.
        assert cluster.messages["received"] == seeds + 2 * own.sum() + (here & ~own).sum()
        advertised += cluster.messages["sent"] - reports - own.sum() - transfers
    assert advertised == kinds["advertisement"]


def test_messages_go_to_pythons_logging_where_it_is_set_up(caplog, monkeypatch):
    monkeypatch.setattr(logging.getLogger("metasched"), "propagate", True)
    with caplog.at_level(logging.DEBUG, "metasched.messages"):
        model = ran("muscle", "titan", table((0.0, 1, 5.0)))
    assert [record.getMessage() for record in caplog.records] == [str(each) for each in model.said]
    assert "transfers job 1" in caplog.text
    caplog.clear()
    ran("muscle", "titan", table((0.0, 1, 5.0)))
    assert not caplog.records
