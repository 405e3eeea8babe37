"""A model of a scenario that Mesa makes anew when its controls have changed, and those controls."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any, ClassVar, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from agents.model import GridModel
from agents.registry import GLOBAL, LOCAL, name_of
from experiments.scenario.assignments import shown
from experiments.scenario.notes import notes
from experiments.scenario.scenario import Scenario
from experiments.scenario.unread import LOGS, SYNTHETIC
from grid.errors import GridError
from grid.foreign import quoted
from grid.workloads.table import stated_by

Control = dict[str, Any]

_wrapping = threading.Lock()


class _Steps:
    """Steps of a model, each under a lock.

    Parameters
    ----------
    step : callable
    """

    def __init__(self, step: Callable[[], None]) -> None:
        self.step = step
        self.lock = threading.RLock()  # a step of one's own may draw

    def __call__(self) -> None:
        with self.lock:
            self.step()


def lock_of(model: GridModel) -> threading.RLock:
    """Return the lock that each step of a model holds from now on; who holds it sees one moment.

    Mesa draws a model while another thread steps it, and tabs may share a model of one's own.
    """
    with _wrapping:
        steps: Any = model.step
        if not isinstance(steps, _Steps):
            steps = model.step = _Steps(steps)  # type: ignore[method-assign]
    return steps.lock


class ScenarioModel(GridModel):
    """A model of the scenario of its class, changed as its arguments say.

    What cannot be is refused, and the scenario as it is stands in for it.

    Parameters
    ----------
    seed : int or str
    **kwargs
        Parameters, and fields of the scenario, by name.

    Attributes
    ----------
    refused : str
        Why it is not as it was asked for; empty if it is.
    chosen : str
        What its controls say of it, in words: sliders show no values.
    notes : list of str
        What a run of it is said to assume, or to be given without effect (`scenario.notes`).
    """

    of: ClassVar[Scenario]
    begun: ClassVar[int]

    def __init__(self, seed: int | str = 0, **kwargs: Any) -> None:
        kwargs.pop("scenario", None)  # Mesa's own, since 3.5
        self.refused = ""
        try:
            if not str(seed).isdecimal():
                raise GridError(f"seed: found {quoted(seed)}; accepted: a whole number from 0")
            self._begin(int(seed), kwargs)
        except GridError as error:
            self.refused = str(error)
            self._begin(self.begun, {})
        lock_of(self)  # a play that a reset ends may step it before it is drawn

    def step(self) -> None:
        """Let `interval` seconds pass, gaps too: what travels over them is to be seen."""
        self.stride = self.interval
        super().step()

    def _begin(self, seed: int, changes: dict[str, Any]) -> None:
        def made(*given: Any, **options: Any) -> GridModel:
            GridModel.__init__(self, *given, **options)
            return self

        chosen = self.of.changed(**changes) if changes else self.of
        told = ((each["label"], each["value"]) for each in controls(chosen, seed).values())
        self.chosen = ", ".join(f"{label} {shown(value)}" for label, value in told)
        chosen.model(seed, made=made)
        self.notes = notes(chosen, stated=stated_by(self.workload))


def model_class(scenario: Scenario, seed: int = 0) -> type[ScenarioModel]:
    """Return the class of the models of a scenario; what is refused has this seed instead."""
    return type("OfScenario", (ScenarioModel,), {"of": scenario, "begun": seed})


def controls(scenario: Scenario, seed: int) -> dict[str, Control]:
    """Return Mesa's controls for the schedulers, for what a scenario sets, and for the seed.

    Without parameters of jobs that have no effect whatever else is chosen.
    """
    schedulers = (
        ("global_scheduler", "global scheduler", scenario.global_scheduler, GLOBAL),
        ("local_scheduler", "local scheduler", scenario.local_scheduler, LOCAL),
    )
    found: dict[str, Control] = {
        "seed": {"type": "InputText", "value": str(seed), "label": "seed"},
    }
    for field, label, given, known in schedulers:
        name = name_of(given)
        values = [*known] if name in known else [name, *known]
        found[field] = {"type": "Select", "value": name, "values": values, "label": label}
    parameters: Any = scenario.parameters
    fields = type(parameters).model_fields
    without = {"step", *(LOGS if scenario.workload is None else SYNTHETIC)}
    for name in fields:
        if name in parameters.model_fields_set and name not in without:
            control = control_of(fields[name], getattr(parameters, name))
            if control is not None:
                found[name] = {"label": name, **control}
    return found


def control_of(field: FieldInfo, value: Any) -> Control | None:
    """Return a slider for a number, a menu for a choice, a box for yes or no; None for others."""
    if isinstance(value, bool):
        return {"type": "Checkbox", "value": value}
    if isinstance(value, str):
        choices = _choices(field.annotation)
        return {"type": "Select", "value": value, "values": choices} if choices else None
    if isinstance(value, int | float) and value > 0:
        return _slider(field, value)
    return None


def _slider(field: FieldInfo, value: float) -> Control:
    """Return a slider from near 0 to twice the value, within what the parameter accepts."""
    whole = isinstance(value, int)
    step: float = 10.0 ** (math.floor(math.log10(value)) - 1)
    if whole:
        step = max(1, int(step))
    limits = {
        name: limit
        for each in field.metadata
        for name in ("ge", "gt", "le", "lt")
        if (limit := getattr(each, name, None)) is not None
    }
    least = min(value, max(step, limits.get("ge", step), limits.get("gt", 0.0) + step))
    steps = min(2 * value, limits.get("le", math.inf), limits.get("lt", math.inf) - step) / step
    most = max(value, round(math.floor(steps + 1e-9) * step, 9))
    kind = "SliderInt" if whole else "SliderFloat"
    return {"type": kind, "value": value, "min": least, "max": most, "step": step}


def _choices(annotation: Any) -> list[str]:
    """Return the words that a field accepts, if it accepts words alone."""
    if get_origin(annotation) is Literal:
        return [str(each) for each in get_args(annotation)]
    return []
