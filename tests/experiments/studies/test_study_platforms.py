"""What studies tell of platforms: of their changes, of links, and of what parameters replace."""

from __future__ import annotations

import re

import pytest

from experiments.show.study_page import study_page
from experiments.studies.study import Study
from tests.experiments.small_studies import Silent, call


@pytest.mark.thorough
def test_changes_of_a_platform_in_windows_are_told(tmp_path):
    jobs = "".join(f"{300 * i},4,100\n" for i in range(60))
    (tmp_path / "jobs.csv").write_text(f"arrival,size,runtime\n{jobs}")
    change = '[[changes]]\ncluster = "A"\nwhat = "drain"\n'
    (tmp_path / "changing.toml").write_text(
        'clusters = [{name = "A", size = 8}]\n'
        f"{change}at = 1234.5\nuntil = 1600\n{change}at = 2600\nuntil = 9000\n"
    )
    study = (
        'scenario = "site"\nplatform = "changing.toml"\nmetric = "mean_wait"\n'
        'policies = [{global = "dll", local = "fcfs"}, {global = "dll", local = "easy"}]\n'
        'workloads = {mine = "jobs.csv"}\nset = {load_factor = 2.0, prediction = "exact"}\n'
    )
    (tmp_path / "study.toml").write_text(f"{study}replications = {{window = 5000, least = 2}}\n")
    loaded = Study.load(tmp_path / "study.toml")
    told = [
        "changes of the platform: at and until count from the start of each window, "
        "not of the log, and are not scaled by load_factor",
        "1 of 2 changes of the platform: planned after the last arrival of each window",
    ]
    assert loaded.notes == told
    outcome = loaded.run(tmp_path / "out.db", 1, watch=Silent())
    summary = outcome.summary()
    assert summary["provenance"]["changes"] == told
    assert {f"{line[0].upper()}{line[1:]}." for line in told} <= {*summary["sentences"]}
    done = call(tmp_path / "study.toml", "--out", tmp_path / "again.db", "--workers", 1)
    assert done.output.count("count from the start of each window") == 1
    page = study_page(outcome)
    assert "at and until count from the start of each window" in page
    rows = [re.findall(r"<td.*?>(.*?)</td>", row) for row in page.split("<tr>")]
    assert ["A", "8", "1"] in rows
    assert ["A", "drain", "1,234.5", "1,600", "all"] in rows
    assert ["A", "drain", "2,600", "9,000", "all"] in rows
    varied = study.replace("load_factor = 2.0, ", "") + "vary = {load_factor = [1.0, 2.0]}\n"
    for text in (study, varied):
        (tmp_path / "study.toml").write_text(text)
        assert Study.load(tmp_path / "study.toml").notes == [
            "changes of the platform: at and until are not scaled by load_factor"
        ]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("times", "told"),
    [
        ((300, 800), []),
        (
            (5e6, 300),
            ["1 of 2 changes of the platform came in no run: planned after the last job ended"],
        ),
        ((300, 2600), ["In 2 of 4 runs a change of the platform did not come: planned after"]),
    ],
)
def test_changes_that_came_when_all_jobs_had_left_are_told(tmp_path, times, told):
    (tmp_path / "jobs.csv").write_text("arrival,size,runtime\n0,8,400\n1,4,200\n2500,8,400\n")
    changes = "".join(
        f'[[changes]]\ncluster = "A"\nwhat = "drain"\nat = {at}\nuntil = {at + 9}\n' for at in times
    )
    (tmp_path / "changing.toml").write_text(f'clusters = [{{name = "A", size = 8}}]\n{changes}')
    (tmp_path / "study.toml").write_text(
        'scenario = "site"\nplatform = "changing.toml"\nmetric = "mean_wait"\n'
        'policies = [{global = "dll", local = "fcfs"}]\nworkloads = {mine = "jobs.csv"}\n'
        "vary = {load_factor = [1.0, 100.0]}\nreplications = {least = 2}\n"
    )
    outcome = Study.load(tmp_path / "study.toml").run(tmp_path / "out.db", 1, watch=Silent())
    found = [line for line in outcome.sentences() if "planned after" in line]
    assert [line[: len(words)] for line, words in zip(found, told, strict=True)] == told
    assert "all_left_at" not in outcome.points
    page = study_page(outcome)
    assert "Platform of the study" in page
    assert "Platform of the scenario" not in page


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("values", "of", "page"),
    [
        ("[2, 3]", "", ""),
        ('["auto", 2]', " (clusters 2)", "Of the runs with clusters auto alone."),
    ],
)
def test_changes_of_clusters_that_a_parameter_replaces_are_told(tmp_path, values, of, page):
    (tmp_path / "changing.toml").write_text(
        'clusters = [{name = "A", size = 8}, {name = "B", size = 8}]\n'
        '[[changes]]\ncluster = "B"\nwhat = "fail"\nat = 1e6\n'
    )
    (tmp_path / "study.toml").write_text(
        'scenario = "quickstart"\nplatform = "changing.toml"\nset = {mode = "open", jobs = 9}\n'
        f"vary = {{clusters = {values}}}\nreplications = {{least = 2}}\n"
        'policies = [{global = "dll", local = "fcfs"}]\n'
    )
    outcome = Study.load(tmp_path / "study.toml").run(tmp_path / "out.db", 1, watch=Silent())
    told = " ".join(outcome.sentences())
    lost = "parameter clusters replaces those of the file, whose 1 change of processors is left out"
    assert f"Platform: {lost}{of}." in told
    assert ("1 of 1 change of the platform came in no run" in told) == bool(page)
    assert ("Planned changes" in study_page(outcome)) == bool(page)
    assert page in study_page(outcome)


@pytest.mark.thorough
@pytest.mark.parametrize(("policy", "shown"), [("b3", True), ("migration-only", False)])
def test_links_are_on_the_page_of_a_study_where_jobs_are_split(tmp_path, policy, shown):
    (tmp_path / "two.toml").write_text(
        'clusters = [{name = "A", size = 8, capacity = 200}, {name = "B", size = 8}]\n'
    )
    (tmp_path / "study.toml").write_text(
        'scenario = "quickstart"\nplatform = "two.toml"\nreplications = {least = 2}\n'
        'set = {mode = "open", jobs = 9, min_size = 5, max_size = 12}\n'
        f'policies = [{{global = "{policy}", local = "fcfs"}}]\n'
    )
    outcome = Study.load(tmp_path / "study.toml").run(tmp_path / "out.db", 1, watch=Silent())
    assert ("Network</h" in study_page(outcome)) == shown


def _tables(clusters, more=""):
    """Return tables of clusters, each with the same lines."""
    return "".join(f'[[clusters]]\nname = "{each}"\nsize = 8\n{more}' for each in clusters)


def _ran(folder, changes):
    """Return what a study of two and of three clusters came to, with changes of its text."""
    return Study.load(_growing(folder, changes)).run(folder / "out.db", 1, watch=Silent())


def _growing(folder, changes=()):
    """Write a study of what a third cluster brings to two, and return its file."""
    for cluster, offset in (("A", 0), ("B", 5)):
        rows = "".join(f"{20 * i + offset},4,{100 + 7 * (i % 5)}\n" for i in range(60))
        (folder / f"{cluster}.csv").write_text(f"arrival,size,runtime\n{rows}")
    for name, clusters in (("one", "A"), ("two", "AB"), ("three", "ABC")):
        (folder / f"{name}.toml").write_text(_tables(clusters))
    text = """
        scenario = "quickstart"
        metric = "mean_wait"
        policies = {global = ["dll", "home"], local = "fcfs"}
        set = {mode = "open", assign_deadlines = false, latency = 0}
        vary = {platform = ["two.toml", "three.toml"]}
        workloads = {both = ["A=A.csv", "B=B.csv"]}
        replications = {least = 3, window = "5m"}
    """
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "grow.toml").write_text(text)
    return folder / "grow.toml"


@pytest.mark.thorough
def test_what_another_cluster_brings_is_a_study(tmp_path):
    study, out = _growing(tmp_path), tmp_path / "out.db"
    outcome = Study.load(study).run(out, 1, watch=Silent())
    found = [*outcome.sentences()]
    between = "From platform two.toml to three.toml, mean wait of"
    assert f"{between} home over fcfs stays the same." in found
    (changes,) = [each for each in found if each.startswith(f"{between} dll over fcfs")]
    assert re.search(r"changes? by -.* \(lower in 3 of 3 windows\)", changes)
    assert [*outcome.provenance["platforms"]] == ["two.toml", "three.toml"]
    page = study_page(outcome)
    assert "Platforms of the study" in page
    assert "three.toml" in page
    (tmp_path / "three.toml").write_text((tmp_path / "three.toml").read_text().replace("8", "6"))
    again = call(study, "--out", out, "--resume")
    assert again.exit_code == 2
    assert "three.toml changed since its runs" in again.stderr


@pytest.mark.thorough
def test_links_and_changes_that_vary_are_those_of_platforms(tmp_path):
    study = _growing(tmp_path, [("latency = 0", "latency = 0.1")])
    with (tmp_path / "two.toml").open("a") as file:
        file.write('[[changes]]\ncluster = "B"\nwhat = "fail"\nat = 1e6\n')
    with (tmp_path / "three.toml").open("a") as file:
        file.write("latency = 0.5\n")
    outcome = Study.load(study).run(tmp_path / "out.db", 1, watch=Silent())
    for heading in ("Network", "Planned changes"):
        table = study_page(outcome).partition(f"<h2>{heading}</h2>")[2]
        assert re.search(r"<th [^>]*>(.*?)</th>", table)[1] == "platform"


@pytest.mark.thorough
def test_synthetic_jobs_are_others_on_another_platform(tmp_path):
    changes = [
        ('workloads = {both = ["A=A.csv", "B=B.csv"]}', ""),
        (', window = "5m"', ""),
        ("latency = 0", "jobs = 20"),
    ]
    outcome = _ran(tmp_path, changes)
    told = "differences are of the same jobs, but for those between values of platform"
    assert any(told in each for each in outcome.sentences())


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"three.toml"', '"no.toml"', "grow.toml: vary: platform: .*no.toml: No such file"),
        ('"three.toml"', "3", "grow.toml: vary: platform: found 3; accepted: files of platforms"),
        ('"three.toml"', '""', "grow.toml: vary: platform: found ''; accepted: files of platf"),
        (
            '"three.toml"',
            '"one.toml"',
            "grow.toml: vary: platform: one.toml: found no cluster B; acc",
        ),
        ("metric", 'platform = "two.toml"\nmetric', "grow.toml: platform: found in vary too"),
        (
            "latency = 0",
            'platform = "two.toml"',
            "grow.toml: set: platform: unknown|vary: platform",
        ),
    ],
)
def test_platforms_that_cannot_vary_are_refused_in_a_line(old, new, says, tmp_path):
    got = call(_growing(tmp_path, [(old, new)]), "--out", tmp_path / "out.db")
    assert got.exit_code == 2
    (line,) = [each for each in got.stderr.splitlines() if each.startswith("metasched")]
    assert re.search(says, line), line
    assert not (tmp_path / "out.db").exists()


@pytest.mark.thorough
def test_links_of_platforms_mean_nothing_to_who_splits_no_job(tmp_path):
    """As the same capacities by the parameter."""
    for name, capacity in (("slow", 10), ("fast", 1000)):
        (tmp_path / f"{name}.toml").write_text(_tables("AB", f"capacity = {capacity}\n"))
    split = [
        ('"dll", "home"', '"ect", "first-fit"'),
        ("latency = 0", "bsbw = 300, computation_fraction = 0.7"),
    ]
    varied = 'platform = ["two.toml", "three.toml"]'
    outcome = _ran(tmp_path, [*split, (varied, 'platform = ["slow.toml", "fast.toml"]')])
    assert outcome.provenance["unread"] == {"ect over fcfs": ["platform"]}
    (tmp_path / "out.db").unlink()
    one = ("metric", 'platform = "slow.toml"\nmetric')
    other = _ran(tmp_path, [*split, one, (varied, "link_mbps = [10, 1000]")])
    numbers = ["mean", "difference", "half_width", "n", "surely_changes"]
    assert outcome.effects[numbers].equals(other.effects[numbers])
    (tmp_path / "out.db").unlink()
    (tmp_path / "fast.toml").write_text(_tables("AB", "capacity = 1000\nrate = 2\n"))
    outcome = _ran(tmp_path, [*split, (varied, 'platform = ["slow.toml", "fast.toml"]')])
    assert outcome.provenance["unread"] == {}


@pytest.mark.thorough
@pytest.mark.parametrize(("rate", "others"), [(1, False), (2, False), (0.5, True)])
def test_drawn_deadlines_are_others_where_the_slowest_cluster_is(tmp_path, rate, others):
    (tmp_path / "more.toml").write_text(_tables("AB") + _tables("C", f"rate = {rate}\n"))
    changes = [("assign_deadlines = false", "assign_deadlines = true"), ("three", "more")]
    told = "same jobs; the deadlines are others between values of platform"
    assert any(told in each for each in _ran(tmp_path, changes).sentences()) == others


@pytest.mark.thorough
def test_what_is_given_for_each_cluster_is_of_any_platform(tmp_path):
    """Of a platform only what is of its own clusters; of none is an error."""
    watts = "busy_watts = {A = 100, B = 100, C = 50}"
    outcome = _ran(tmp_path, [("latency = 0", watts), ('"mean_wait"', '"energy_kwh"')])
    assert (outcome.points["energy_kwh"] > 0).all()
    (told,) = (line for line in outcome.sentences() if line.startswith("Energy"))
    assert told.startswith("Energy: of each run for as long as it took; the sooner its last job")
    wrong = [("latency = 0", watts.replace("C", "D"))]
    got = call(_growing(tmp_path, wrong), "--out", tmp_path / "new.db")
    assert got.exit_code == 2
    assert "with workload both, on platform two.toml: busy_watts: D: no cluster; a" in got.stderr


@pytest.mark.thorough
def test_platforms_are_told_as_files_and_what_all_runs_share_have_them(tmp_path):
    def sizes(changes):
        (tmp_path / "out.db").unlink(missing_ok=True)
        told = _ran(tmp_path, changes).provenance["platforms"]
        return {
            name: [(each["name"], each["size"]) for each in platform["clusters"]]
            for name, platform in told.items()
        }

    two, three = [("A", 8), ("B", 8)], [("A", 8), ("B", 8), ("C", 8)]
    assert sizes([]) == {"two.toml": two, "three.toml": three}
    nodes = [('"three.toml"]}', '"three.toml"], nodes = [8, 16]}')]
    assert sizes(nodes) == {"two.toml": two, "three.toml": three}
    assert sizes([("latency = 0", "nodes = 9")])["two.toml"] == [("A", 9), ("B", 9)]
    assert sizes([('"three.toml"', '"./two.toml"')]) == {"two.toml": two, "./two.toml": two}


def test_it_is_told_on_which_platforms_a_parameter_replaces_something(tmp_path):
    unlike = _tables("A", "capacity = 100\n") + _tables("B", "capacity = 200\n")
    (tmp_path / "unlike.toml").write_text(unlike)
    changes = [('"three.toml"]}', '"unlike.toml"], link_mbps = ["auto", 50]}')]
    told = "parameter link_mbps replaces the capacities of its links, 100 to 200 Mbit/s"
    notes = Study.load(_growing(tmp_path, changes)).notes
    (line,) = [each for each in notes if told in each]
    assert line.endswith("(platform unlike.toml, link_mbps 50)")


def test_changes_that_come_in_no_window_are_told_of_each_platform(tmp_path):
    study = _growing(tmp_path)
    for name, at in (("two", 100), ("three", 400)):
        with (tmp_path / f"{name}.toml").open("a") as file:
            file.write(f'[[changes]]\ncluster = "B"\nwhat = "drain"\nat = {at}\nuntil = 500\n')
    (line,) = [each for each in Study.load(study).notes if "last arrival of each window" in each]
    late = "1 of 1 change of platform three.toml: planned after the last arrival of each window"
    assert line == late


@pytest.mark.parametrize(
    ("links", "told"),
    [
        ("latency = 0", "vary: parameters without effect: platform (the files differ in links"),
        ("link_mbps = 50, staging_data = 9", "parameter link_mbps replaces the capacities of link"),
    ],
)
def test_links_of_platforms_that_come_to_nothing_are_told(links, told, tmp_path):
    for name, capacity in (("slow", 10), ("fast", 1000)):
        (tmp_path / f"{name}.toml").write_text(_tables("AB", f"capacity = {capacity}\n"))
    platforms = ('"two.toml", "three.toml"', '"slow.toml", "fast.toml"')
    study = _growing(tmp_path, [platforms, ("latency = 0", links)])
    assert any(told in each for each in Study.load(study).notes)
    other = _growing(tmp_path, [platforms, ("latency = 0", "staging_data = 9")])
    assert not any("link" in each for each in Study.load(other).notes)
    more = _growing(tmp_path, [("latency = 0", "link_mbps = 1000, staging_data = 9")])
    assert not any("replaces" in each for each in Study.load(more).notes)  # a cluster more is all


def test_it_is_told_which_platform_processors_are_to_join(tmp_path):
    study = _growing(tmp_path)
    with (tmp_path / "three.toml").open("a") as file:
        file.write('[[changes]]\ncluster = "C"\nwhat = "join"\nat = 100\nprocessors = 2\n')
    (line,) = [each for each in Study.load(study).notes if "to join" in each]
    assert line.startswith("platform three.toml: processors that are to join count as idle")
