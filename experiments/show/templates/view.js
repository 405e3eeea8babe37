// The stretch of time that all charts of the page show: whoever changes it redraws those in sight,
// and the others once they come into sight.

const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200,
  86400, 172800, 604800, 1209600];
const UNITS = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];

class View {
  // `zero`: what a clock showed at time 0, s after 1970, if ticks are dates.
  constructor(first, last, zero) {
    this.zero = zero;
    this.first = first;
    this.last = last > first ? last : first + 1;
    this.low = this.first;
    this.high = this.last;
    this.charts = [];
    this.waiting = false;
  }

  set(low, high) {
    const all = this.last - this.first;
    const span = Math.min(all, Math.max(high - low, all * 1e-9, 1e-3));
    low = Math.min(Math.max(low, this.first), this.last - span);
    this.low = low;
    this.high = low + span;
    this.changed();
  }

  zoom(at, factor) {
    this.set(at - (at - this.low) * factor, at + (this.high - at) * factor);
  }

  pan(seconds) {
    this.set(this.low + seconds, this.high + seconds);
  }

  all() {
    this.set(this.first, this.last);
  }

  changed() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      for (const chart of this.charts) {
        if (chart.seen) chart.draw();
        chart.stale = !chart.seen;
      }
      tip.refresh();
    });
  }

  show(canvas, draw) {
    const chart = { draw, seen: true, stale: false };
    this.charts.push(chart);
    new IntersectionObserver(([entry]) => {
      chart.seen = entry.isIntersecting;
      if (!chart.seen || !chart.stale) return;
      chart.stale = false;
      draw();
    }).observe(canvas);
  }

  drawAll() {
    for (const chart of this.charts) chart.draw();
  }

  told(time) {
    if (this.zero === undefined) return exact(time);
    return new Date(1000 * (this.zero + time)).toISOString().slice(0, 19).replace("T", " ");
  }

  ticks(width) {
    const span = this.high - this.low;
    const wanted = span / Math.max(2, width / 90);
    let step = STEPS.find((each) => each >= wanted);
    if (step === undefined) step = roundStep(wanted / 86400) * 86400;
    if (wanted < 1) step = roundStep(wanted);
    const [size, unit] = UNITS.find(([each]) => step >= each && step % each === 0) || [1, "s"];
    const digits = Math.max(0, -Math.floor(Math.log10(step / size) + 1e-9));
    const found = [];
    const ahead = this.zero === undefined ? 0 : this.zero % step; // ticks are at whole hours, days
    for (let k = Math.ceil((this.low + ahead) / step); k * step - ahead <= this.high; k++) {
      const time = k * step - ahead;
      const label = this.zero === undefined
        ? `${(time / size).toFixed(digits)} ${unit}` : date(this.zero + time, step);
      found.push([time, label]);
    }
    return found;
  }
}

// A date as a tick tells it, with as much as tells it from the next.
function date(seconds, step) {
  const told = new Date(1000 * seconds).toISOString();
  if (step % 86400 === 0) return told.slice(0, 10);
  if (step % 60 === 0) return told.slice(5, 16).replace("T", " ");
  return told.slice(11, step < 1 ? 23 : 19);
}

function roundStep(wanted) {
  const ten = 10 ** Math.floor(Math.log10(wanted));
  return [1, 2, 5, 10].map((each) => each * ten).find((each) => each >= wanted * (1 - 1e-9));
}

// Wheel, drag, touch and keys on a canvas change the view of time; `across` takes what goes upwards.
function handle(canvas, view, toTime, across) {
  const held = new Map();
  let spread = 0;
  const seconds = (pixels) => toTime(pixels) - toTime(0);
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const factor = Math.exp(event.deltaY * (event.deltaMode ? 0.05 : 0.0015));
    if (across && (event.shiftKey || event.ctrlKey)) {
      across.zoom(event.offsetY, event.deltaY ? factor : Math.exp(event.deltaX * 0.0015));
    } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      view.pan(seconds(event.deltaX));
    } else {
      view.zoom(toTime(event.offsetX), factor);
    }
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => {
    held.set(event.pointerId, event);
    if (held.size === 2) spread = distance(held);
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = held.get(event.pointerId);
    if (!before) return;
    held.set(event.pointerId, event);
    if (held.size === 1) {
      view.pan(-seconds(event.clientX - before.clientX));
      if (across) across.pan(before.clientY - event.clientY);
    } else if (held.size === 2 && spread > 0) {
      const now = Math.max(1, distance(held));
      view.zoom(toTime(event.offsetX), spread / now);
      spread = now;
    }
  });
  for (const name of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(name, (event) => held.delete(event.pointerId));
  }
  canvas.addEventListener("dblclick", () => {
    if (across) across.all();
    view.all();
  });
  canvas.addEventListener("keydown", (event) => {
    const span = view.high - view.low;
    const middle = (view.low + view.high) / 2;
    const keys = {
      ArrowLeft: () => view.pan(-span / 5),
      ArrowRight: () => view.pan(span / 5),
      "+": () => view.zoom(middle, 0.5),
      "-": () => view.zoom(middle, 2),
      Home: () => view.all(),
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
}

function distance(held) {
  const [a, b] = [...held.values()];
  return Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
}

// Give a canvas as many pixels as the screen has below it, and return what draws on it.
function prepared(canvas, height, most = Infinity) {
  const width = Math.max(50, canvas.parentElement.clientWidth);
  const ratio = Math.max(1, Math.min(2, devicePixelRatio || 1, Math.sqrt(most / (width * height))));
  const pixels = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== pixels[0]) canvas.width = pixels[0];
  if (canvas.height !== pixels[1]) canvas.height = pixels[1];
  canvas.style.height = `${height}px`;
  return { context: canvas.getContext("2d"), width, ratio };
}

function style(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function drawTicks(context, view, left, width, top, bottom) {
  context.font = "11px system-ui, sans-serif";
  context.textAlign = "center";
  context.textBaseline = "top";
  for (const [time, label] of view.ticks(width)) {
    const x = left + ((time - view.low) / (view.high - view.low)) * width;
    context.fillStyle = style("--grid");
    context.fillRect(x, top, 1, bottom - top);
    context.fillStyle = style("--faint");
    if (x > left + 12 && x < left + width - 12) context.fillText(label, x, bottom + 4);
  }
}

// What is told of the place below the pointer, for as long as the pointer stays there.
const tip = {
  // `lines()` gives what to tell, nothing to hide the tip; it is asked anew when charts change.
  follow(event, lines) {
    this.event = event;
    this.lines = lines;
    this.refresh();
  },
  refresh() {
    const box = document.getElementById("tip");
    const lines = this.lines?.();
    box.hidden = !lines;
    if (!lines) return;
    box.replaceChildren(...lines.map((line) => element("div", null, line)));
    const { clientX, clientY } = this.event;
    const { width, height } = box.getBoundingClientRect();
    const right = clientX + 14 + width < innerWidth;
    box.style.left = `${Math.max(4, right ? clientX + 14 : clientX - width - 14)}px`;
    box.style.top = `${Math.min(clientY + 14, innerHeight - height - 4)}px`;
  },
  hide() {
    this.lines = null;
    document.getElementById("tip").hidden = true;
  },
};

// What scrolls moves away below a pointer that stays, and tells nobody.
addEventListener("scroll", () => tip.hide(), { capture: true, passive: true });
