"""What the numbers of the dashboard mean, each by the word that stands beside it."""

from __future__ import annotations

BRIEF = {
    "CP": "CP: late, makespan and idle times, weighted",
    "gens": "gens: generations of its search",
    "news age": "news age: how old the latest news of it is",
}
"""Headings of columns that do not speak for themselves: what is said of them below the table."""

RUN = {
    "time": "simulated time of the run",
    "global queue": "jobs that wait for the global scheduler",
    "round": "jobs that the global scheduler allocated together, the last time",
    "allocation": "jobs that the global scheduler allocated together, the last time",
    "running for": "wall time since the run began, without the time that it was paused",
    "done": "jobs completed or rejected, of all of the workload",
    "ETA": "wall time until all jobs are done, if they go on being done as fast",
    "jobs/s": "jobs done a second of wall time, of late",
    "rejected": "jobs that can never start, which the grid refused",
}

REAL = {
    "time": "since the first service of the folder began",
    "done": "jobs that have ended, each time that they ran, of those that agents were told of",
}
"""The same where jobs are real."""

CLUSTERS = {
    "busy": "processors that run jobs, of all processors of the cluster",
    "down": "processors that failed, are drained, or are not there",
    "run": "jobs that run",
    "wait": "jobs that wait at the cluster",
    "CP": "comprehensive performance of its plan, over-deadline, makespan and idle time, weighted "
    "(lower is better); a search tells it before and after",
    "restarts": "times that jobs were thrown back, by failures or for others",
    "search": "CP of the best schedule over the generations of its last search",
    "gens": "generations of its last search",
    "news age": "age of what the global scheduler knows of the cluster",
}

LINKS = {
    "demand": "what the parts of split jobs want to send over the link now",
    "of capacity": "what the link can carry",
    "share": "demand over capacity; above 100 % the link is saturated and slows jobs down",
}

JOBS = {
    "job": "its number",
    "procs": "processors that it holds, or asks for",
    "since": "time at which it started, or else was submitted",
    "deadline": "time by which it should be completed",
    "ends": "time at which it completes, if nothing changes",
}

MESSAGES = {
    "in flight": "messages that are sent and not yet delivered",
    "sent": "messages of all kinds so far",
    "submission": "jobs that users submitted",
    "metadata": "jobs submitted through a cluster, of which the global scheduler is told",
    "order": "transfers that the global scheduler ordered",
    "transfer": "jobs sent from broker to broker",
    "advertisement": "what brokers told of a cluster's resources",
    "scheduling": "seed schedules and reports between the levels",
    "discovery": "what brokers ask and tell each other of resources",
}
