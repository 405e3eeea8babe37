"""What is told of the logs of a study, and of files that its parameters name."""

from __future__ import annotations

import pytest

from experiments.show.study_page import study_page
from experiments.studies.study import Study
from grid.errors import GridError
from tests.experiments.small_studies import Silent, content, printed, write_log_study


def _machines(tmp_path):
    """Return the start of a study of logs, one of 4 processors, and write these."""
    for name, nodes in (("one", 4), ("other", 16)):
        rows = [f"{n} {n} -1 9 2 -1 -1 2 {5 if n == 1 else 20} -1 1 1{' -1' * 6}" for n in range(9)]
        (tmp_path / f"{name}.swf").write_text("\n".join([f"; MaxProcs: {nodes}", *rows]) + "\n")
    return (
        'scenario = "site"\n[replications]\nleast = 2\n[policies]\n'
        'global = ["home"]\nlocal = ["fcfs", "easy"]\n[workloads]\none = "one.swf"\n'
    )


@pytest.mark.thorough
def test_the_machines_of_logs_of_several_are_told_each(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sites = '["C1=other.swf", "C2=one.swf"]'
    text = _machines(tmp_path).replace('"one.swf"', sites) + "[set]\nclusters = 2\n"
    (tmp_path / "study.toml").write_text(text)
    outcome = Study.load(tmp_path / "study.toml").run(tmp_path / "out.db", 1, watch=Silent())
    assert [each["size"] for each in outcome.provenance["platform"]["clusters"]] == [16, 4]


@pytest.mark.thorough
def test_the_machine_and_the_cleaning_of_logs_are_told(tmp_path, monkeypatch):
    """Where the platform has as many processors as each log says."""
    monkeypatch.chdir(tmp_path)
    study = _machines(tmp_path)
    for text, sizes, machines in (
        (study, [4], None),
        (study + 'other = "other.swf"\n', [4], {"one": 4, "other": 16}),
    ):
        (tmp_path / "study.toml").write_text(text)
        outcome = Study.load(tmp_path / "study.toml").run(tmp_path / "out.db", 1, watch=Silent())
        provenance = outcome.provenance
        assert [each["size"] for each in provenance["platform"]["clusters"]] == sizes
        assert provenance.get("machines") == machines
        page = study_page(outcome)
        assert ("4 (one), 16 (other)" in page) == (machines is not None)
        rule = "requested time below the run time: raised to it"
        assert f'<td class="text">{rule}</td>' in page
        told = printed(outcome)
        assert f"cleaning of 9 records, all of workload one:\n  1: {rule}\n" in told
        assert all(rule not in each for each in outcome.sentences())
        (tmp_path / "out.db").unlink()


@pytest.mark.thorough
def test_cleaning_is_told_of_each_way_in_which_runs_read_a_log(tmp_path):
    path = write_log_study(
        tmp_path, [("[workloads]", "[vary]\nkill_at_request = [true, false]\n[workloads]")]
    )
    log = tmp_path / "mine.swf"
    first, second, *rest = (line.split() for line in log.read_text().splitlines())
    first[8], second[3] = "1", "0"  # requested, and run time, s
    log.write_text("\n".join(map(" ".join, [first, second, *rest])))
    outcome = Study.load(path).run(tmp_path / "out.db", 1, watch=Silent())
    assert printed(outcome).splitlines()[-4:] == [
        "cleaning of 400 records, all of workload mine:",
        "  1: run time 0: counted as 1 s",
        "  1, where kill_at_request true: run time above the requested time: cut to it",
        "  1, where kill_at_request false: requested time below the run time: raised to it",
    ]
    assert '<td class="text">kill_at_request false</td>' in study_page(outcome)


@pytest.mark.thorough
def test_files_that_parameters_name_lie_beside_the_study_and_are_known_by_content(tmp_path):
    """Wherever the command runs; files that others include count, too."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "slurm.conf").write_text("Include times\n")
    (tmp_path / "site" / "times").write_text("SchedulerParameters=bf_interval=60\n")
    changes = [
        ('["fcfs", "easy"]', '"slurm"'),
        ("nodes = 20", 'nodes = 20\nslurm_conf = "site/slurm.conf"'),
    ]
    out, study = tmp_path / "out.db", write_log_study(tmp_path, changes, jobs=40)
    Study.load(study).run(out, 1, watch=Silent())
    before = content(out)
    (tmp_path / "site" / "times").write_text("SchedulerParameters=bf_interval=90\n")
    with pytest.raises(GridError, match=r"out\.db: found \S*/site/times changed since its runs"):
        Study.load(study).run(out, 1, resume=True, watch=Silent())
    assert content(out) == before


@pytest.mark.thorough
def test_windows_in_which_no_job_requests_a_time_are_told(tmp_path):
    """There scenario site expects jobs to take as long as they do, as of such a log."""
    path = write_log_study(tmp_path, [("least = 4", 'least = 4\nwindow = "1d"')])
    log = tmp_path / "mine.swf"
    rows = [line.split() for line in log.read_text().splitlines()]
    begin = int(rows[0][1])
    for row in [*rows[:3], *(row for row in rows if int(row[1]) - begin >= 2 * 86_400)]:
        row[8] = "-1"
    log.write_text("\n".join(map(" ".join, rows)) + "\n")
    outcome = Study.load(path).run(tmp_path / "out.db", 1, watch=Silent())
    told = [line for line in outcome.provenance["changes"] if line.startswith("prediction")]
    assert told == [
        "prediction exact in 2 windows of mine, where no job has a requested time: jobs are "
        "expected to take as long as they do",
        "prediction requested: 3 jobs of 4 windows of mine without a requested time: expected to "
        "take the mean of all jobs that had ended by then, 1 h before the first had",
    ]
