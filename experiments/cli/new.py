"""The command `metasched new`."""

from __future__ import annotations

import importlib.util
import keyword
import sys
from pathlib import Path

import click

from experiments.cli.options import PLACE
from grid.errors import GridError
from grid.foreign import quoted

KINDS = {
    "scheduler": "metasched run quickstart --global {name}:{kind} --local fcfs",
    "local": "metasched run quickstart --global dll --local {name}:{kind}",
    "broker": "metasched run quickstart --global {name}:{kind}Discovery --local fcfs",
    "predictor": "metasched run quickstart --predictor {name}:{kind}",
    "metric": "metasched run quickstart --metric {name}:{name}",
    "scenario": "metasched run {name}.toml",
}
"""What can be begun, and how it is tried."""
CHECKED = ("scheduler", "local", "predictor")
"""Those that `metasched check` takes."""
LONGEST_NAME = 100
"""Letters of a name: those of its files have more."""
BASES = ("GlobalScheduler", "LocalScheduler", "Predictor", "A4Broker", "DiscoveryScheduler")
"""Classes that one's own are made from, whose names are taken."""
TEMPLATES = Path(__file__).parents[1] / "templates"


@click.command()
@click.argument("kind", type=click.Choice([*KINDS]), metavar="KIND")
@click.argument("name")
@click.option(
    "--out", type=PLACE, default=".", metavar="DIR", help="Where to (default: the current folder)."
)
def new(kind: str, name: str, out: str) -> None:
    """Write NAME, a working KIND of your own to begin with, and its test.

    KIND is scheduler, local, broker, predictor, metric or scenario. NAME is that of a module, such
    as my_policy, whose class is then MyPolicy; of a scenario, that of its file.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    from experiments.run.files import made
    from experiments.run.replacing import replace_all, scratch

    of_class = "".join(word[:1].upper() + word[1:] for word in name.split("_"))
    _check_name(name, of_class)
    _check_is_free(kind, name, of_class)
    suffix = "toml" if kind == "scenario" else "py"
    files = {f"{name}.{suffix}": f"{kind}.{suffix}", f"test_{name}.py": f"{kind}_test.py"}
    folder = Path(out)
    for file in files:
        if (folder / file).exists():
            raise GridError(f"{folder / file}: found a file; accepted: a name without one")
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), undefined=StrictUndefined, keep_trailing_newline=True
    )
    values = {"name": name, "class": of_class}
    try:
        with made(folder), scratch(folder) as written:
            for file, template in files.items():
                text = environment.get_template(f"{template}.jinja").render(values)
                (written / file).write_text(text, encoding="utf-8")
            replace_all(written, folder)
    except OSError as error:
        raise GridError(f"{folder}: {error.strerror}; accepted: a folder to write to") from None
    click.echo(" and ".join(str(folder / file) for file in files) + "; to try them:")
    where = [] if folder == Path() else [f"cd {folder}"]
    tried = [KINDS[kind].format(name=name, kind=of_class), f"python -m pytest test_{name}.py"]
    if kind in CHECKED:
        tried.insert(1, f"metasched check {name}:{of_class}")
    for line in (*where, *tried):
        click.echo(f"  {line}")


def _check_name(name: str, of_class: str) -> None:
    """Raise `GridError` unless a module of one's own can have a name, and its class one."""
    valid = name.isidentifier() and name.isascii() and len(name) <= LONGEST_NAME
    valid &= not any(map(keyword.iskeyword, (name, of_class)))
    if not valid or name != name.lower() or name.startswith(("_", "test_")):
        raise GridError(
            f"NAME: found {quoted(name)}; accepted: that of a module, such as my_policy"
        )


def _check_is_free(kind: str, name: str, of_class: str) -> None:
    """Raise `GridError` if a module, its class, or one of its kind, has a name already."""
    from agents.registry import GLOBAL, LOCAL, PREDICTORS
    from experiments.run.own_metrics import TAKEN

    what, same = "", name.replace("_", "-")
    built_in = {"scheduler": GLOBAL, "local": LOCAL, "predictor": PREDICTORS}
    if name in sys.stdlib_module_names or importlib.util.find_spec(name) is not None:
        what = "a module"
    elif kind == "metric" and name in TAKEN:
        what = "a metric"
    elif same in built_in.get(kind, ()):
        what = f"a built-in {same}"
    elif of_class in BASES:
        what = f"class {of_class}"
    if what:
        raise GridError(f"NAME: found {name}; accepted: another one, for there is {what} already")
