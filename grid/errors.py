"""What goes wrong in the grid, said so that a person can mend it."""


class GridError(ValueError):
    """Base of every error caused by what a user gave to metasched.

    The message is one line that names the place (file and line, or key), what was found and what
    is accepted. The command line prints it and exits with status 2.
    """


class WorkloadError(GridError):
    """A workload file or a workload parameter that cannot be used."""


class PlatformError(GridError):
    """Clusters, switches or links that do not form a usable multicluster."""


class PlacementError(GridError):
    """A scheduler asked for processors that do not exist or are not free."""
