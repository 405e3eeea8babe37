"""Draw docs/dashboard.svg, the README's picture: a real run, stopped after half of its jobs."""

from pathlib import Path
from time import perf_counter

from experiments.live.dashboard import save_svg
from experiments.live.following import Follower
from experiments.scenario import Scenario


def draw(path: Path) -> None:
    """Draw the picture."""
    scenario = Scenario.load("quickstart").changed(["jobs=400", "load=1.1"])
    scenario.changed(["jobs=100"]).model().run()  # compiles all that the search needs
    model = scenario.model(seed=1)
    follower = Follower(model, number=194)
    began = perf_counter()
    while model.completed < 200:
        model.step()
    elapsed = perf_counter() - began
    follower.look(elapsed)
    save_svg(model, scenario.name, path, width=110, elapsed=elapsed, follower=follower)


if __name__ == "__main__":
    draw(Path(__file__).parent / "dashboard.svg")
