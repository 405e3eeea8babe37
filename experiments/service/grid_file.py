"""A grid of real sites, as a TOML file has it: GRID.toml."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from agents.disciplines import RecordedScheduler
from agents.importing import importable_from
from experiments.scenario.checked import ScenarioError
from experiments.scenario.fields import strings
from experiments.scenario.parameters import ALIASES
from experiments.scenario.scenario import Scenario
from experiments.scenario.toml import PLATFORM_KEYS
from experiments.scenario.unread import OF_JOBS_AND_DEADLINES
from experiments.service.at_sites.drivers import DRIVERS, Driver
from experiments.service.database import Database
from experiments.service.store import LiveJob
from experiments.show.numbers import counted
from grid.durations import seconds
from grid.errors import GridError
from grid.foreign import plain, quoted
from grid.jobs import LONGEST
from grid.names import meant
from grid.platform.multicluster import Platform
from grid.strict import text_of, toml_of

PACKAGED = Path(str(resources.files("experiments") / "service" / "grids"))
KEYS = ("title", "global", "local", "parameters", "sites", "jobs")
OF_PLATFORM = tuple(key for key in PLATFORM_KEYS if key not in ("clusters", "changes"))
OF_CLUSTER = ("name", "rate", "switch", "latency", "capacity", "broker")
OF_JOB = ("command", "size", "time", "deadline", "name", "count")
NEVER = {
    *OF_JOBS_AND_DEADLINES,
    *("step", "clusters", "nodes", "speeds", "mean_up_time", "mean_down_time"),
}
"""Parameters of scenarios that mean nothing where jobs and clusters are real."""


@dataclass(frozen=True)
class LiveGrid:
    """What a service serves.

    Attributes
    ----------
    scenario : Scenario
        Its policies and parameters; the platform has a cluster for each site.
    drivers : tuple of Driver
        What opens each site.
    jobs : tuple of dict
        To submit when the service begins, as `Store.add` takes them: of an example.
    asked : tuple of str
        What `load_grid` was given to read it, wherever it is called: the name, and schedulers.
    """

    scenario: Scenario
    drivers: tuple[Driver, ...]
    jobs: tuple[dict[str, Any], ...]
    asked: tuple[str, str | None, str | None] = ("", None, None)

    @property
    def title(self) -> str:
        """What it is called, with its policies."""
        told = self.scenario.to_dict()
        return f"{self.scenario.name}: {told['global']} over {told['local']}"

    def credit(self, store: Database) -> None:
        """Have a file of jobs tell that its policies have started some."""
        pair = [self.scenario.to_dict()[level] for level in ("global", "local")]
        pairs = [each for each in store.note("policies") or [] if each != pair]
        store.note("policies", [*pairs, pair])

    def check_room(self, running: Sequence[LiveJob]) -> None:
        """Raise `GridError` unless it has the sites where jobs run, and room for them there."""
        sizes = {cluster.name: cluster.size for cluster in self.scenario.platform.clusters}
        for job in running:
            site = str(job.site)
            held = sum(each.size for each in running if each.site == site)
            if held > sizes.get(site, 0):
                found = counted(sizes[site], "processor") if site in sizes else "no such site"
                raise GridError(
                    f"job {job.job}: runs at {site}, where jobs hold {counted(held, 'processor')}: "
                    f"found {found}; accepted: a grid with room for them"
                )

    def note_in(self, store: Database) -> None:
        """Have a file of jobs tell which grid they are served on, and which sites it ever had."""
        scenario, ever = self.scenario, store.note("ever") or {}
        clusters = scenario.platform.clusters
        store.note("grid", self.asked)
        store.note("sites", {each.name: each.size for each in clusters})
        for each in clusters:
            most = max(each.size, ever.get(each.name, {}).get("size", 0))
            ever[each.name] = {"size": most, "rate": each.rate}
        store.note("ever", ever)


MOST_JOBS = 1_000_000
"""That a table of a grid may stand for."""


def load_grid(
    name: str,
    global_: str | None = None,
    local: str | None = None,
    sizes: Mapping[str, int] | None = None,
    driver: type[Driver] = Driver,
) -> LiveGrid:
    """Read the grid in a file, or one that comes with the product.

    Parameters
    ----------
    name : str
    global_, local : str, optional
        Schedulers, instead of those of the file.
    sizes : dict of str to int, optional
        Of sites, as they were before: for those that do not answer.
    driver : type of Driver
        What opens sites.

    Raises
    ------
    GridError
        If there is none, or it is none.
    """
    packaged = PACKAGED / f"{name}.toml"
    path = packaged if packaged.is_file() else Path(name)
    if path.suffix != ".toml" or not path.is_file():
        names = sorted(each.stem for each in PACKAGED.glob("*.toml"))
        known = meant(name, names, f"accepted: {', '.join(names)}, or the path of a file")
        raise GridError(f"grid {quoted(name)}: no such file; {known}")
    table = toml_of(text_of(path, "a TOML file", ScenarioError), str(path), ScenarioError)
    where = packaged.stem if path is packaged else str(path)
    _known(table, (*KEYS, *OF_PLATFORM), where)
    for key in ("title", "global", "local"):
        if not isinstance(table.get(key, ""), str):
            raise ScenarioError(f"{where}: {key}: found {quoted(table[key])}; accepted: a string")
    sites = _tables(table, "sites", where)
    if not sites:
        raise ScenarioError(f"{where}: sites: none; accepted: at least one, [[sites]]")
    drivers = [
        _driver(each, f"{where}: sites[{at}]", sizes, driver) for at, each in enumerate(sites)
    ]
    _check_apart(drivers, where)
    clusters = [
        {key: site[key] for key in OF_CLUSTER if key in site} | {"size": driver.size}
        for site, driver in zip(sites, drivers, strict=True)
    ]
    platform = {"clusters": clusters, **{key: table[key] for key in OF_PLATFORM if key in table}}
    given = table.get("parameters", {})
    if not isinstance(given, dict):
        raise ScenarioError(f"{where}: parameters: accepted: a table [parameters]")
    for key in given:
        if ALIASES.get(key, key) in NEVER:
            told = plain(key)
            raise ScenarioError(
                f"{where}: {told}: without meaning for real jobs; accepted: no {told}"
            )
    importable_from(Path.cwd())
    importable_from(path.parent)
    scenario = Scenario(
        plain(path.stem, most=255),
        Platform.from_dict(platform, where),
        {"prediction": "requested", **given, "mode": "open"},
        global_ or table.get("global", "muscle"),
        local or table.get("local", "titan"),
        title=table.get("title", ""),
        path=where,
    )
    check_foretold(scenario, where)
    jobs, largest = _tables(table, "jobs", where), int(scenario.platform.sizes.max())
    return LiveGrid(
        scenario,
        tuple(drivers),
        tuple(
            job
            for at, each in enumerate(jobs)
            for job in _jobs(each, f"{where}: jobs[{at}]", largest)
        ),
        (name if path is packaged else str(path.absolute()), global_, local),
    )


def check_foretold(scenario: Scenario, where: str) -> None:
    """Raise `ScenarioError` unless a scenario may have real jobs, or forecasts of jobs."""
    if scenario.parameters.prediction == "exact":
        raise ScenarioError(
            f"{where}: prediction: found 'exact'; accepted: requested, learned or another, for "
            "nobody knows how long jobs will run"
        )
    if issubclass(scenario.local_policy, RecordedScheduler):
        raise ScenarioError(
            f"{where}: local: found 'recorded', which starts as a log tells; accepted: another"
        )
    if scenario.largest_job > scenario.platform.sizes.max():
        raise ScenarioError(
            f"{where}: global: found {quoted(scenario.global_scheduler)}, which splits jobs; "
            "accepted: one that has each job run at one site"
        )


def _known(table: dict[str, Any], keys: tuple[str, ...], where: str) -> None:
    for key in table:
        if key not in keys:
            raise ScenarioError(f"{where}: {plain(key)}: unknown key; {meant(key, keys)}")


def _tables(table: dict[str, Any], key: str, where: str) -> list[dict[str, Any]]:
    found = table.get(key, [])
    if not (isinstance(found, list) and all(isinstance(each, dict) for each in found)):
        raise ScenarioError(f"{where}: {key}: found {quoted(found)}; accepted: tables [[{key}]]")
    return found


def _check_apart(drivers: Sequence[Driver], where: str) -> None:
    """Raise `ScenarioError` if two sites are one partition of a cluster."""
    known: dict[tuple[Any, Any], int] = {}
    for at, driver in enumerate(drivers):
        if driver.name == "slurm":
            first = known.setdefault((driver.given["slurm_conf"], driver.given["partition"]), at)
            if first != at:
                raise ScenarioError(
                    f"{where}: sites[{at}]: found the cluster and partition of sites[{first}]; "
                    "accepted: another of them"
                )


def _driver(
    site: dict[str, Any], where: str, sizes: Mapping[str, int] | None, driver: type[Driver]
) -> Driver:
    """Return what opens a site, of which it knows the size."""
    name = site.get("driver", "local")
    if not isinstance(name, str) or name not in DRIVERS:
        accepted = " or ".join(map(repr, DRIVERS))
        raise ScenarioError(f"{where}: driver: found {quoted(name)}; accepted: {accepted}")
    own = DRIVERS[name]
    _known(site, (*OF_CLUSTER, "driver", *own), where)
    given = {}
    for key, (fits, needed, what) in own.items():
        if key in site and not fits(site[key]):
            raise ScenarioError(f"{where}: {key}: found {quoted(site[key])}; accepted: {what}")
        if needed and key not in site:
            raise ScenarioError(f"{where}: {key}: missing; accepted: {what}")
        given[key] = site.get(key)
    called = site.get("name", "")
    size = sizes.get(called) if sizes and isinstance(called, str) else None
    return driver(name, given, where, size)


def _jobs(job: dict[str, Any], where: str, largest: int) -> list[dict[str, Any]]:
    """Return the jobs that a table stands for, as `Store.add` takes them."""
    _known(job, OF_JOB, where)
    command = strings(job.get("command", []), "command", "a program and its arguments", where)
    if any("\0" in each for each in command):
        found = quoted(command)
        raise ScenarioError(f"{where}: command: found {found}; accepted: texts without NUL")
    if not command:
        raise ScenarioError(f"{where}: command: missing; accepted: a program and its arguments")
    if not isinstance(name := job.get("name", ""), str) or "\0" in name:
        raise ScenarioError(f"{where}: name: found {quoted(name)}; accepted: a text without NUL")
    for key, most in (("size", None), ("count", MOST_JOBS)):
        found = job.get(key, 1)
        if type(found) is not int or found < 1 or (most is not None and found > most):
            to = "" if most is None else f" to {most:,}"
            wrong = f"found {quoted(found)}; accepted: a number from 1{to}"
            raise ScenarioError(f"{where}: {key}: {wrong}")
    if (size := job.get("size", 1)) > largest:
        raise ScenarioError(
            f"{where}: size: found {size}; accepted: at most {largest}, which the largest site has"
        )
    times = {}
    for key, of_store in (("time", "time_s"), ("deadline", "deadline")):
        if key in job:
            times[of_store] = time = seconds(str(job[key]))
            if time is None or time > LONGEST:
                accepted = "a time such as 90s or 10m"
                accepted = accepted if time is None else f"at most {LONGEST:g} s"
                raise ScenarioError(
                    f"{where}: {key}: found {quoted(job[key])}; accepted: {accepted}"
                )
    of_all = {"command": command, "size": job.get("size", 1), "name": name, **times}
    return [of_all] * job.get("count", 1)
