"""Queues of waiting jobs: the order of service, backfilling, reservations, fair shares."""
