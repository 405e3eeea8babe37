"""The cache of compiled code."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from grid.kernel import compile as module
from grid.kernel.compile import CACHE_FOLDER, PLAIN, compiled, inlined, part
from grid.platform.multicluster import Platform
from grid.sources import made_of, module_digest, sources_digest
from grid.world.world import World

ROOT = Path(__file__).resolve().parents[3]
PLAINLY = os.environ | {PLAIN: "1"}


@pytest.mark.parametrize(
    ("changed", "anew"),
    [
        ("grid/kernel/state.py", True),
        ("grid/jobs.py", True),
        ("grid/kernel/queueing/queues.py", True),
        ("grid/metrics/of_run.py", False),
        ("agents/titan/orders.py", False),
    ],
)
def test_a_change_of_what_code_is_made_of_is_another_cache(tmp_path, changed, anew):
    for package in ("grid", "agents"):
        shutil.copytree(ROOT / package, tmp_path / package)
    path = tmp_path / "grid/kernel/advance.py"
    before = module_digest(path, tmp_path), sources_digest(tmp_path)
    assert before[0] == module_digest(ROOT / "grid/kernel/advance.py")
    with (tmp_path / changed).open("a") as file:
        file.write("# changed\n")
    assert (module_digest(path, tmp_path) != before[0]) == anew
    assert sources_digest(tmp_path) != before[1]


@pytest.mark.thorough
@pytest.mark.parametrize(
    "module", ["grid.kernel.advance", "agents.balancers", "agents.titan.genetic"]
)
def test_all_that_a_module_imports_counts(module):
    """Files that importing it loads, but for those of packages that its parents load."""
    script = (
        "import sys\n"
        f"import {module}\n"
        "print(*(m.__file__ for n, m in sys.modules.items() if n.split('.')[0] in "
        "('grid', 'agents') and not m.__file__.endswith(('__init__.py', 'lazy.py'))))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    loaded = {Path(each) for each in done.stdout.split()}
    assert len(loaded) > 5
    assert loaded <= made_of(ROOT / f"{module.replace('.', '/')}.py")


def test_compiled_code_goes_there():
    World(Platform.star([1]), place=lambda job: 0).advance(0.0)
    assert CACHE_FOLDER is None or any(CACHE_FOLDER.rglob("*.nbi"))


@pytest.mark.thorough
@pytest.mark.skipif(PLAIN in os.environ, reason="leans on numba's insides")
@pytest.mark.parametrize("changed", [False, True])
def test_code_of_a_source_that_has_changed_since_it_was_loaded_is_not_kept(tmp_path, changed):
    """Its cache would be that of the new source."""
    for package in ("grid", "agents"):
        shutil.copytree(ROOT / package, tmp_path / package)
    script = (
        "import pathlib\n"
        "from grid.kernel.processors import __file__ as file, have_served as function\n"
        "from grid.kernel import compile as module\n"
        f"if {changed}: pathlib.Path(file).touch()\n"
        "kept = module.compiled()(function.py_func)\n"
        "print(kept._cache.cache_path is not None)"
    )
    env = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=env)
    assert done.stdout == f"{not changed}\n", done.stderr


# Its files ------------------------------------------------------------------------------------


def double(x):
    return 2 * x


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Return the folder of a cache that holds `double`."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(module, "CACHE_FOLDER", tmp_path)
    assert called() == (2, 0)
    assert called() == (2, 1)
    return tmp_path


def called():
    """Return what `double` says of 1, and how often it was found compiled."""
    function = compiled()(double)
    return function(1), sum(function.stats.cache_hits.values())


@pytest.mark.thorough
@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("left", [0.0, 0.5, 0.99])
def test_a_damaged_file_is_made_anew(files, suffix, left):
    (path,) = files.rglob(f"*.{suffix}")
    content = path.read_bytes()
    path.write_bytes(content[: int(left * len(content))])
    assert called() == (2, 0)
    assert called() == (2, 1)
    path.write_bytes(b"not a cache" * 100)
    assert called() == (2, 0)
    assert called() == (2, 1)
    path.unlink()
    assert called() == (2, 0)
    assert called() == (2, 1)


def test_what_cannot_be_kept_is_compiled_each_time(files):
    resource = pytest.importorskip("resource")
    for path in files.rglob("*.nb?"):
        path.write_bytes(b"")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))  # as on a full disk
    try:
        told = [called(), called()]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert told == [(2, 0), (2, 0)]
    assert called() == (2, 0)
    assert called() == (2, 1)


def test_a_folder_that_cannot_be_used_does_not_break_a_run(files):
    (folder,) = (path for path in files.iterdir() if path.is_dir())
    shutil.rmtree(folder)
    folder.write_text("a file")
    assert called() == (2, 0)
    assert called() == (2, 0)
    assert folder.read_text() == "a file"


# Helpers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("helper", [inlined, part])
def test_helpers_are_for_compiled_functions_only(helper):
    doubled = helper(double)

    @compiled(cache=False)
    def twice(x):
        return doubled(doubled(x))

    assert twice(1) == 4
    with pytest.raises(TypeError):
        doubled(1)
    assert twice(1.5) == 6.0


@pytest.mark.skipif(PLAIN in os.environ, reason="leans on numba's insides")
@pytest.mark.parametrize("helper", [inlined, part])
def test_a_helper_is_compiled_once_for_all_constants(helper):
    doubled = helper(double)

    @compiled(cache=False)
    def six():
        return doubled(1) + doubled(2)

    assert six() == 6
    assert len(doubled.overloads) == 1


@pytest.mark.thorough
def test_with_another_numba_inside_functions_do_the_same():
    script = (
        "from grid.kernel import compile as module\n"
        "assert module._INTERNALS is None\n"
        "doubled = module.inlined(lambda x: 2 * x)\n"
        "more = module.part(lambda x: doubled(x) + 1)\n"
        "one = module.compiled()(lambda x: more(x) + doubled(0.5))\n"
        "assert one(2) == 6 and one(0.5) == 3"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=PLAINLY)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_with_another_numba_inside_it_only_takes_longer(tmp_path):
    words = ["run", "site", "--local", "fcfs", "--set", "jobs=50", "--seed", "3", "--out"]
    command = [sys.executable, "-c", "from experiments.cli import main; main()", *words]
    for out, env in (("out0", None), ("out1", PLAINLY)):
        done = subprocess.run(
            [*command, str(tmp_path / out)], cwd=ROOT, capture_output=True, text=True, env=env
        )
        assert done.returncode == 0, done.stderr
    one, other = (tmp_path / out / "jobs.csv" for out in ("out0", "out1"))
    assert one.read_bytes() == other.read_bytes()
