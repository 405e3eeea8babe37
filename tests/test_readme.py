"""Every code block of the README and of docs/ runs as it stands."""

from __future__ import annotations

import gzip
import json
import random
import re
import runpy
import shlex
import shutil
import sys
import time
from contextlib import closing, nullcontext
from importlib.util import find_spec
from pathlib import Path
from textwrap import dedent

import pytest
from click.testing import CliRunner

import metasched
from agents.pace.application import application_of
from agents.pace.evaluation import Evaluator
from agents.pace.hardware import hardware_of
from experiments.cli.app import main
from experiments.service.at_sites.slurm import Processors
from experiments.service.grid_file import load_grid
from experiments.service.serving import serving
from experiments.service.shadow.look import Look, Remembered
from experiments.service.shadow.sightings import Sightings
from experiments.studies.outcome import StudyOutcome
from experiments.studies.study import Study
from grid.logs.workload import read_log
from grid.platform.multicluster import Platform
from tests.experiments.service.served import at_work

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
COURSE = sorted((ROOT / "docs" / "course").glob("*.md"))
"""Whose blocks build on each other: tests/test_course.py follows them."""
TUTORIAL = ROOT / "docs" / "tutorial.md"
SLURM = ROOT / "docs" / "slurm.md"
CONF = re.compile(r"^    # (\w+\.conf)\n((?:    .*\n)+)", re.MULTILINE)
SACCT = re.compile(r"^(    JobID\|.*\n(?:    .*\n)+)", re.MULTILINE)
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
BLOCKS = [
    pytest.param(language, code, id=f"{page.stem}-{number}-{language}")
    for page in PAGES
    if page != TUTORIAL
    for number, (language, code) in enumerate(BLOCK.findall(page.read_text(encoding="utf-8")))
]
SHORTER = ["--set", "jobs=60", "--set", "jobs_per_cluster=20"]
TINY = ["--scale", "0.0005"]
LITTLE = {
    "muscle": [*TINY, "--figure", "6"],
    "beosim": [*TINY, "--figure", "13"],
    "maxutil": [*TINY, "--part", "logs", "--replications", "1"],
    "queues": [*TINY, "--figure", "15", "--replications", "1"],
    "oas": ["--part", "slots", "--time-limit", "1"],
}
"""A part of each paper's experiments that does not take long."""
TWO_LOGS = {
    "DAS2-fs1-2003-1.swf.gz": (64, 80),
    "KTH-SP2-1996-2.1-cln.swf.gz": (100, 120),
}
"""Those of the tutorial: processors, and jobs of what stands in for them."""
WARMUP = re.compile(r"^warmup=\d+$")
NAMED = re.compile(r"# (\w+)\.(py|toml)\n")
"""How a block begins that is to be saved as a module."""
LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)")
"""A link to a file of the repository, and to a heading in it."""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder with the files that the pages' commands name."""
    for _, code in (block.values for block in BLOCKS):
        if named := NAMED.match(code):
            (tmp_path / f"{named[1]}.{named[2]}").write_text(code)
            sys.modules.pop(named[1], None)
    (instance,) = (block.values[1] for block in BLOCKS if block.values[0] == "json")
    (tmp_path / "waiting.json").write_text(instance)
    for log in ("my_log.swf", "first.swf", "second.swf", "north.swf", "south.swf"):
        lines = [f"{j} {7 * j} 0 {5 + j} 2 -1 -1 2 60 " + "-1 " * 9 for j in range(1, 30)]
        (tmp_path / log).write_text("\n".join(["; UnixStartTime: 1041811200", *lines]))
    zipped = gzip.compress((tmp_path / "my_log.swf").read_bytes())
    (tmp_path / "my_log.swf.gz").write_bytes(zipped)
    for _, code in (block.values for block in BLOCKS):
        for named in re.findall(r"--(?:ctc|das) (\S+\.gz)", code):
            (tmp_path / named).write_bytes(zipped)
    slurm = SLURM.read_text(encoding="utf-8")
    for name, conf in CONF.findall(slurm):
        (tmp_path / name).write_text(conf)
    (log,) = SACCT.findall(slurm)
    (tmp_path / "log.sacct").write_text(dedent(log))
    (tmp_path / "south.csv").write_text("time,value\n0,400\n3600,20\n")
    (tmp_path / "was.csv").write_text("arrival,size,runtime,recorded_wait\n0,1,60,0\n5,9,60,3\n")
    (tmp_path / "my_site.toml").write_text('[[clusters]]\nname = "C1"\nsize = 8\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr("experiments.view.page.serve", lambda app, at, *how: at.close())
    return tmp_path


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("language", "code"), BLOCKS)
def test_block_runs(language, code, folder):
    if language == "python":
        with at_work("my_grid.toml", Path("live")) if "metasched.live" in code else nullcontext():
            exec(compile(code, "block.py", "exec"), {"__name__": "__main__"})
    elif language == "toml" and "[policies]" in code:
        (folder / "study.toml").write_text(code.replace('"4w"', '"30s"'))
        Study.load(folder / "study.toml")
    elif language == "toml" and "[[sites]]" in code:
        (folder / "grid.toml").write_text(code)
        assert load_grid("grid.toml").scenario.platform.clusters
    elif language == "toml" and "operations" in code:
        (folder / "model.toml").write_text(code)
        read = application_of if "[[subtasks]]" in code else hardware_of
        assert read("model.toml").name == "model.toml"
    elif language == "text":
        (folder / "jobs.csv").write_text(code)
        clusters = re.findall(r"runtime@(\w+)", code) or ["W"]
        tables = [{"name": name, "size": 8, "hardware": "cluster"} for name in clusters]
        evaluate = Evaluator(Platform.from_dict({"clusters": tables}))
        table = read_log("jobs.csv", clusters, evaluate=evaluate)
        assert table.times is not None
    elif language == "toml":
        (folder / "scenario.toml").write_text(code)
        assert CliRunner().invoke(main, ["validate", "scenario.toml"]).exit_code == 0
    elif language == "json":
        assert CliRunner().invoke(main, ["oas", "waiting.json"]).exit_code == 0
    elif language == "console":
        for line in code.splitlines():
            if line.startswith("metasched "):
                words = shlex.split(line)[1:]
                shortened = not {"--workload", "--resume"} & {*words} and "case-study" not in line
                if words[0] == "run" and shortened:
                    words = [WARMUP.sub("warmup=9", word) for word in words] + SHORTER
                if words[0] == "saturation":
                    words += ["--set", "jobs=1000", "--width", "0.2"]
                if words[0] == "serve":
                    words.append("--once")  # which has no jobs yet, but for those of an example
                if "live" in " ".join(words) and words[0] not in ("serve", "view"):
                    has_run(Path("live"))
                if "ppo" in words:
                    if find_spec("sb3_contrib") is None:
                        break
                    words += ["--steps", "1"]
                if words[0] == "top":
                    continue  # which needs a terminal
                if words[0] == "view":
                    words += ["--port", "0"]
                if words[0] == "shadow":
                    has_seen(Path("seen"))
                    if "--report" not in words:
                        continue  # there are no clusters here; tests of shadows watch some
                if words[0] == "reproduce":
                    words += LITTLE[words[1]]
                result = CliRunner().invoke(main, words)
                assert result.exit_code == 0, (line, result.output, result.exception)
    elif language == "bibtex":
        cited = " ".join((ROOT / "CITATION.cff").read_text(encoding="utf-8").split())
        for key, title in re.findall(r"^@\w+{(\w+),\s+title\s+= {(.*?)},\n", code, re.M | re.S):
            words = " ".join(title.replace("{MIP}", "MIP").split())
            assert f"title: {words.split(': ')[0]}" in cited
            assert key == "metasched" or f"notes: key {key}" in cited
        assert f"version = {{{metasched.__version__}}}" in code
    else:
        raise AssertionError(f"a block in {language!r} that nothing runs")


def has_run(state):
    """Have a service that has run some jobs, and has others to run, been there."""
    if not state.exists():
        with serving(load_grid("my_grid.toml"), state, 0, lambda line: None) as service:
            for _ in range(2):
                service.store.add(["true"], 1)
            service.run(once=True)
            for _ in range(5):
                service.store.add(["true"], 1)


def has_seen(state):
    """Have a shadow of a cluster been there."""
    if not state.exists():
        Path("clusters.toml").write_text('[[sites]]\nname = "north"\ndriver = "slurm"\n')
        with closing(Sightings(state, make=True)) as sightings:
            load_grid("clusters.toml", sizes={"north": 4}, driver=Remembered).note_in(sightings)
            sightings.note("began", time.time() - 1.0)
            sightings.note("pairs", [["home", "easy"]])
            sightings.record("north", Look(Processors("main", 0, 4, 0, 4), []))


def standing_in(path, processors, jobs):
    """Write a log of four weeks for one that is not there."""
    draw = random.Random(processors)
    weeks = 4 * 7 * 86_400
    times = [*sorted(draw.randrange(weeks) for _ in range(jobs)), weeks]
    rows = [(j, t, draw.randrange(9, 9000), draw.randint(1, 40)) for j, t in enumerate(times)]
    lines = [f"{j} {t} -1 {run} {p} -1 -1 {p} 9000" + 9 * " -1" for j, t, run, p in rows]
    text = "\n".join([f"; MaxProcs: {processors}", *lines]) + "\n"
    path.write_bytes(gzip.compress(text.encode()))


def follow_the_tutorial(folder, change):
    """Do what the tutorial says, its study file changed."""
    for language, code in BLOCK.findall(TUTORIAL.read_text(encoding="utf-8")):
        named = NAMED.match(code)
        if named:
            (folder / f"{named[1]}.{named[2]}").write_text(change(code))
            sys.modules.pop(named[1], None)
        if language == "python":
            exec(compile(code, "block.py", "exec"), {"__name__": "__main__"})
        elif language == "toml":
            assert named
        else:
            assert language == "console"
            for line in code.splitlines():
                if line.startswith("metasched "):
                    result = CliRunner().invoke(main, shlex.split(line)[1:])
                    assert result.exit_code == 0, (line, result.output, result.exception)


@pytest.mark.thorough
def test_the_tutorial_runs_from_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name, (processors, jobs) in TWO_LOGS.items():
        standing_in(tmp_path / name, processors, jobs)
    follow_the_tutorial(tmp_path, lambda code: code.replace("least = 40", "least = 3"))
    assert (tmp_path / "report.html").stat().st_size > 10_000
    runs = StudyOutcome.read("results.db").runs
    first = (runs["policy"] == "A1") & (runs["link_mbps"] == 1000) & (runs["replication"] == 0)
    week = json.loads((tmp_path / "week" / "summary.json").read_text())["metrics"]
    assert runs.loc[first, "mean_wait"].tolist() == [week["mean_wait"]]


@pytest.mark.slow
def test_the_tutorial_comes_to_what_it_says(tmp_path, monkeypatch, traces):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in TWO_LOGS:
        shutil.copy(traces / "swf" / name, tmp_path / name)
    follow_the_tutorial(tmp_path, lambda code: code)
    ranking = StudyOutcome.read("results.db").ranking
    fast = ranking[ranking["link_mbps"] == 1000].set_index("policy")
    assert fast["rank"].to_dict() == {
        "A1": 1,
        "B3": 1,
        "ECT over EASY": 3,
        "each alone": 4,
        "MUSCLE over EASY": 4,
    }
    assert fast["mean"].round(1).to_dict() == {
        "A1": 9.7,
        "B3": 14.5,
        "ECT over EASY": 39.7,
        "each alone": 43.9,
        "MUSCLE over EASY": 41.1,
    }


@pytest.mark.parametrize("page", PAGES + COURSE, ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    for name, heading in LINK.findall(page.read_text(encoding="utf-8")):
        target = page.parent / name if name else page
        assert target.is_file(), name
        if heading:
            lines = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            assert heading in [
                re.sub(r"[^\w -]", "", line).lower().replace(" ", "-") for line in lines
            ]


def test_the_readme_leads_to_every_page():
    readme, *pages = PAGES
    named = {readme.parent / name for name, _ in LINK.findall(readme.read_text(encoding="utf-8"))}
    assert len(pages) > 10
    assert named >= {*pages, *COURSE}


def test_install_commands_are_there():
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    assert ".venv/bin/metasched run quickstart" in page
    assert '.venv/bin/pip install -q ".[test]" && .venv/bin/python -m pytest' in page


@pytest.mark.parametrize(
    ("option", "policy"),
    [
        ("--global", "least_waiting:LeastWaiting"),
        ("--global", "spread:Spread"),
        ("--global", "least_waiting_compiled:LeastWaiting"),
        ("--local", "deadlines:EarliestDeadline"),
        ("--local", "deadlines:WidestFirst"),
        ("--local", "narrow_first:NarrowFirst"),
        ("--local", "narrow_easy:NarrowEasy"),
        ("--local", "my_titan:MyTitan"),
    ],
)
def test_extensions_run(option, policy, folder):
    result = CliRunner().invoke(main, ["run", "quickstart", option, policy, "--json", *SHORTER])
    assert result.exit_code == 0, (result.output, result.exception)


def test_the_picture_is_that_of_todays_dashboard(tmp_path):
    draw = runpy.run_path(str(ROOT / "docs" / "dashboard.py"))["draw"]
    draw(tmp_path / "dashboard.svg")
    drawn, shown = (
        re.findall(r">([^<>]*)</text>", path.read_text(encoding="utf-8"))
        for path in (tmp_path / "dashboard.svg", ROOT / "docs" / "dashboard.svg")
    )
    # The speed is that of a machine, and so is how long it has been running.
    drawn, shown = ([re.sub("running.*", "", text) for text in each] for each in (drawn, shown))
    same = [a == b for a, b in zip(drawn, shown, strict=True) if "ETA" not in a + b]
    assert len(same) > 30
    assert all(same)


def test_what_is_cited_is_this_version():
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {metasched.__version__}\n" in cited
    for key in ("muscle", "beosim", "maxutil", "queues", "oas"):
        assert f"notes: key {key}\n" in cited
    page = re.sub(r"[{}]", "", (ROOT / "docs" / "citing.md").read_text(encoding="utf-8"))
    assert f"= {metasched.__version__}" in page
    for title in re.findall(r"^    title: (.*)$", cited, re.M):
        assert title in " ".join(page.split())
