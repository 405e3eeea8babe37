"""The platform of a scenario, of the size that its parameters say."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, TypeVar

from experiments.scenario.checked import ScenarioError
from experiments.scenario.parameters import Parameters
from experiments.show.numbers import counted, number
from grid.platform.multicluster import MAX_SIZE, Platform
from grid.workloads.table import Table

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

S = TypeVar("S", bound="DataclassInstance")


def sized(platform: Platform, parameters: Parameters) -> Platform:
    """Return the platform with the clusters, nodes and links that the parameters name."""
    clusters, nodes, capacity = parameters.clusters, parameters.nodes, parameters.link_mbps
    if nodes == "log":  # which is read when the model is made
        nodes = "auto"
    if clusters == nodes == capacity == "auto":
        return platform
    tables, notes = platform.to_dict(), platform.notes
    if clusters != "auto":
        first, link = platform.clusters[0], tables["links"][0]
        star = Platform.star([first.size] * clusters, first.rate, link["capacity"], link["latency"])
        tables = star.to_dict()
        if lost := len(platform.changes):  # they are of clusters that are no more
            of_it = f"{counted(lost, 'change')} of processors {'is' if lost == 1 else 'are'}"
            notes += (f"parameter clusters replaces those of the file, whose {of_it} left out",)
    for cluster in tables["clusters"]:
        cluster["size"] = cluster["size"] if nodes == "auto" else nodes
    if capacity != "auto":
        stated = [link["capacity"] for link in tables["links"]]
        if min(stated) < max(stated):
            low, high = (number(each) for each in (min(stated), max(stated)))
            ends = f"{low} to {high} Mbit/s"
            if max(stated) == math.inf:
                ends = f"{low} Mbit/s to no limit"
            notes += (f"parameter link_mbps replaces the capacities of its links, {ends}",)
        for link in tables["links"]:
            link["capacity"] = capacity
    whole = Platform.from_dict(tables)
    return dataclasses.replace(whole, speed=platform.speed, notes=notes)


def on(scenario: S, platform: Platform) -> S:
    """Return a scenario on a platform as it is, whatever its parameters would make of it.

    A machine of so many processors may have been given more, for that many were in use.
    """
    found = dataclasses.replace(scenario)
    object.__setattr__(found, "platform", platform)
    return found


def of_log(platform: Platform, parameters: Parameters, log: Table, where: str) -> Platform:
    """Return the platform with clusters of as many nodes as a log says, or that of each.

    Raises
    ------
    ScenarioError
        If there are too many; `where` begins the message.
    """
    if log.machine > MAX_SIZE:
        raise ScenarioError(
            f"{where}: {parameters.called('nodes')}: the workload's largest job has {log.machine} "
            f"processors; accepted: at most {MAX_SIZE}"
        )
    whole = sized(platform, parameters.model_copy(update={"nodes": log.machine}))
    clusters = [
        dataclasses.replace(each, size=log.machines.get(each.name, each.size))
        for each in whole.clusters
    ]
    return dataclasses.replace(whole, clusters=tuple(clusters))
