"""`metasched explain`: the story of a job, as the event log of its run has it."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import datetime

import numpy as np
import pytest

from experiments.events.explain import explain, print_stories
from experiments.events.grid_state import Surroundings
from experiments.events.happenings import processors
from experiments.events.identity import Identity
from experiments.events.job_story import Teller
from experiments.events.words import Line, Story, ordinal
from experiments.show.numbers import duration, instant
from grid.errors import GridError
from grid.logs.calendar import SITES_CLOCK
from grid.platform.brokers import Advertising
from grid.platform.distance import DistanceCosts
from tests.agents.a4.test_discovery import tree
from tests.agents.small_grids import PLATFORM, model_of, table
from tests.experiments.commands import call
from tests.experiments.events.test_events import Places, logged
from tests.experiments.watched import Splits


def told(model, job, sizes, **way):
    """Return a job's story in a model's run, line by line."""
    state, names = model.world.state, np.array(model.world.platform.names)
    at_once = state.at_once == 1
    around = Surroundings(sizes, names[at_once], names[~at_once & (state.latency == 0)], **way)
    teller = Teller(Identity(job), around)
    for event in logged(model):
        around.hear(event)
        teller.hear(event)
    return [(time, ", ".join(parts)) for time, parts in teller.lines]


@pytest.fixture(scope="module", params=[0.5, 0])
def result(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "result"
    words = "muscle", "--set", "jobs=120", "--set", "local_share=0.5"
    words += "--set", f"latency={request.param}"
    got = call("run", *words, "--out", folder, "--events", folder / "events.jsonl")
    assert got.exit_code == 0, got.output
    return folder


@pytest.mark.sampled(1)
def test_every_job_has_its_story(result):
    events = [*map(json.loads, (result / "events.jsonl").read_text().splitlines())]
    for job in range(1, 121):
        (story,) = explain(result, job)
        words = [", ".join(parts) for _, parts in story.lines]
        times = [time for time, _ in story.lines if time is not None]
        assert times == sorted(times)
        assert story.heading.startswith(f"Job {job}: ")
        assert words[0].startswith("submitted")
        assert words[-1].startswith("finishes")
        (seed,) = (e for e in events if e.get("kind") == "SeedSchedule" and job in e["jobs"])
        (space,) = (s for s in seed["spaces"] if job in s["jobs"])
        text = "\n".join(words)
        assert f"allocation {seed['round']}: MUSCLE allocates it to {seed['receiver']}" in text
        assert f"workload level, {space['level']:.3g} (jobs x times x sizes over" in text
        assert ("it alone fills" in text) == (len(space["jobs"]) == 1)
        assert len(re.findall("sends it to|stays at", text)) == 1
        assert re.search(rf"TITAN {seed['receiver']} plans it \w+ of \d+ waiting", text)
        (landed,) = (e for e in events if (e["event"], e.get("job")) == ("landed", job))
        (started,) = (e for e in events if (e["event"], e.get("job")) == ("started", job))
        waited = started["time"] - landed["time"]
        assert (f"waited {duration(waited)} there" in text) == (waited > 0)


def test_the_command_tells_it(result):
    got = call("explain", result, 7)
    assert got.exit_code == 0, got.output
    assert re.search(r"Job 7: \d+ processors?, drawn deadline at ", got.stdout)
    assert "MUSCLE allocates it" in got.stdout
    story = json.loads(call("explain", result, 7, "--json").stdout)
    assert story["heading"].startswith("Job 7: ")
    assert story["lines"][-1]["words"].startswith("finishes")


def test_who_waits_for_whom():
    jobs, platform, sizes = table((0, 3, 10), (1, 2, 4), (2, 1, 3)), PLATFORM.star([4]), {"C1": 4}
    second, third = (
        told(model_of("ect", "fcfs", jobs=jobs, platform=platform), job, sizes) for job in (2, 3)
    )
    assert second == [
        (1.0, "submitted to ECT"),
        (1.0, "ECT chooses C1 for it"),
        (
            None,
            "ECT sees C1 as it is then: 1 processor free, 0 waiting",
        ),
        (1.0, "ECT's broker sends it to C1, where it lands at once"),
        (10.0, "starts on 2 processors of C1, 9 s after its submission"),
        (
            None,
            "waited 9 s there, it needs 2 processors and found 1 of its 4 processors free, "
            "job 1 running there",
        ),
        (None, "job 1 has just ended and makes room, job 3 started there at the same time"),
        (14.0, "finishes after 4 s"),
    ]
    assert third[-3:-1] == [
        (None, "waited 8 s there, it needs 1 processor and found 1 of its 4 processors free, "
               "job 1 running there, job 2 waiting there already"),
        (None, "job 1 has just ended and makes room, job 2 started there at the same time"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("latency", "way"), [(0, []), (5, [(0.0, "is on its way to C1, where it lands at 5 s")])]
)
def test_a_scheduler_with_nothing_to_choose_is_not_told_of(tmp_path, latency, way):
    jobs = tmp_path / "given.csv"
    jobs.write_text("arrival,size,runtime\n0,2,30\n")
    given = "--workload", jobs, "--set", f"latency={latency}", "--set", "nodes=4"
    got = call("run", "site", *given, "--out", tmp_path, "--events", tmp_path / "events.jsonl")
    assert got.exit_code == 0, got.output
    story = [(time, ", ".join(parts)) for time, parts in explain(tmp_path, 1)[0].lines]
    started = "at once" if latency == 0 else "5 s after its submission"
    assert story == [
        (0.0, "submitted to C1"),
        *way,
        (latency, f"starts on 2 processors of C1, {started}"),
        (latency + 30.0, "finishes after 30 s"),
    ]


def test_split_and_rejected_jobs():
    jobs = table((0, 8, 5, 6), (1, 6, 5), (2, 99, 5))
    sizes = {"C1": 4, "C2": 4}
    stories = [
        told(model_of(Splits, "fcfs", jobs=jobs, platform=PLATFORM.star([4, 4])), job, sizes)
        for job in (1, 2, 3)
    ]
    assert stories[0][1:] == [
        (0.0, "starts on C1:4+C2:4, at once"),
        (5.0, "finishes, 1 s before its deadline"),
    ]
    assert stories[1][2] == (None, "waited 4 s to be given processors")
    assert stories[2][1:] == [(2.0, "is rejected, larger than can ever run")]


@pytest.mark.parametrize(("staged", "more"), [(0.0, ""), (3.0, ", its data are there at 3 s")])
def test_a_split_job_that_links_slow_is_told_so(staged, more):
    jobs = table((0, 8, 10, np.inf, 0))
    for name, value in (("computation_fraction", 0.5), ("ppbw", 7.0)):
        jobs.jobs[name] = value
    platform = PLATFORM.star([4, 4], capacity=8.0)  # half of what it asks for
    costs = DistanceCosts(staging_time=staged)
    model = model_of(Splits, "fcfs", jobs=jobs, platform=platform, settings=[costs])
    end = 15.0 + staged
    assert told(model, 1, {"C1": 4, "C2": 4})[-2:] == [
        (0.0, f"starts on C1:4+C2:4, at once{more}"),
        (end, f"finishes after {duration(end)}, being split made it run for 15 s instead of 10 s"),
    ]


def test_the_last_report_and_the_last_advertisement_are_each_told_for_what_they_are():
    platform, sizes = PLATFORM.star([16, 12]), {"C1": 16, "C2": 12}
    rows = [(0, 4, 5.0), (0, 4, 6.0), (20, 4, 5.0), (21, 2, 5.0), (40, 4, 5.0), (41, 4, 5.0)]

    def model():
        made = model_of(
            "muscle", "titan", jobs=table(*rows), platform=platform, tracked=True, latency=1.0
        )
        for processor in range(16):
            made.world.resources.fail(0, processor, 10.0)
        return made

    events = logged(model())
    both = 0
    for job in range(1, 7):
        (seed,) = (
            event
            for event in events
            if event.get("kind") == "SeedSchedule" and job in event["jobs"]
        )
        cluster, time = seed["receiver"], seed["time"]
        story = [words for _, words in told(model(), job, sizes)]
        before = [event for event in events if event.get("sender") == cluster]
        reports = [e for e in before if e.get("kind") == "ScheduleReport" and e["due"] <= time]
        heard = [e for e in before if e["event"] == "advertised" and e["time"] <= time]
        of = f" of {cluster}, as it was at"
        assert [words for words in story if of in words] == [
            f"MUSCLE has the last {kind}{of} {instant(event['sent'])}: {rest}"
            for _, kind, event, rest in sorted(
                [
                    (
                        e["due"],
                        "report",
                        e,
                        f"makespan left {duration(e['makespan'])}, {e['unfinished']} unfinished",
                    )
                    for e in reports[-1:]
                ]
                + [
                    (
                        e["time"],
                        "advertisement",
                        e,
                        f"{processors(e['free'])} free, {e['waiting']} waiting",
                    )
                    for e in heard[-1:]
                ],
                key=lambda told: told[:2],
            )
        ]
        both += bool(reports) and bool(heard)
    assert both > 0


def test_many_plans_are_summed_up():
    rows = [(0, 4, 100), (1, 4, 50), *((time, 1, 1, time + 2) for time in range(2, 30))]
    model = model_of("ect", "titan", jobs=table(*rows), platform=PLATFORM.star([4]))
    plans = [
        (event["time"], event["jobs"].index(2) + 1)
        for event in logged(model)
        if event["event"] == "planned" and 2 in event["jobs"]
    ]
    model = model_of("ect", "titan", jobs=table(*rows), platform=PLATFORM.star([4]))
    story = [line for line in told(model, 2, {"C1": 4}) if "plans" in line[1]]
    assert len(plans) > 20
    (first, one), (between, many), (last, other) = story
    assert (first, between, last) == (plans[0][0], plans[1][0], plans[-1][0])
    best, worst = (end(place for _, place in plans[1:-1]) for end in (min, max))
    assert best < worst
    assert one == "TITAN C1 plans it 1st of 1 waiting"
    assert many == (
        f"until {instant(plans[-2][0])} TITAN C1 plans anew {len(plans) - 2} times, "
        f"and the job is {ordinal(best)} to {ordinal(worst)} of those waiting"
    )
    assert other == f"TITAN C1 plans it {ordinal(plans[-1][1])} of 29 waiting"


def test_plans_of_some_of_those_that_wait_tell_of_all():
    """Slurm's plans have only the jobs that start."""
    model = model_of("ect", "slurm", jobs=table(*3 * [(0, 4, 100)]), platform=PLATFORM.star([4]))
    (story,) = [line for line in told(model, 1, {"C1": 4}) if "plans" in line[1]]
    assert story == (0, "SLURM C1 plans it 1st of 3 waiting")


def test_who_was_asked_and_who_answered():
    jobs = table((0, 4, 20.0, 20.0, 0), (10, 4, 9.0, 25.0, 0))
    story = told(model_of("a4", "fcfs", jobs, tree(), latency=0.5), 1, {"C1": 8, "C2": 6, "C3": 4})
    assert story[:5] == [
        (0.0, "submitted through C1, whose broker tells A4 at 1.5 s"),
        (1.5, "C1's broker is asked which clusters can run it, "
              "and passes the question up to broker west"),
        (2.5, "broker west answers: C2, where it expects the job to finish at 17.385 s, "
              "first of 2 offers, after 2 hops of question and answer"),
        (2.5, "A4 chooses C2 for it, 1 s after it was told of it"),
        (4.0, "C1's broker sends it to C2, where it lands at 7 s"),
    ]  # fmt: skip


def test_losses_of_questions_and_answers_are_told():
    jobs, lossy = table((0, 4, 20.0, 5.0, 0)), Advertising(loss=0.6)
    model = model_of("a4", "fcfs", jobs, tree(), latency=0.5, advertising=lossy)
    story = told(model, 1, {"C1": 8, "C2": 6, "C3": 4})
    (answer,) = (words for _, words in story if "hops of question and answer" in words)
    assert re.search(r"after (a message was|\d+ messages were) lost", answer)


LOSSES = re.compile(r"after (a message was|(\d+) messages were) lost")


@pytest.mark.parametrize("latency", [0.0, 0.5])
@pytest.mark.parametrize("sizes", [(8, 8), (8,)])
def test_all_losses_of_messages_about_a_job_are_told(latency, sizes, tmp_path):
    clusters = [f'[[clusters]]\nname = "C{i}"\nsize = {size}\n' for i, size in enumerate(sizes)]
    (tmp_path / "platform.toml").write_text("".join(clusters))
    given = (
        "jobs=20",
        "mode=open",
        "loss=0.5",
        "local_share=0.5",
        "max_size=8",
        f"latency={latency}",
    )
    words = ["--platform", tmp_path / "platform.toml", "--global", "dll", "--local", "fcfs"]
    words += [word for each in given for word in ("--set", each)]
    log = tmp_path / "out" / "events.jsonl"
    assert call("run", "quickstart", *words, "--out", log.parent, "--events", log).exit_code == 0
    lost = Counter(
        event["job"]
        for event in map(json.loads, log.read_text().splitlines())
        if event["event"] == "lost" and "job" in event
    )
    assert lost
    for job in range(1, 21):
        (story,) = explain(log.parent, job)
        text = "; ".join(part for line in story.lines for part in line.parts)
        told = sum(int(each[2] or 1) for each in LOSSES.finditer(text))
        assert told == lost[job], text


def test_a_job_that_never_ran():
    class Never(Places):
        def place(self, job):
            return None

    story = told(model_of(Never, "fcfs", jobs=table((0, 4, 5))), 1, {"C1": 8, "C2": 6, "C3": 4})
    assert [words for _, words in story[-2:]] == [
        "the run ends, and the job waits for NEVER to say where it goes",
        "C1 has 8 processors free",
    ]


def test_what_cannot_be_told_is_said_in_a_line(result, tmp_path):
    assert call("run", "quickstart", "--set", "jobs=9", "--out", tmp_path).exit_code == 0
    (tmp_path / "bad").write_text('{"serial": 1}\n')
    (tmp_path / "other").write_text('{"serial": 1, "time": 0, "event": "landed", "job": 1}\n')
    for words, named in (
        ([tmp_path, 1], "events.jsonl"),
        ([tmp_path, 1, "--events", result / "events.jsonl"], "of muscle, seed 0"),
        ([tmp_path, 1, "--events", tmp_path / "bad"], "bad:1"),
        ([tmp_path, 1, "--events", tmp_path / "other"], "other:1"),
        ([result, 999], "job 999"),
        ([tmp_path / "none", 1], "none: no such folder"),
    ):
        got = call("explain", *words)
        assert got.exit_code == 2, got.output
        assert got.stderr.count("\n") == 1
        assert named in got.stderr


def test_a_log_that_was_cut_off_is_refused(result, tmp_path):
    text = (result / "events.jsonl").read_text()
    for kept, words in ((text[:-9], "cut off"), (text[: text[:-1].rindex("\n") + 1], "no end")):
        (tmp_path / "cut").write_text(kept)
        with pytest.raises(GridError, match=words):
            explain(result, 1, tmp_path / "cut")


def test_a_log_of_the_same_scenario_with_other_parameters_is_refused(result, tmp_path):
    out, log = tmp_path / "other", tmp_path / "log.jsonl"
    got = call("run", "muscle", "--set", "jobs=90", "--out", out, "--events", log)
    assert got.exit_code == 0
    assert explain(out, 60, log)[0].lines[-1].parts[0].startswith("finishes")
    with pytest.raises(GridError, match="of a run in which job 60 fared otherwise"):
        explain(result, 60, log)


def test_a_log_with_dates_has_them_in_its_stories(tmp_path, capsys):
    start = datetime(2003, 3, 29, 12, tzinfo=SITES_CLOCK)
    lines = [Line(0.0, ["one"]), Line(None, ["two"]), Line(86_461.5, ["three"])]
    print_stories([Story("Job 1", lines, start)], as_json=False)
    first, *rows = capsys.readouterr().out.splitlines()
    assert first == "Job 1 (dates by the site's clock)"
    assert [row.split() for row in rows] == [
        ["0", "s", "2003-03-29", "12:00:00", "one"],
        ["two"],
        ["86,461.5", "s", "2003-03-30", "12:01:01", "three"],
    ]
    print_stories([Story("Job 1", lines, start)], as_json=True)
    assert json.loads(capsys.readouterr().out)["start"] == "2003-03-29T12:00:00"
