"""A scenario as a TOML file has it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agents.registry import GLOBAL, LISTED, LOCAL, global_scheduler, is_name, local_scheduler
from experiments.run.own_metrics import check_names
from experiments.scenario.checked import INSTEAD, ScenarioError, checked, kinds_for
from experiments.scenario.fields import LISTS, OUTPUTS, SITES, strings
from grid.errors import GridError
from grid.foreign import plain, quoted
from grid.named_files import located
from grid.names import meant
from grid.platform.multicluster import Platform
from grid.strict import text_of, toml_of

KEYS = ("title", "paper", "global", "local", "workload", "outputs", "own_metrics", "parameters")
PLATFORM_KEYS = ("clusters", "brokers", "changes", "switches", "links", "speed")
INSTEAD_OF_KEYS = (
    INSTEAD
    | {
        "platform": "accepted: clusters and links themselves, or --platform FILE beside the "
        "scenario"
    }
    | dict.fromkeys(
        ("scenario", "scenarios", "policies", "vary", "replications"),
        "accepted: a scenario; a file with this key is a study, for `metasched study`",
    )
    | {
        "sites": "accepted: a scenario; a file with this key is a grid of real sites, for "
        "`metasched serve`"
    }
)
"""Of keys that one might expect: how to say what they would."""
DEFAULTS = {"title": "", "paper": "", "global": "muscle", "local": "titan"}


Instead = tuple[str | None, str | None]
"""The global and the local scheduler that a user wants, None: what the file says."""


def read_toml(
    path: Path, instead: Instead = (None, None), other: Platform | None = None
) -> dict[str, Any]:
    """Return the fields of `experiments.scenario.Scenario` that a file gives.

    Parameters
    ----------
    path : Path
        The file, to whose folder logs are relative.
    instead : pair of str or None
        Schedulers to have where those of the file are not there.
    other : Platform, optional
        Taken where the file has no platform.

    Raises
    ------
    ScenarioError
        If it cannot be read, or is no scenario.
    """
    table = toml_of(text_of(path, "a TOML file", ScenarioError), str(path), ScenarioError)
    for key in table:
        if key not in KEYS + PLATFORM_KEYS:
            likely = INSTEAD_OF_KEYS.get(key) or meant(key, (*KEYS, *PLATFORM_KEYS))
            raise ScenarioError(f"{path}: {plain(key)}: unknown key; {likely}")
    text = {key: table.get(key, default) for key, default in DEFAULTS.items()}
    for key, found in text.items():
        if not isinstance(found, str):
            raise ScenarioError(f"{path}: {key}: found {quoted(found)}; accepted: a string")
    for key, known, wanted in zip(("global", "local"), (GLOBAL, LOCAL), instead, strict=True):
        if not is_name(text[key], known) and wanted is None:
            level = ", of the other level" if text[key] in GLOBAL | LOCAL else ""
            likely = meant(text[key], known, LISTED)
            raise ScenarioError(f"{path}: {key}: found {quoted(text[key])}{level}; {likely}")
    if not isinstance(table.get("parameters", {}), dict):
        raise ScenarioError(f"{path}: parameters: accepted: a table [parameters]")
    outputs, own_metrics = (
        strings(table.get(key, []), key, of, str(path)) for key, of in LISTS.items()
    )
    for each in own_metrics:
        if not all(each.partition(":")):
            raise ScenarioError(
                f"{path}: own_metrics: found {quoted(each)}; accepted: {LISTS['own_metrics']}"
            )
    try:
        check_names(own_metrics)
    except GridError as error:
        raise ScenarioError(f"{path}: own_metrics: {error}") from error
    if any(each not in OUTPUTS for each in outputs):
        raise ScenarioError(
            f"{path}: outputs: found {[*outputs]}; accepted: a list of {', '.join(OUTPUTS)}"
        )
    policies = []
    for key, find, wanted in zip(
        ("global", "local"), (global_scheduler, local_scheduler), instead, strict=True
    ):
        try:
            policies.append(find(text[key]))
        except Exception as error:  # whatever a user's module raises
            if wanted is None:
                if isinstance(error, GridError):
                    raise ScenarioError(f"{path}: {error}") from error
                raise
            text[key] = wanted
            policies.append(find(wanted))
    return {
        "platform": _platform(table, path, other),
        "parameters": checked(
            located(table.get("parameters", {}), kinds_for((), policies), path.parent),
            str(path),
            policies,
        ),
        "global_scheduler": text["global"],
        "local_scheduler": text["local"],
        "workload": _logs(table, path),
        "title": text["title"],
        "paper": text["paper"],
        "outputs": outputs,
        "own_metrics": own_metrics,
    }


def _platform(table: Mapping[str, Any], path: Path, other: Platform | None) -> Platform:
    """Return the platform of a file, or the other one if it has none."""
    found = {key: table[key] for key in PLATFORM_KEYS if key in table}
    if found:
        return Platform.from_dict(found, str(path))
    if other is None:
        raise ScenarioError(
            f"{path}: clusters: none; accepted: at least one, [[clusters]], or a platform beside "
            "the scenario (--platform FILE, `platform` of a study or of metasched.load)"
        )
    return other


def _logs(table: Mapping[str, Any], path: Path) -> Path | list[str] | None:
    """Return the log, or those of sites, by paths from where the command runs."""
    found = table.get("workload", [])
    texts = found if isinstance(found, list) else [found]
    if found == "" or any("\0" in str(each) for each in texts):
        told = quoted(found)
        raise ScenarioError(f"{path}: workload: found {told}; accepted: {SITES}, or no such key")
    if isinstance(found, str):
        return path.parent / found
    sites = []
    for entry in strings(found, "workload", SITES, str(path)):
        site, separator, file = entry.partition("=")
        sites.append(f"{site}={path.parent / file}" if separator and file else entry)
    return sites or None
