"""Formulas of a problem size n and of processors p, as models of applications write them."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from grid.errors import GridError
from grid.foreign import quoted

LONGEST_FORMULA = 200
"""Characters."""

FUNCTIONS: dict[str, Callable[..., float]] = {
    "ceil": math.ceil,
    "floor": math.floor,
    "log2": math.log2,
    "max": max,
    "min": min,
    "sqrt": math.sqrt,
}
ACCEPTED = f"numbers, n, p, + - * / **, parentheses, {', '.join(FUNCTIONS)}"

_NODES = (
    ast.Expression, ast.BinOp, ast.UnaryOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow,
    ast.USub, ast.UAdd, ast.Load,
)  # fmt: skip


@dataclass(frozen=True)
class Formula:
    """A formula of n and p, whose value is a number from 0.

    Parameters
    ----------
    text : str
        Arithmetic in Python's notation.
    where : str
        Of what it is, which begins messages.

    Raises
    ------
    GridError
        If it is anything else.

    Examples
    --------
    >>> Formula("2 * n**3 / p")(10, 4)
    500.0
    """

    text: str
    where: str = field(default="formula", compare=False)
    _code: CodeType = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "_code", compile(_checked(self.text, self.where), "formula", "eval")
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return Formula, (self.text, self.where)  # code cannot be pickled

    def __call__(self, n: float, p: float) -> float:
        """Return the value for a problem size and a number of processors."""
        names = {"__builtins__": {}, **FUNCTIONS, "n": float(n), "p": float(p)}
        try:
            value = float(eval(self._code, names))
        except OverflowError:
            value = math.inf
        except ZeroDivisionError:
            raise self._refused("divides by 0", n, p, 0) from None
        except (ArithmeticError, ValueError, TypeError):
            value = math.nan
        if not 0 <= value < math.inf:
            raise self.refused(value, n, p, 0)
        return value

    def refused(self, value: float, n: float, p: float, least: int) -> GridError:
        """Return what is wrong with a value: accepted are finite numbers from some on."""
        return self._refused(f"is {value:g}", n, p, least)

    def _refused(self, what: str, n: float, p: float, least: int) -> GridError:
        found = f"{quoted(self.text)}, which {what} at n = {n:g}, p = {p:g}"
        return GridError(f"{self.where}: found {found}; accepted: a number from {least}")


class _Floats(ast.NodeTransformer):
    """Makes whole numbers floats, of which no power takes long."""

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        """Return the number as a float."""
        return ast.copy_location(ast.Constant(float(node.value)), node)  # type: ignore[arg-type]


def _checked(text: Any, where: str) -> ast.Expression:
    """Return a formula as Python parses it, with nothing in it that is not accepted."""
    if isinstance(text, (int, float)) and not isinstance(text, bool):
        text = repr(text)
    refused = GridError(f"{where}: found {quoted(text)}; accepted: {ACCEPTED}")
    if not isinstance(text, str) or len(text) > LONGEST_FORMULA:
        raise refused
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise refused from None
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            number = node.value
            good = type(number) in (int, float) and abs(number) < 1e300  # type: ignore[arg-type]
        elif isinstance(node, ast.Name):
            good = node.id in (FUNCTIONS if id(node) in called else ("n", "p"))
        elif isinstance(node, ast.Call):
            good = isinstance(node.func, ast.Name) and not node.keywords and bool(node.args)
        else:
            good = isinstance(node, _NODES)
        if not good:
            raise refused
    whole: ast.Expression = ast.fix_missing_locations(_Floats().visit(tree))
    return whole
