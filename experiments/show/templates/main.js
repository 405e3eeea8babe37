// Bring the page to life, once the arrays are unpacked.

async function main() {
  document.querySelectorAll("table.sortable").forEach(sortable);
  const told = JSON.parse(document.getElementById("data").textContent);
  const page = { charts: [], curves: [], distributions: [], zero: told.zero };
  for (const each of told.distributions || []) {
    for (const series of each.series) series.quantiles = await unpack(series.quantiles);
    const root = document.getElementById(each.place);
    page.distributions.push(shareCurves(root, each.series, each.least, each.unit));
  }
  if (told.runs?.length) await runs(told.runs, told.several, page);
  const draw = () => {
    page.view?.drawAll();
    page.distributions.forEach((each) => each.draw());
  };
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const repaint = () => { page.charts.forEach((each) => each.paint()); draw(); };
  dark.addEventListener("change", repaint);
  matchMedia("print").addEventListener("change", repaint);
  addEventListener("resize", draw);
  addEventListener("beforeprint", draw);
  page.distributions.forEach((each) => each.draw());
  page.view?.drawAll();
  window.metasched = page;
  document.documentElement.dataset.ready = "yes";
}

async function runs(told, several, page) {
  for (const run of told) Object.assign(run, await unpackAll(run.arrays));
  const ends = told.flatMap((run) => [run.from, run.to]);
  const view = new View(Math.min(...ends), Math.max(...ends), page.zero);
  page.view = view;
  const shown = document.getElementById("shown");
  view.show(shown, () => {
    shown.textContent = `Charts show ${view.told(view.low)} to ${view.told(view.high)}`;
  });
  for (const run of told) {
    page.charts.push(new Gantt(document.getElementById(run.place), run, view));
  }
  const percent = (value) => `${(100 * value).toFixed(1)} %`;
  const used = told.flatMap((run) => {
    const { job, count, cluster, start, finish } = run;
    const [begin, end] = [start, finish].map((times) => Float64Array.from(job, (of) => times[of]));
    const total = run.clusters.reduce((sum, each) => sum + each.size, 0);
    const of = (size, weight) => (bins) =>
      meansOver(view, bins, begin, end, weight).map((busy) => busy / size);
    const all = { name: several ? run.name : "all clusters", values: of(total, (k) => count[k]) };
    if (several || run.clusters.length === 1) return [all];
    return [all, ...run.clusters.map((each, k) => ({
      name: each.name, values: of(each.size, (block) => (cluster[block] === k ? count[block] : 0)),
    }))];
  });
  page.curves.push(timeCurves(document.getElementById("used"), view, used, percent, 1));
  for (const [index, run] of told.entries()) {
    for (const name of Object.keys(run.shares)) {
      const used = usedBy(run, name, view);
      if (!several) {
        page.curves.push(timeCurves(document.getElementById(`of_${name}`), view, used, percent));
      }
      const root = document.getElementById(`share_${name}${index}`);
      const series = used.map((each) => ({ ...each }));
      page.curves.push(timeCurves(root, view, series, percent, 1, Shares));
    }
  }
  for (const kind of ["gini_wait", "gini_work"]) {
    const root = document.getElementById(kind);
    if (!root) continue;
    const series = told.flatMap((run) => run.unequal.map((name) => ({
      name: several ? run.name : `by ${name}`,
      values: stepped(view, run.stretches, run[`${kind}_${name}`]),
    })));
    page.curves.push(timeCurves(root, view, series, (value) => number(value, 3), 1));
  }
  const waiting = told.map((run) => ({
    name: several ? run.name : "waiting jobs",
    values: run.waiting
      ? stepped(view, run.bounds, run.waiting)
      : (bins) => meansOver(view, bins, run.arrival, run.start, () => 1),
  }));
  page.curves.push(timeCurves(document.getElementById("waiting"), view, waiting, number));
  for (const kind of ["demand", "saturated"]) {
    const root = document.getElementById(kind);
    if (!root) continue;
    const series = told.flatMap((run) => run.links.map((link, k) => ({
      name: several ? `${run.name}: ${link}` : link,
      values: stepped(view, run.bounds, run[`${kind}${k}`]),
    })));
    page.curves.push(timeCurves(root, view, series, percent));
  }
  for (const kind of ["energy_kwh", "cost", "co2_kg"]) {
    const root = document.getElementById(kind);
    if (!root) continue;
    const series = told.filter((run) => run.steps).flatMap((run) => {
      const there = run.clusters.map((_, k) => k).filter((k) => run[`${kind}${k}`]);
      if (!there.length) return [];
      const sums = Array.from(run[`${kind}${there[0]}`],
        (_, step) => there.reduce((sum, k) => sum + run[`${kind}${k}`][step], 0));
      const whole = there.length === run.clusters.length
        ? [{ name: several ? run.name : "all clusters", values: stepped(view, run.steps, sums) }]
        : [];
      if (several || run.clusters.length === 1) return whole;
      return [...whole, ...there.map((k) => ({
        name: run.clusters[k].name, values: stepped(view, run.steps, run[`${kind}${k}`]),
      }))];
    });
    page.curves.push(timeCurves(root, view, series, number));
  }
}

// Of all processors, those in use by each of the groups of jobs.
function usedBy({ job, count, start, finish, clusters, ...run }, name, view) {
  const of = run[`of_${name}`];
  const [begin, end] = [start, finish].map((times) => Float64Array.from(job, (k) => times[k]));
  const total = clusters.reduce((sum, each) => sum + each.size, 0);
  return run.shares[name].map((each, which) => ({
    name: each,
    values: (bins) => meansOver(view, bins, begin, end, (block) =>
      (Number(of[job[block]]) === which ? count[block] : 0)).map((busy) => busy / total),
  }));
}

// Values of intervals between bounds, at the middles of bins; NaN outside.
function stepped(view, bounds, values) {
  return (bins) => {
    const drawn = new Float64Array(bins);
    for (let bin = 0, k = 0; bin < bins; bin++) {
      const time = view.low + ((bin + 0.5) / bins) * (view.high - view.low);
      while (k < values.length && bounds[k + 1] <= time) k++;
      drawn[bin] = k < values.length && time >= bounds[0] ? values[k] : NaN;
    }
    return drawn;
  };
}

main();
