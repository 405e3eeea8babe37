"""Files that runs read: known by what is in them, and read once by each process."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable, Mapping

from agents.importing import own_files
from agents.learned.policy import file_of
from experiments.scenario.jobs import READ, Source, paths_of, read_source
from experiments.scenario.parameters import Parameters
from experiments.scenario.scenario import Scenario
from experiments.sweeps.run_store import code_digest
from grid.errors import GridError
from grid.named_files import files_of
from grid.platform.multicluster import Platform
from grid.reading import digest
from grid.workloads.table import Table

_tables: dict[tuple[object, ...], Table] = {}
_lock = threading.Lock()


def own_code(scenarios: Iterable[Scenario]) -> dict[str, str]:
    """Return the SHA-256 of files of the user's own code by their names, as `own_files` does.

    Of the code that scenarios name, and of what it imports; and of policies that were learned.

    Raises
    ------
    GridError
        If a file cannot be read.
    """
    modules, learned = set(), {}
    for each in scenarios:
        modules |= {kind.__module__ for kind in (each.policy, each.local_policy, each.predictor)}
        predicts = each.parameters.prediction
        for name in (each.global_scheduler, each.local_scheduler, predicts, *each.own_metrics):
            if not isinstance(name, str) or ":" not in name:
                continue
            if (file := file_of(name)) is not None:
                learned[name] = str(file)
            else:  # which may be made of what others define
                modules.add(name.partition(":")[0])
    files = {**own_files(modules), **learned}
    return {name: digest(file) for name, file in sorted(files.items())}


def named_files(scenarios: Iterable[Scenario]) -> dict[str, str]:
    """Return the SHA-256 of the files that parameters of scenarios name, or lead to, by path.

    Raises
    ------
    GridError
        If a file cannot be read.
    """
    paths: dict[str, None] = {}
    for each in scenarios:
        kinds = each.parameters.kinds
        paths |= dict.fromkeys(files_of(each.to_dict()["parameters"], kinds))
    return {path: digest(path) for path in paths}


def digest_of_files(scenario: Scenario) -> str:
    """Return what tells runs from those of other files: a digest.

    Of its logs, of files that its parameters name, and of the user's own code.

    Raises
    ------
    GridError
        If a file cannot be read.
    """
    logs = {path: digest(path) for path in scenario.logs}
    told = logs | named_files([scenario]) | own_code([scenario])
    return hashlib.sha256(repr(sorted(told.items())).encode()).hexdigest() if told else ""


def check_digests(digests: Mapping[str, str]) -> None:
    """Raise `GridError` for a file that is not there, or not what it was, by its SHA-256."""
    for path, known in digests.items():
        if digest(path) != known:
            raise GridError(f"{path}: found another content; accepted: that of the study's begin")


def unfit(code: str, digests: Mapping[str, str]) -> str:
    """Return in words why this process cannot do the runs of a study, or "" if it can.

    Parameters
    ----------
    code : str
        `code_digest` of the study.
    digests : mapping of str to str
        SHA-256 of each file that runs read.
    """
    if code_digest() != code:
        return "another version of metasched; accepted: the same as here"
    try:
        check_digests(digests)
    except GridError as error:
        return str(error)
    return ""


def read_once(
    digests: Mapping[str, str], source: Source, platform: Platform, parameters: Parameters
) -> Table:
    """Read logs as `read_source` does, once in a process for each content.

    Parameters
    ----------
    digests : mapping of str to str
        SHA-256 of each file, which is checked before it is read.
    source, platform, parameters
        As for `read_source`.

    Raises
    ------
    GridError
        If a file is not what it was.
    """
    known = {path: digests[path] for path in paths_of(source)}
    how = [repr(getattr(parameters, name)) for name in READ]
    key = (*known.items(), str(source), *platform.names, platform.speed, *how)
    with _lock:  # threads of a worker wait for the first one's
        if key not in _tables:
            check_digests(known)
            _tables[key] = read_source(source, platform, parameters)
        return _tables[key]
