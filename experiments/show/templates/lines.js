// Curves: over the time that the page shows, or over values on a logarithmic scale.

const MARGIN = 88;
const BAR = 8; // pixels of a bar of shares, about

// Means in equal bins of the view of what intervals of time add up to.
function meansOver(view, bins, begin, end, weight) {
  const sums = new Float64Array(bins);
  const whole = new Float64Array(bins + 1);
  const scale = bins / (view.high - view.low);
  for (let k = 0; k < begin.length; k++) {
    const low = Math.max(0, (begin[k] - view.low) * scale);
    const high = Math.min(bins, (end[k] - view.low) * scale);
    if (!(low < high)) continue;
    const [first, last] = [Math.floor(low), Math.ceil(high) - 1];
    if (first === last) {
      sums[first] += weight(k) * (high - low);
    } else {
      sums[first] += weight(k) * (first + 1 - low);
      sums[last] += weight(k) * (high - last);
      whole[first + 1] += weight(k);
      whole[last] -= weight(k);
    }
  }
  for (let bin = 0, level = 0; bin < bins; bin++) {
    level += whole[bin];
    sums[bin] += level;
  }
  return sums;
}

class Curves {
  // series: [{name, values}], where values(bins) are what is drawn from left to right.
  constructor(root, series, { top, format, ticks, label }) {
    Object.assign(this, { series, top, format, ticks, label });
    this.canvas = root.querySelector("canvas");
    this.height = Number(this.canvas.dataset.height || 170);
    const legend = root.querySelector(".legend");
    const palette = style("--lines").split(/\s+/);
    series.forEach((each, k) => {
      each.colour = palette[k % palette.length];
      each.dash = [[], [6, 3], [2, 3], [8, 3, 2, 3]][Math.floor(k / palette.length) % 4];
      each.shown = series.length <= 12 || k < 4;
      const button = element("button", legend, each.name);
      button.type = "button";
      button.style.setProperty("--mark", each.colour);
      button.setAttribute("aria-pressed", each.shown);
      button.addEventListener("click", () => {
        each.shown = !each.shown;
        button.setAttribute("aria-pressed", each.shown);
        this.draw();
      });
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (event.buttons) return;
      const pixel = Math.floor(event.offsetX - MARGIN);
      tip.follow(event, () => (pixel < 0 || pixel >= this.width ? null : this.tell(pixel)));
    });
    this.canvas.addEventListener("pointerleave", () => tip.hide());
  }

  get width() {
    return Math.max(10, Math.floor(this.canvas.parentElement.clientWidth - MARGIN - 24));
  }

  // How many values there are from left to right.
  get bins() {
    return this.width;
  }

  tell(pixel) {
    const bin = Math.floor((pixel * this.bins) / this.width);
    const shown = this.series.filter((each) => each.shown && !Number.isNaN(each.drawn[bin]));
    return [this.label(bin, this.bins),
      ...shown.map((each) => `${each.name}: ${this.format(each.drawn[bin])}`)];
  }

  draw() {
    const { context, width, ratio } = prepared(this.canvas, this.height);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, this.height);
    const [pixels, bottom] = [this.width, this.height - 22];
    const shown = this.series.filter((each) => each.shown);
    this.measure(this.bins);
    let [low, top] = [0, this.top || 0];
    if (!this.top) {
      for (const each of shown) {
        for (const value of each.drawn) {
          if (value > top) top = value;
          if (value < low) low = value; // a price may be below 0
        }
      }
      [low, top] = [low * 1.05, top * 1.05 || (low ? 0 : 1)];
    }
    const y = (value) => bottom - ((value - low) / (top - low)) * (bottom - 8);
    this.ticks(context, pixels, bottom);
    context.textAlign = "right";
    context.textBaseline = "middle";
    const step = roundStep((top - low) / 4.2);
    for (let k = Math.ceil(low / step); k * step <= top * 1.0001; k++) {
      context.fillStyle = style("--grid");
      context.fillRect(MARGIN, y(k * step), pixels, 1);
      context.fillStyle = style("--faint");
      context.fillText(this.format(k * step), MARGIN - 6, y(k * step));
    }
    this.trace(context, shown, y);
  }

  measure(bins) {
    for (const each of this.series) if (each.shown) each.drawn = each.values(bins);
  }

  trace(context, shown, y) {
    context.lineWidth = 1.4;
    context.lineJoin = "round";
    for (const each of shown.toReversed()) {
      context.strokeStyle = each.colour;
      context.setLineDash(each.dash);
      context.beginPath();
      each.drawn.forEach((value, bin) => context.lineTo(MARGIN + bin + 0.5, y(value)));
      context.stroke();
    }
    context.setLineDash([]);
  }
}

// Shares of the sum of all series, one upon the other; NaN where there is nothing to share.
class Shares extends Curves {
  get bins() {
    return Math.ceil(this.width / BAR);
  }

  measure(bins) {
    const all = this.series.map((each) => each.values(bins));
    const sums = all[0].map((_, bin) => all.reduce((sum, values) => sum + values[bin], 0));
    this.series.forEach((each, k) => {
      each.drawn = all[k].map((value, bin) => (sums[bin] > 0 ? value / sums[bin] : NaN));
    });
  }

  trace(context, shown, y) {
    const below = new Float64Array(this.bins);
    const wide = this.width / this.bins;
    context.globalAlpha = 0.8;
    for (const each of shown) {
      context.fillStyle = each.colour;
      context.beginPath(); // one for all bars: no seams between them
      each.drawn.forEach((value, bin) => {
        if (!(value > 0)) return;
        const [from, to] = [y(below[bin]), y(below[bin] + value)];
        context.rect(MARGIN + bin * wide, to, wide, from - to);
        below[bin] += value;
      });
      context.fill();
    }
    context.globalAlpha = 1;
  }
}

function timeCurves(root, view, series, format, top, Kind = Curves) {
  const label = (bin, width) => {
    const time = (edge) => view.low + ((view.high - view.low) * edge) / width;
    return `${exact(time(bin))} and ${duration(time(bin + 1) - time(bin))} from there`;
  };
  const ticks = (context, width, bottom) =>
    drawTicks(context, view, MARGIN, width, 8, bottom);
  const curves = new Kind(root, series, { top, format, ticks, label });
  view.show(curves.canvas, () => curves.draw());
  const toTime = (x) => view.low + ((x - MARGIN) / curves.width) * (view.high - view.low);
  handle(curves.canvas, view, toTime);
  return curves;
}

// Shares of jobs up to a value; quantiles[k] is the value of the share k / (length - 1).
function shareCurves(root, series, least, unit) {
  const most = Math.max(least * 10, ...series.map((each) => each.quantiles.at(-1)));
  const valueAt = (bin, width) => least * (most / least) ** ((bin + 1) / width);
  const values = (quantiles) => (width) => {
    const shares = new Float64Array(width);
    for (let bin = 0, k = 0; bin < width; bin++) {
      const value = valueAt(bin, width) * (1 + 1e-12);
      while (k < quantiles.length && quantiles[k] <= value) k++;
      shares[bin] = k === 0 ? 0 : (k - 1) / (quantiles.length - 1);
    }
    return shares;
  };
  const ticks = (context, width, bottom) => {
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "center";
    context.textBaseline = "top";
    const all = unit === "s"
      ? [1, 10, 60, 600, 3600, 36000, 86400, 864000, 8640000] : [1, 10, 100, 1e3, 1e4, 1e5, 1e6];
    for (const value of all.filter((each) => each >= least && each <= most)) {
      const x = MARGIN + (Math.log(value / least) / Math.log(most / least)) * width;
      context.fillStyle = style("--grid");
      context.fillRect(x, 8, 1, bottom - 8);
      context.fillStyle = style("--faint");
      context.fillText(unit === "s" ? duration(value) : number(value), x, bottom + 4);
    }
  };
  const label = (bin, width) => {
    const value = valueAt(bin, width);
    return `up to ${unit === "s" ? duration(value) : number(value)}`;
  };
  const shares = series.map((each) => ({ name: each.name, values: values(each.quantiles) }));
  const percent = (value) => `${(100 * value).toFixed(value > 0.99 && value < 1 ? 2 : 0)} %`;
  return new Curves(root, shares, { top: 1, format: percent, ticks, label });
}
