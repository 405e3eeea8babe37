"""The platforms of a study that vary: what runs on them, who reads them, whose jobs differ."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.scenario.assignments import shown
from experiments.scenario.jobs import Source, site_paths
from experiments.scenario.unread import idle
from experiments.show.numbers import listed
from experiments.studies.definition import PLATFORM, Definition
from grid.errors import GridError, blaming
from grid.platform.multicluster import Platform
from grid.platform.reading import read_platform
from grid.workloads.table import Stated

if TYPE_CHECKING:
    from experiments.scenario.scenario import Scenario

CAPACITIES = "link_mbps"
"""The parameter of the capacities of links, in which platforms may differ."""
REPLACED = f"parameter {CAPACITIES} replaces the capacities of links, in which these files differ"


def platforms_of(study: Definition, where: Path) -> dict[str | None, Platform]:
    """Return the platforms that a study names, by what varies; None: that of all runs.

    Paths are relative to the folder of its file, `where`.
    """
    found: dict[str | None, Platform] = {}
    if study.platform is not None:
        with blaming(f"{where}: {PLATFORM}"):
            found[None] = read_platform(str(where.parent / study.platform))
    for name in study.vary.get(PLATFORM, ()):
        with blaming(f"{where}: vary: {PLATFORM}"):
            found[name] = read_platform(str(where.parent / name))
    given = study.vary.get(CAPACITIES) or [study.set.get(CAPACITIES, "auto")]
    stated: dict[tuple[str, ...], set[float]] = {}
    for link in [link for each in found.values() for link in each.to_dict()["links"]]:
        stated.setdefault(tuple(sorted(link["between"])), set()).add(link["capacity"])
    if "auto" in given or all(len(each) == 1 for each in stated.values()):
        return found
    return {name: replace(each, notes=(*each.notes, REPLACED)) for name, each in found.items()}


def fitting(
    values: Mapping[str, Any], platform: Platform, others: Collection[Platform]
) -> dict[str, Any]:
    """Return parameters, of those with a value for each cluster only what is of a platform.

    That is so where several are compared, one of which has each of the clusters.
    """
    names = {name for each in others for name in each.names} if len(others) > 1 else set()
    return {
        parameter: {name: given[name] for name in given if name in platform.names}
        if isinstance(given, Mapping) and names.issuperset(given)
        else given
        for parameter, given in values.items()
    }


def check_sites(
    where: Path, sources: Mapping[str, Source], bases: Mapping[str | None, Scenario]
) -> None:
    """Raise `GridError` if a platform that varies lacks a cluster whose log is replayed."""
    for workload, source in sources.items():
        sites = [] if isinstance(source, str | Path) else [*site_paths(source)]
        for name, base in bases.items():
            lacks = [site for site in sites if site not in base.platform.names]
            if name is not None and lacks:
                raise GridError(
                    f"{where}: vary: {PLATFORM}: {name}: found no cluster {listed(lacks, 'or')}; "
                    f"accepted: with those of workload {workload}"
                )


def digests_of(bases: Mapping[str | None, Scenario], where: Path) -> dict[str, str]:
    """Return what tells whether platforms that vary are the same again, by path."""
    return {
        str(where.parent / name): hashlib.sha256(
            json.dumps(base.to_dict()[PLATFORM], sort_keys=True).encode()
        ).hexdigest()
        for name, base in bases.items()
        if name is not None
    }


def have_other_jobs(bases: Iterable[Scenario], scenarios: Collection[Scenario]) -> bool:
    """Return whether jobs of scenarios, or deadlines drawn for them, differ by the platform.

    Synthetic jobs follow the processors that there are, drawn deadlines the slowest cluster.
    """
    platforms = [each.platform for each in bases]
    if any(each.workload is None for each in scenarios):
        return len({(*p.names, *p.sizes.tolist(), *p.rates.tolist()) for p in platforms}) > 1
    drawn = any(each.draws_deadlines for each in scenarios)
    return drawn and len({p.rates.min().item() for p in platforms}) > 1


def differ_in_links_alone(bases: Iterable[Scenario]) -> bool:
    """Return whether platforms are the same but for the capacities of their links."""
    seen = set()
    for each in bases:
        tables = each.to_dict()[PLATFORM]
        links = [{**link, "capacity": 0} for link in tables["links"]]
        seen.add(json.dumps({**tables, "links": links}, sort_keys=True))
    return len(seen) == 1


def why_unread(scenarios: Iterable[Scenario], stated: Stated) -> str:
    """Return why the capacities of links mean nothing in any of the scenarios, "" if they do."""
    given = (each.with_parameters({CAPACITIES: 1.0}, PLATFORM) for each in scenarios)
    why = [idle(each, stated).get(CAPACITIES, "") for each in given]
    return why[0] if all(why) else ""


def by_platform(
    run: Mapping[tuple[str, Any], Scenario],
) -> dict[str | None, list[Scenario]]:
    """Return the scenarios of runs by the platform that varies, or all of them by None."""
    found: dict[str | None, list[Scenario]] = {}
    for (_, (_, setting)), each in run.items():
        found.setdefault(json.loads(setting).get(PLATFORM), []).append(each)
    return found


def notes_of_platforms(run: Mapping[tuple[str, Any], Scenario]) -> Iterator[str]:
    """Yield what is noted of the platforms of runs, and where not of all, of which."""
    places: list[dict[str, str]] = []
    noted: dict[str, list[dict[str, str]]] = {}
    for (_, (_, setting)), each in run.items():
        given = each.to_dict()["parameters"] | json.loads(setting)
        names = (PLATFORM, "clusters", CAPACITIES)
        places.append({name: shown(given[name]) for name in names if name in given})
        for note in each.platform.notes:
            noted.setdefault(note, []).append(places[-1])
    for note, of in noted.items():
        which = []
        for name in places[0]:
            values = [*dict.fromkeys(place[name] for place in of)]
            if len(values) < len({place[name] for place in places}):
                which.append(f"{name} {listed(values, 'or')}")
        yield f"platform: {note}" + (f" ({', '.join(which)})" if which else "")
