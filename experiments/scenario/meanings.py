"""What each parameter of a scenario means, in words."""

from __future__ import annotations

import ast
from functools import cache
from itertools import pairwise
from pathlib import Path

from experiments.scenario import parameters
from experiments.scenario.parameters import Parameters


def meaning(parameter: str, of: type[Parameters]) -> str:
    """Return what a parameter means, in a line.

    >>> meaning("mean_up_time", Parameters)
    'Processors fail after exponential times of this mean, s; 0: they never do.'
    """
    said = of.model_fields[parameter].description or _below_fields()[parameter]
    return " ".join(said.split())


@cache
def _below_fields() -> dict[str, str]:
    """Return what stands below each field of `Parameters`.

    Read once somebody asks: pydantic, which can do so, would at each start of a command.
    """
    module = ast.parse(Path(parameters.__file__).read_bytes())
    kinds = {each.name: each for each in module.body if isinstance(each, ast.ClassDef)}
    return {
        field.target.id: said.value.value
        for field, said in pairwise(kinds[Parameters.__name__].body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(said, ast.Expr)
        and isinstance(said.value, ast.Constant)
        and isinstance(said.value.value, str)
    }
