"""A federation of Slurm: a job waits on all of its clusters, and runs on the first to start it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from experiments.service.at_sites.batch_system import Listed, Look, SilentError
from experiments.service.at_sites.drivers import Driver
from experiments.service.at_sites.slurm import Federation, Slurm
from experiments.service.store import LiveJob
from grid.errors import GridError
from grid.foreign import quoted

ACCEPTED = "accepted with --federation: each cluster of one federation, once"


class Federated:
    """All clusters of a federation as one batch system, whose jobs are submitted at the first.

    Parameters
    ----------
    prefix : str
        How names of our jobs begin.
    drivers : sequence of Driver
        Of sites that `check_federation` accepts.
    """

    def __init__(self, prefix: str, drivers: Sequence[Driver]) -> None:
        self._clusters = [_cluster(driver, prefix) for driver in drivers]

    def take_up(self, token: str, folder: Path) -> None:
        """Do nothing: names tell."""

    def look(self) -> Look:
        """Return jobs of ours, which are revoked on all clusters but the one where they run."""
        looks = [cluster.look() for cluster in self._clusters]
        jobs: dict[str, Listed] = {}
        for look in looks:
            jobs |= {
                token: job for token, job in look.jobs.items() if token not in jobs or not job.ended
            }
        return Look(jobs, sum(look.capacity for look in looks))

    def submit(self, token: str, job: LiveJob, script: Sequence[str], output: Path) -> None:
        """Submit a script to the federation."""
        self._clusters[0].submit(token, job, script, output)

    def cancel(self, token: str, at_once: bool) -> None:
        """Have a job end wherever it runs, or may begin."""
        for cluster in self._clusters:
            with suppress(SilentError):  # others may answer
                cluster.cancel(token, at_once)


def check_federation(path: str, drivers: Sequence[Driver]) -> None:
    """Make sure that jobs of a federation can run at the sites of a grid, and nowhere else.

    Parameters
    ----------
    path : str
        Of the grid's file.
    drivers : sequence of Driver
        Of its sites.

    Raises
    ------
    GridError
        If the sites are not the clusters of one federation, with one partition each.
    """
    for at, driver in enumerate(drivers):
        if driver.name != "slurm":
            raise GridError(
                f"{path}: sites[{at}]: driver: found {quoted(driver.name)}; "
                "accepted with --federation: 'slurm'"
            )
        partition, usual = (each.given["partition"] for each in (driver, drivers[0]))
        if partition != usual:
            found, other = (quoted(each) if each else "none" for each in (partition, usual))
            raise GridError(
                f"{path}: sites[{at}]: partition: found {found}; "
                f"accepted with --federation: {other}, as of sites[0]"
            )
    told = [_federation(f"{path}: sites[{at}]", driver) for at, driver in enumerate(drivers)]
    clusters, first = sorted(each.cluster for each in told), told[0]
    if clusters != (accepted := sorted(first.clusters)):
        raise GridError(
            f"{path}: sites: found clusters {', '.join(clusters)}, and federation {first.name} "
            f"of {', '.join(accepted)}; {ACCEPTED}"
        )


def _federation(where: str, driver: Driver) -> Federation:
    """Return the federation of a site's cluster."""
    try:
        found = _cluster(driver).federation
    except SilentError as error:
        raise GridError(f"{where}: {error}; accepted: a cluster that answers") from None
    if found is None:
        raise GridError(f"{where}: found a cluster that is in no federation; {ACCEPTED}")
    return found


def _cluster(driver: Driver, prefix: str = "") -> Slurm:
    return Slurm(prefix, driver.given["slurm_conf"], driver.given["partition"], siblings=True)
