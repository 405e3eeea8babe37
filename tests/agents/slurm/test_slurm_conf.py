"""What is read of a slurm.conf, and what is refused."""

from __future__ import annotations

import math
import re
from datetime import datetime

import pytest

from agents.slurm.conf import Conf, Node, Partition, Preemption, Priority, Reservation, Scheduling
from agents.slurm.conf_reader import read_conf
from agents.slurm.partitions import Filing
from agents.slurm.qos import read_qos, unread
from agents.slurm.records import with_included
from agents.slurm.values import node_names, seconds
from grid.errors import GridError
from grid.logs.calendar import SITES_CLOCK

WHOLE = r"""
# A comment; then a key in another case, with blanks
clustername = here
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=60,bf_window=2880,bf_continue,defer
PriorityType=priority/multifactor  # by factors
PriorityWeightAge=1000
PriorityWeightFairShare=2000
PriorityMaxAge=1-12
PriorityFlags=NO_FAIR_TREE,ACCRUE_ALWAYS
NodeName=DEFAULT CPUs=4
NodeName=n[1-2],big Weight=2
NodeName=old Sockets=2 CoresPerSocket=3 \
    ThreadsPerCore=2
PartitionName=DEFAULT MaxTime=1:00:00 Nodes=ALL
PartitionName=main Default=YES PriorityTier=3 OverSubscribe=FORCE:2 Hidden=NO
PartitionName=long Nodes=n[1-2] MaxTime=UNLIMITED PriorityJobFactor=7 MaxNodes=1 State=DOWN
"""

DUMP = """
PartitionName=main
   AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL
   AllocNodes=ALL Default=YES QoS=N/A
   DefaultTime=NONE DisableRootJobs=NO ExclusiveUser=NO GraceTime=0 Hidden=NO
   MaxNodes=UNLIMITED MaxTime=2-00:00:00 MinNodes=0 LLN=NO MaxCPUsPerNode=UNLIMITED
   Nodes=n[1-2]
   PriorityJobFactor=5 PriorityTier=1 RootOnly=NO ReqResv=NO OverSubscribe=NO
   State=UP TotalCPUs=8 TotalNodes=2 SelectTypeParameters=NONE

NodeName=n1 Arch=x86_64 CoresPerSocket=1
   CPUAlloc=0 CPUTot=4 CPULoad=1.00
   State=DOWN+DRAIN ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A
   Reason=fan is broken, really [root@2024-01-01T00:00:00]
NodeName=n2 CPUTot=4

ReservationName=repair StartTime=2024-03-01T08:00:00 EndTime=2024-03-01T12:00:00 Duration=04:00:00
   Nodes=n2 NodeCnt=1 CoreCnt=4 Features=(null) PartitionName=main Flags=MAINT,SPEC_NODES
   Users=root Groups=(null) Accounts=(null) State=INACTIVE
"""


def conf_of(tmp_path, text):
    path = tmp_path / "slurm.conf"
    path.write_text(text)
    return read_conf(path)


TIERS = "PreemptType=preempt/partition_prio"
REQUEUE = f"{TIERS}\nPreemptMode=REQUEUE"


def test_what_of_the_qos_has_no_meaning_is_named(tmp_path):
    path = tmp_path / "qos"
    path.write_text(
        "Name|Priority|UsageFactor|MaxTRES|MaxSubmitPU|GrpWall|Flags\n"
        "a|1|1.000000|cpu=4,gres/gpu=1||00:00:00|\nb|2|1.000000|node=2|7||DenyOnLimit\n"
    )
    assert read_qos(path)["a"].job_cpus == 4
    assert unread(path) == ["gres/gpu of MaxTRES", "node of MaxTRES", "MaxSubmitPU", "Flags"]


def test_a_qos_has_one_row(tmp_path):
    path = tmp_path / "qos"
    path.write_text("Name|Priority\na|1\nb|2\na|3\n")
    with pytest.raises(GridError, match="qos:4: Name: found 'a' twice; accepted: once"):
        read_qos(path)


def test_configuration(tmp_path):
    conf = conf_of(tmp_path, WHOLE)
    assert conf.scheduling == Scheduling(bf_interval=60, bf_window=172_800, defer=True)
    assert conf.priority == Priority(max_age=129_600, age=1000, fair_share=2000, fair_tree=False)
    assert conf.nodes == (
        *(Node(name, 4, 2) for name in ("n1", "n2", "big")),
        Node("old", 12),
    )
    main, long = conf.partitions
    assert main == Partition("main", is_default=True, max_time=3600, tier=3)
    assert long == Partition("long", ("n1", "n2"), False, False, max_nodes=1, job_factor=7)
    assert (
        conf.note == "without meaning here: clustername, bf_continue, ACCRUE_ALWAYS, OverSubscribe"
    )


def test_dump_of_scontrol(tmp_path):
    conf = conf_of(tmp_path, DUMP)
    assert conf.partitions == (
        Partition("main", ("n1", "n2"), True, max_time=172_800, job_factor=5),
    )
    assert conf.nodes == (Node("n1", 4), Node("n2", 4))
    where = f"{tmp_path / 'slurm.conf'}:17"
    assert conf.reservations == (
        Reservation("repair", "2024-03-01T08:00:00", "2024-03-01T12:00:00", ("n2",), where),
    )
    assert conf.note == ""


def test_dump_of_parameters(tmp_path):
    text = (
        "Configuration data as of 2024-01-01T00:00:00\n"
        "PriorityCalcPeriod      = 00:10:00\nPriorityType = priority/multifactor\n"
        "PreemptMode = OFF\nPreemptType = preempt/none\nPriorityParameters = (null)\n"
    )
    assert conf_of(tmp_path, text) == Conf(priority=Priority(calc_period=600))


def test_whole_dump_of_parameters(tmp_path):
    """Values have units and blanks, keys have numbers, and there are headings."""
    text = (
        "Configuration data as of 2024-01-01T00:00:00\n"
        "EpilogMsgTime           = 2000 usec\n"
        "InteractiveStepOptions  = --pty $SHELL\n"
        "PriorityFlags           = \n"
        "PriorityType            = priority/multifactor\n"
        "PriorityWeightAge       = 7\n"
        "SlurmctldHost[0]        = head(10.0.0.1)\n"
        "TaskPluginParam         = (null type)\n"
        "\nCgroup Support Configuration:\n"
        "AllowedRAMSpace         = 100.0%\n"
        "\nSlurmctld(primary) at head is UP\n"
    )
    assert conf_of(tmp_path, text + DUMP).priority == Priority(age=7)
    assert conf_of(tmp_path, text + DUMP).note == ""


@pytest.mark.parametrize("between", ["\n   ", " "])
def test_dump_of_nodes_that_have_registered(tmp_path, between):
    lines = [
        "NodeName=n1 Arch=x86_64 CPUTot=4",
        "OS=Linux 6.1.0 #1 SMP Debian",
        "Weight=3 Owner=N/A",
    ]
    assert conf_of(tmp_path, between.join(lines)).nodes == (Node("n1", 4, 3),)


def test_reservations_without_nodes_close_none(tmp_path):
    text = (
        "ReservationName=fluid StartTime=2024-03-01T08:00:00 EndTime=2024-03-01T12:00:00\n"
        "   Nodes=(null) NodeCnt=0 CoreCnt=0 Licenses=fluid:2\n"
    )
    assert conf_of(tmp_path, text).reservations == ()


def test_partitions_without_nodes(tmp_path):
    """Blank in a file, printed, or not said; that of a file without nodes has each processor."""
    text = 'PartitionName=a Nodes="" MaxNodes=1\nPartitionName=b Nodes= MaxNodes=1\n'
    text += "PartitionName=c MaxNodes=1\n   Nodes=(null)\nPartitionName=d MaxNodes=1\n"
    conf = conf_of(tmp_path, "NodeName=n1 CPUs=1\n" + text)
    assert conf.partitions == tuple(Partition(name, (), max_nodes=1) for name in "abcd")
    assert "partition a has no nodes: its jobs never start; partition b has" in conf.note
    assert conf_of(tmp_path, "PartitionName=d\n").partitions == (Partition("d"),)


def test_defaults_of_nodes_combine_with_their_own(tmp_path):
    text = "NodeName=DEFAULT CoresPerSocket=8 ThreadsPerCore=2\nNodeName=a Sockets=2\n"
    text += "NodeName=b CPUs=5\nNodeName=DEFAULT CPUs=3\nNodeName=c\nNodeName=d Sockets=1\n"
    assert [node.cpus for node in conf_of(tmp_path, text).nodes] == [32, 5, 3, 16]


def test_lines_that_go_on_are_joined_as_they_are(tmp_path):
    conf = conf_of(tmp_path, WHOLE.replace("bf_interval=60,", "bf_interval=45,\\\n"))
    assert (conf.scheduling.bf_interval, conf.scheduling.bf_window) == (45, 172_800)
    assert "bf_window" not in conf.note


def test_options_in_any_case(tmp_path):
    conf = conf_of(tmp_path, "SchedulerParameters=BF_Interval=90,DEFER,Max_RPC_cnt=5\n")
    assert conf.scheduling == Scheduling(bf_interval=90, defer=True)
    assert conf.ignored == ("Max_RPC_cnt",)


def test_the_last_line_of_a_parameter_counts(tmp_path):
    text = (
        "PriorityType=priority/multifactor\nSchedulerParameters=bf_interval=60,defer,none_of_ours\n"
    )
    text += "PriorityFlags=NO_FAIR_TREE\nPreemptMode=GANG\nPreemptMode=OFF\n"
    text += "SchedulerParameters=bf_max_job_user=50\nPriorityFlags=INCR_ONLY\n"
    conf = conf_of(tmp_path, text)
    assert conf.scheduling == Scheduling(bf_max_job_user=50)
    assert conf.priority == Priority(increases_only=True)
    assert conf.note == ""


def test_the_last_partition_with_default_is_that_of_jobs_without_one(tmp_path):
    text = "PartitionName=a Default=YES\nPartitionName=b Default=YES\nPartitionName=c\n"
    filing = Filing(conf_of(tmp_path, text), None, {}, {})
    assert filing.of(1).partition.name == "b"


def test_what_is_printed_may_describe_again_what_lines_do(tmp_path):
    lines = "NodeName=n[1-2] CPUs=4\nPartitionName=main Nodes=ALL PriorityJobFactor=1\n"
    printed = conf_of(tmp_path, DUMP)
    for text in (lines + DUMP, DUMP + DUMP):
        assert conf_of(tmp_path, text).partitions == printed.partitions
    assert conf_of(tmp_path, DUMP + lines).partitions[0].job_factor == 1


def test_sets_of_nodes(tmp_path):
    text = "NodeName=r[0-1]n[0-1] CPUs=1\nNodeSet=left Nodes=r0n[0-1]\nNodeSet=all Nodes=ALL\n"
    text += "PartitionName=a Nodes=left,r1n1\nPartitionName=b Nodes=r1n0,all\n"
    a, b = conf_of(tmp_path, text).partitions
    assert (a.nodes, b.nodes) == (("r0n0", "r0n1", "r1n1"), ("r1n0", "r0n0", "r0n1", "r1n1"))


def test_what_processors_are_given_by(tmp_path):
    text = "SelectType=select/cons_tres\nSelectTypeParameters="
    assert conf_of(tmp_path, text + "CR_Core\n") == Conf()
    assert conf_of(tmp_path, text + "CR_CPU\n") == Conf()
    assert conf_of(tmp_path, text + "CR_Core_Memory,CR_LLN\n").ignored == (
        "CR_Core_Memory",
        "CR_LLN",
    )


def test_files_that_are_included(tmp_path):
    (tmp_path / "parts").write_text("PartitionName=a Nodes=ALL\n")
    conf = conf_of(tmp_path, "PartitionName=DEFAULT MaxNodes=1\nInclude parts\nPartitionName=b\n")
    assert [(each.name, each.max_nodes) for each in conf.partitions] == [("a", 1), ("b", 1)]


@pytest.mark.parametrize("reader", [read_conf, with_included])
def test_a_file_that_is_not_there_is_told_with_the_line_that_includes_it(tmp_path, reader):
    path = tmp_path / "slurm.conf"
    path.write_text("ClusterName=a\nInclude nofile.conf\n")
    message = f"{path}:2: Include: {tmp_path / 'nofile.conf'}: No such file"
    with pytest.raises(GridError, match=re.escape(message)):
        reader(str(path))


def test_a_file_that_includes_itself(tmp_path):
    with pytest.raises(GridError, match="Include leads on and on"):
        conf_of(tmp_path, "Include slurm.conf\n")


@pytest.mark.parametrize(
    "options",
    [
        "PreemptParameters=Reorder_Count=3,strict_order,youngest_first,send_user_signal\n",
        "SchedulerParameters=preempt_reorder_count=3,preempt_strict_order,preempt_youngest_first,"
        "send_user_signal\n",
    ],
)
def test_preemption(tmp_path, options):
    conf = conf_of(
        tmp_path,
        f"{REQUEUE}\n{options}PreemptExemptTime=10:00\nAuthInfo=socket=/s,cred_expire=30\n"
        "PartitionName=a PreemptMode=OFF GraceTime=60\nPartitionName=b PreemptMode=REQUEUE\n",
    )
    assert conf.preemption == Preemption(False, 600, 3, True, True, 31)
    assert [each.preempt_mode for each in conf.partitions] == ["off", "requeue"]
    assert {*conf.ignored} == {"GraceTime", "send_user_signal"}


def test_preemption_in_a_dump_of_parameters(tmp_path):
    text = (
        "Configuration data as of 2024-01-01T00:00:00\nAuthInfo = (null)\nJobRequeue = 1\n"
        "PreemptMode = REQUEUE\nPreemptType = preempt/qos\nPreemptExemptTime = 00:02:00\n"
    )
    conf = conf_of(tmp_path, text)
    assert (conf.preemption, conf.note) == (Preemption(True, 120), "")
    none = text.replace("preempt/qos", "preempt/none").replace("REQUEUE", "OFF")
    assert (conf_of(tmp_path, none).preemption, conf_of(tmp_path, none).note) == (None, "")


def test_what_says_of_preemption_has_no_meaning_without_it(tmp_path):
    text = "PreemptMode=REQUEUE\nPreemptParameters=strict_order,min_exempt_priority=3\n"
    conf = conf_of(tmp_path, f"{text}JobRequeue=0\nPartitionName=a PreemptMode=SUSPEND\n")
    assert conf.preemption is None
    assert conf.note.startswith("without meaning here: ")
    assert {"PreemptMode", "PreemptParameters", "JobRequeue"} <= {*conf.ignored}
    assert conf_of(tmp_path, "PreemptType=preempt/none\nPreemptMode=OFF\n") == Conf()


def test_nothing_is_the_defaults(tmp_path):
    assert conf_of(tmp_path, "SchedulerType=sched/backfill\n") == Conf()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("PriorityType=priority/foo", "2: PriorityType: found 'priority/foo'; accepted: priority/"),
        ("SchedulerType=sched/wiki", "2: SchedulerType: found 'sched/wiki'"),
        ("PreemptType=preempt/job", "2: PreemptType: found 'preempt/job'; accepted: preempt/none"),
        ("PreemptType=preempt/qos", "2: PreemptType: found preempt/qos with PreemptMode OFF; acc"),
        (f"{TIERS}\nPreemptMode=CANCEL", "3: PreemptMode: found preempt/partition_prio with Preem"),
        (
            f"{TIERS}\nPreemptMode=SUSPEND,GANG",
            "3: PreemptMode: found 'SUSPEND,GANG', and jobs are",
        ),
        (
            "PreemptMode=GANG",
            "2: PreemptMode: found 'GANG', and jobs are not suspended here; accept",
        ),
        (f"{REQUEUE}\nPartitionName=p PreemptMode=CANCEL", "4: PreemptMode: found 'CANCEL'; accep"),
        (f"{REQUEUE}\nJobRequeue=0", "4: JobRequeue: found 0, so that preempted jobs are cancell"),
        (f"{REQUEUE}\nPreemptExemptTime=soon", "4: PreemptExemptTime: found 'soon'; accepted: min"),
        (f"{REQUEUE}\nPreemptParameters=reorder_count=x", "reorder_count: found 'x'; accepted: a"),
        (f"{REQUEUE}\nPreemptParameters=min_exempt_priority=3", "found 'min_exempt_priority'; acc"),
        (f"{REQUEUE}\nAuthInfo=cred_expire=-3", "4: AuthInfo: cred_expire: found '-3'; accepted:"),
        ("SchedulerParameters=bf_interval=0", "bf_interval: found '0'; accepted: a whole number"),
        ("SchedulerParameters=bf_window", "bf_window: found ''; accepted: a whole number"),
        ("PriorityFlags=DEPTH_OBLIVIOUS", "PriorityFlags: found DEPTH_OBLIVIOUS"),
        ("PriorityMaxAge=soon", "PriorityMaxAge: found 'soon'; accepted: minutes, h:min:s"),
        (
            "SelectTypeParameters=CR_Socket",
            "SelectTypeParameters: found 'CR_Socket'; accepted: CR_",
        ),
        ("just words", "2: found 'just words'; accepted: Key=Value"),
        ("PartitionName=p Nodes=m1", "2: Nodes: found 'm1', and no nodes in the file; accepted: A"),
        ("NodeName=n CPUs=1\nPartitionName=p Nodes=m1", "3: Nodes: found 'm1'; "),
        ("NodeSet=s Feature=gpu", "2: Feature: found 'gpu', and features of nodes are not read; a"),
        ("PartitionName=p State=UPP", "2: State: found 'UPP'; accepted: UP, DOWN, DRAIN, INACT"),
        ("NodeName=n[3-1]", "NodeName: found 'n[3-1]'; accepted: nodes such as"),
        ("ReservationName=r Nodes=ALL", "2: found no StartTime; accepted: StartTime and EndTime"),
        ("PartitionName=p\nPartitionName=p", "3: PartitionName: found 'p' twice; accepted: once"),
        ("NodeName=n[1-3]\nNodeName=n2", "3: NodeName: found 'n2' twice; accepted: once"),
        ("SelectType=select/linear\nNodeName=m CPUs=2", "found 'select/linear' with nodes"),
    ],
)
def test_what_is_refused(tmp_path, line, message):
    with pytest.raises(GridError) as refused:
        conf_of(tmp_path, f"ClusterName=c\n{line}\n")
    assert message in str(refused.value)


def test_times():
    assert [seconds("", text) for text in ("5", "1:30", "2:00:00", "1-2", "1-2:03", "1-0:0:9")] == [
        300, 90, 7200, 93_600, 93_780, 86_409,
    ]  # fmt: skip
    assert seconds("", "INFINITE") == math.inf


@pytest.mark.thorough
def test_lists_of_nodes():
    assert node_names("", "a[01-03,9]b,c") == ["a01b", "a02b", "a03b", "a9b", "c"]
    assert node_names("", "a[1-2]b[03-04,7]") == [
        "a1b03",
        "a1b04",
        "a1b7",
        "a2b03",
        "a2b04",
        "a2b7",
    ]
    with pytest.raises(GridError, match="at most"):
        node_names("", "a[1-2000]b[1-2000]")
    with pytest.raises(GridError, match="at most"):
        node_names("", "a[1-900000],b[1-900000]")


def test_an_empty_file_is_none(tmp_path):
    with pytest.raises(GridError, match=r"slurm\.conf: found no keys; accepted: such as"):
        conf_of(tmp_path, "# nothing\n\n")
    assert conf_of(tmp_path, "ClusterName=a\n").reservations == ()


@pytest.mark.parametrize(
    ("times", "told"),
    [
        ("StartTime=2024-03-01", "found no EndTime; accepted: StartTime and EndTime"),
        ("StartTime=8:30 EndTime=2024-03-01", "StartTime: found '8:30'; accepted: a date such as"),
        (
            "StartTime=2024-03-01 EndTime=2024-13-01",
            "EndTime: found '2024-13-01'; accepted",
        ),
        (
            "StartTime=2024-03-01T08:30 EndTime=2024-03-01T08:30",
            "EndTime: found '2024-03-01T08:30'; accepted: after StartTime, 2024-03-01T08:30",
        ),
    ],
)
def test_wrong_times_of_reservations_are_told_by_line_and_key(tmp_path, times, told):
    clock = datetime(2024, 2, 29, tzinfo=SITES_CLOCK)
    with pytest.raises(GridError, match=re.escape(f"slurm.conf:2: {told}")):
        conf_of(tmp_path, f"ClusterName=a\nReservationName=r {times}\n").reservations[0].span(clock)


def test_reservations_that_come_again_are_named(tmp_path):
    text = "ReservationName=r StartTime=2024-03-01 EndTime=2024-03-02 Flags={}\n"
    conf = conf_of(tmp_path, text.format("MAINT,WEEKLY"))
    assert conf.note == "without meaning here: WEEKLY of reservation r"
    assert conf_of(tmp_path, text.format("MAINT")).note == ""
