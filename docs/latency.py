"""Draw docs/latency.svg: what MUSCLE's schedules cost when brokers take their time."""

from pathlib import Path

from matplotlib.figure import Figure

from experiments.run.results import Result
from experiments.scenario import Scenario
from experiments.sweeps.statistics import mean_interval

LATENCIES = (0.0, 1.0, 2.0, 5.0, 10.0, 20.0)
SEEDS = range(5)
READINGS = {
    "exact predictions": (),
    "log-normal errors of sigma 0.5": ("prediction_error=0.5",),
}


def main() -> None:
    """Run MUSCLE in rounds of 40 jobs, half of them submitted through clusters."""
    base = Scenario.load("muscle").changed(["jobs=800", "local_share=0.5"])
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for marker, (label, settings) in zip("os", READINGS.items(), strict=True):
        means, widths = [], []
        for latency in LATENCIES:
            scenario = base.changed([f"latency={latency}", *settings])
            mcps = []
            for seed in SEEDS:
                model = scenario.model(seed)
                model.run()
                mcps.append(Result.of(model, scenario, 0.0).summary()["metrics"]["mcp"])
            interval = mean_interval(mcps)
            means.append(interval.mean)
            widths.append(interval.half_width)
            print(f"{label}, L = {latency:g} s: {interval.mean:.2f} +- {interval.half_width:.2f} s")
        axes.errorbar(LATENCIES, means, widths, marker=marker, capsize=3, label=label)
    axes.set_xlabel("latency L of a message between brokers, s")
    axes.set_ylabel("MCP, s (mean of rounds, 95 % confidence)")
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False)
    figure.savefig(Path(__file__).parent / "latency.svg")


if __name__ == "__main__":
    main()
