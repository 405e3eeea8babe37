"""Scenarios: a platform, a workload, the schedulers and parameters, from a file or a script."""

from __future__ import annotations

import dataclasses
import math
import os
import runpy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agents.importing import importable_from
from agents.model import GridModel
from agents.pace.built_in import Exact
from agents.pace.predicting import is_told
from agents.pace.predictor import Prediction, Predictor
from agents.reads import read_deadlines
from agents.registry import global_scheduler, local_scheduler, name_of, predictor
from agents.schedulers import GlobalScheduler, LocalScheduler
from experiments.run.own_metrics import check_names
from experiments.scenario.assignments import read_settings
from experiments.scenario.checked import (
    ScenarioError,
    check_smallest,
    check_warmup,
    checked,
    kinds_for,
    merged,
    naming,
    plain_values,
)
from experiments.scenario.fields import check_fields, whole_seed
from experiments.scenario.files import is_packaged, scenario_file
from experiments.scenario.jobs import Source, build_workload, paths_of, read_source, step_of
from experiments.scenario.parameters import ALIASES, Parameters
from experiments.scenario.platform import of_log, on, sized
from experiments.scenario.recorded import as_it_was, chosen
from experiments.scenario.toml import Instead, read_toml
from experiments.show.display import Shown
from grid.errors import blaming
from grid.foreign import plain, quoted
from grid.metrics.performance import Criteria
from grid.platform.changes import Failures
from grid.platform.multicluster import Platform
from grid.workloads.table import Table

if TYPE_CHECKING:
    from experiments.scenario.fields import GivenParameters


@dataclass(frozen=True, repr=False)
class Scenario(Shown):
    """What to run.

    Parameters
    ----------
    name : str
        What it is called in results.
    platform : Platform
        Clusters and links.
    parameters : Parameters or mapping
        Values of parameters; the others keep their defaults.
    global_scheduler, local_scheduler : str or class
        A built-in policy, ``module:Class``, or a class.
    workload : path, sequence of ``name=path``, or None
        A log, or one for each site; None for synthetic jobs.
    title, paper : str
        One line for people; the key of the paper it comes from.
    outputs : sequence of str
        What a result holds beside the usual: ``"seed_schedules"``.
    own_metrics : sequence of str
        Metrics of the user's own, each ``module:function`` (`experiments.run.own_metrics`).
    packaged : frozenset of str
        Names of the parameters that were set by the product, not by its user.
    path : str
        The user's file that it is of, "" if none: begins messages instead of its name.
    sources : mapping of str to str
        Where parameters were given, if elsewhere: begins messages on them.

    Raises
    ------
    ScenarioError
        If a parameter is unknown or out of range, or a field is of another kind.

    Examples
    --------
    >>> platform, parameters = Platform.star([8, 4]), {"jobs": 5, "max_size": 4}
    >>> scenario = Scenario("two", platform, parameters, "dll", "fcfs")
    >>> model = scenario.model(seed=1)
    >>> model.run()
    >>> model.completed
    5
    """

    name: str
    platform: Platform
    if TYPE_CHECKING:
        parameters: GivenParameters = GivenParameters()
    else:
        parameters: Parameters | Mapping[str, Any] = field(default_factory=Parameters)
    global_scheduler: str | type[GlobalScheduler] = "muscle"
    local_scheduler: str | type[LocalScheduler] = "titan"
    workload: str | Path | Sequence[str] | None = None
    title: str = ""
    paper: str = ""
    outputs: Sequence[str] = ()
    own_metrics: Sequence[str] = ()
    packaged: frozenset[str] = frozenset()
    path: str = field(default="", compare=False, repr=False)
    sources: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        check_fields(vars(self))
        parameters: Parameters | Mapping[str, Any] = self.parameters
        kinds = Parameters.kinds
        if isinstance(parameters, Parameters):
            kinds, parameters = parameters.kinds, parameters.given()
        if kinds != kinds_for(parameters, self.policies, kinds):
            of_all = checked(dict(parameters), self.path or self.name, self.policies, kinds)
            object.__setattr__(self, "parameters", of_all)
        object.__setattr__(self, "platform", sized(self.platform, self.parameters))

    @classmethod
    def load(
        cls,
        name: str | os.PathLike[str],
        instead: Instead = (None, None),
        other: Platform | None = None,
    ) -> Scenario:
        """Return a packaged scenario by name, or a user's by path (``.toml`` or ``.py``).

        A ``.py`` file is a script that leaves a `Scenario` in its variable ``scenario``. Modules
        that a user's file names are looked for in its own folder, then in the current one; where
        schedulers of a ``.toml`` file are not there, it has those of `instead`, if they are given;
        where it has no platform, the `other`.

        Raises
        ------
        ScenarioError
            If there is none, or the file is not a scenario.
        """
        path = scenario_file(name)
        packaged = is_packaged(path)
        if not packaged:
            importable_from(Path.cwd())
            importable_from(path.parent)  # where a scenario's own modules are looked for first
        found: Any
        if path.suffix == ".toml":
            found = cls(plain(path.stem, most=255), **read_toml(path, instead, other))
        else:
            with blaming(str(path)):
                found = runpy.run_path(str(path)).get("scenario")
        if not isinstance(found, cls):
            raise ScenarioError(
                f"{path}: variable `scenario`: found {'none' if found is None else quoted(found)}; "
                "accepted: a Scenario"
            )
        if not packaged:
            return dataclasses.replace(found, path=str(path))
        return dataclasses.replace(found, packaged=frozenset(found.parameters.model_fields_set))

    def changed(
        self, settings: str | Sequence[str] = (), where: str = "changed", **changes: Any
    ) -> Scenario:
        """Return the scenario with parameters and fields changed.

        Parameters
        ----------
        settings : str or sequence of str
            Parameters, each as ``name=value``.
        where : str
            Where those come from, for messages.
        **changes
            Fields and parameters by name.

        Raises
        ------
        ScenarioError
            If a name is unknown, or a value is not accepted.

        Examples
        --------
        >>> site = Scenario.load("site").changed(jobs=200, load=0.9, local_scheduler="easy")
        >>> site.parameters.jobs, site.local_scheduler
        (200, 'easy')
        """
        of_parameters = {"parameters", "packaged", "sources"}  # which are set by their own names
        fields = {each.name for each in dataclasses.fields(self)} - of_parameters
        texts = read_settings(settings, where)
        if twice := texts.keys() & changes.keys():
            raise ScenarioError(f"{where}: {min(twice)}: found twice; accepted: once")
        given = {key: value for key, value in changes.items() if key not in fields}
        fresh = {key: value for key, value in changes.items() if key in fields}
        return self.with_parameters(given | texts, where, **fresh)

    def with_parameters(
        self, given: Mapping[str, Any], where: str, others: Iterable[Any] = (), **changes: Any
    ) -> Scenario:
        """Return the scenario with parameters set by name, and fields replaced.

        Parameters
        ----------
        given : mapping
        where : str
            Where those come from, for messages.
        others : iterable of type
            Settings of policies that parameters may be of beside the scenario's.
        **changes
            Fields by name.

        Raises
        ------
        ScenarioError
            That says where they come from, if one is unknown or out of range.
        """
        before, packaged = self.parameters, self.packaged
        # Another platform has its own number of processors.
        without = packaged & {"nodes"} if "platform" in changes else frozenset()
        chosen, parameters = dataclasses.replace(self, **changes), before
        if without or given:
            values, policies = merged(before, given, where, without), chosen.policies
            parameters = checked(values, where, policies, (*before.kinds, *others), new=given)
        names = {ALIASES.get(key, key) for key in given}
        return dataclasses.replace(
            chosen,
            parameters=parameters,
            packaged=packaged - without - names,
            sources={**self.sources, **dict.fromkeys(names, where)},
        )

    @property
    def logs(self) -> list[str]:
        """The files of its workload."""
        return paths_of(self.workload or ())

    @property
    def policies(self) -> tuple[type[GlobalScheduler], type[LocalScheduler]]:
        """The classes of its schedulers."""
        return self.policy, self.local_policy

    @property
    def policy(self) -> type[GlobalScheduler]:
        """The class of the global scheduler."""
        given = self.global_scheduler
        return global_scheduler(given) if isinstance(given, str) else given

    @property
    def local_policy(self) -> type[LocalScheduler]:
        """The class of the local schedulers."""
        given = self.local_scheduler
        return local_scheduler(given) if isinstance(given, str) else given

    @property
    def predictor(self) -> type[Predictor]:
        """The class of the predictor of run times."""
        given = self.parameters.prediction
        return predictor(given) if isinstance(given, str) else given

    @property
    def draws_deadlines(self) -> bool:
        """Whether jobs that bring no deadline are given one."""
        read = read_deadlines(self.policy, self.local_policy)
        return self.parameters.draws_deadlines(self.workload is not None, read)

    @property
    def largest_job(self) -> int:
        """Processors of the largest job that can ever run."""
        sizes = self.platform.sizes
        own = self.policy.settings_type
        coallocate = own is not None and getattr(self.parameters.of(own), "coallocate", False)
        return int(sizes.sum() if self.policy.spans or coallocate else sizes.max())

    def to_dict(self) -> dict[str, Any]:
        """Return what is run, ready for JSON: None stands for a link without a limit.

        Returns
        -------
        dict
            ``global`` and ``local``, the schedulers as they were given; ``workload``, the path or
            paths as given, None for synthetic jobs; ``parameters``, the value of each, but not of
            those of users' policies not in use; ``platform`` (`Platform.to_dict`);
            ``own_metrics``, if there are some.
        """
        platform = self.platform.to_dict()
        for link in platform["links"]:
            if link["capacity"] == math.inf:
                link["capacity"] = None
        logs = self.workload
        if logs is not None:
            logs = str(logs) if isinstance(logs, (str, Path)) else [*logs]
        return {
            "global": name_of(self.global_scheduler),
            "local": name_of(self.local_scheduler),
            "workload": logs,
            "parameters": plain_values(self.parameters, (self.policy, self.local_policy)),
            "platform": platform,
            **({"own_metrics": [*self.own_metrics]} if self.own_metrics else {}),
        }

    @property
    def jobs(self) -> int:
        """Synthetic jobs of all clusters."""
        parameters = self.parameters
        of_all = parameters.jobs_per_cluster * len(self.platform.clusters)
        return of_all if parameters.mode == "per-cluster" else parameters.jobs

    def cut(self, jobs: int) -> Scenario:
        """Return the same with so many synthetic jobs at most (of each cluster), all counted."""
        name = "jobs_per_cluster" if self.parameters.mode == "per-cluster" else "jobs"
        return self.changed([f"{name}={min(jobs, getattr(self.parameters, name))}", "warmup=0"])

    @property
    def failures(self) -> Failures | None:
        """The failure model; None if processors fail when the platform says, or never."""
        up, down = self.parameters.mean_up_time, self.parameters.mean_down_time
        return Failures(up, down) if up else None

    def model(
        self,
        seed: int = 0,
        read: Callable[[Source, Platform, Parameters], Table] = read_source,
        made: Callable[..., GridModel] = GridModel,
    ) -> GridModel:
        """Return a model of the scenario, ready to step.

        Parameters
        ----------
        seed : int
        read, made : callable
            Read logs, as `experiments.scenario.jobs.read_source`, and make it, as `GridModel` does.

        Raises
        ------
        GridError
            For schedulers, a workload or parameters that cannot be used together.
        """
        where = self.path or self.name
        seed = whole_seed(seed, where)
        check_names(self.own_metrics)
        parameters = self.parameters
        of_recorded = chosen([self.policies])
        drawn = {"assign_deadlines": self.draws_deadlines}
        parameters = parameters.model_copy(update=drawn | of_recorded)
        with naming(where, parameters, self.sources):
            if self.workload is None:
                check_smallest(parameters, self.largest_job)
            given = self.workload, parameters, self.platform, seed, read
            workload, duration = build_workload(*given)
            check_warmup(parameters, workload.count)
        platform, prediction = self.platform, parameters.prediction
        if parameters.nodes == "log" and isinstance(workload, Table) and self.workload is not None:
            platform = of_log(platform, parameters, workload, where)
        if "prediction" in self.packaged and not is_told(workload, self.predictor):
            prediction = "exact"
        with naming(where, parameters, self.sources):
            if of_recorded:
                workload, platform = as_it_was(workload, platform, parameters, self.policy)
            model = made(
                platform,
                workload,
                self.policy,
                self.local_policy,
                interval=step_of(parameters, duration),
                latency=parameters.latency,
                advertising=parameters.advertising,
                failures=self.failures,
                seed=seed,
                round_threshold=None if (at := parameters.round_threshold) == "auto" else at,
                settings=(
                    Prediction(prediction, parameters.prediction_error),
                    Criteria(parameters.weights, parameters.idle),
                    *map(parameters.of, parameters.kinds),
                ),
            )
        model.world.count_after(parameters.warmup)
        return model

    def as_run(self, model: GridModel) -> Scenario:
        """Return the scenario with its mode, deadlines or not, and what its log told."""
        drawn = self.parameters.assign_deadlines
        drawn = bool(model.workload.drawn_deadlines) if drawn == "auto" else drawn
        of_recorded = chosen([self.policies])
        found: dict[str, Any] = {"assign_deadlines": drawn, **of_recorded}
        if isinstance(model.pace.predictor, Exact):
            found["prediction"] = "exact"
        if self.workload is not None and self.parameters.mode != "open":
            found["mode"] = "open"  # jobs of a log come when it says
        parameters = self.parameters.model_copy(update=found)
        platform = model.world.platform
        if platform is self.platform and parameters == self.parameters:
            return self
        return on(dataclasses.replace(self, parameters=parameters), platform)
