"""The meta-schedulers of `beosim`: local allocation, migration, then a co-allocation module."""
