// The Gantt chart of a run: time to the right, processors upwards, a band for each cluster.
//
// Every block is painted into a buffer by the area that it covers, so that a pixel with many jobs
// shows how much of it is in use, and the cost is that of the pixels: nothing is left out.

const LEFT = 88;
const RIGHT = 24;
const GAP = 14;
const FOOT = 22;
const MANY = 5000; // jobs
const FAINTEST = 0.35; // of a pixel, so that single short jobs can be seen

class Gantt {
  constructor(root, run, view) {
    this.run = run;
    this.view = view;
    this.canvas = root.querySelector("canvas");
    this.details = root.querySelector(".details");
    this.choice = root.querySelector(".colour");
    this.key = root.querySelector(".key");
    if (run.number.length > MANY) this.choice.value = "wait"; // single jobs are not seen
    this.chosen = -1;
    this.zoomed = 1; // upwards
    this.offset = 0; // pixels below the upper edge that are out of sight
    const total = run.clusters.reduce((sum, cluster) => sum + cluster.size, 0);
    let top = 4;
    this.bands = run.clusters.map((cluster) => {
      const height = Math.max(36, Math.min(cluster.size * 12, (420 * cluster.size) / total));
      const band = { ...cluster, top, height };
      top += height + GAP;
      return band;
    });
    this.height = top - GAP + FOOT + 4;
    this.plot = this.height - FOOT;
    handle(this.canvas, view, (x) => this.timeAt(x), this);
    this.canvas.addEventListener("pointermove", (event) => this.hover(event));
    this.canvas.addEventListener("pointerleave", () => tip.hide());
    this.canvas.addEventListener("click", (event) => {
      const job = this.jobAt(event.offsetX, event.offsetY);
      if (job >= 0 || !this.moved) this.choose(job);
    });
    this.canvas.addEventListener("pointerdown", () => { this.moved = false; });
    this.choice.addEventListener("change", () => { this.paint(); this.draw(); });
    root.querySelector(".find").addEventListener("change", (event) => this.find(event.target));
    for (const [name, act] of [
      [".closer", () => view.zoom((view.low + view.high) / 2, 0.5)],
      [".farther", () => view.zoom((view.low + view.high) / 2, 2)],
      [".taller", () => this.zoom(this.plot / 2, 0.5)],
      [".flatter", () => this.zoom(this.plot / 2, 2)],
      [".whole", () => { this.all(); view.all(); }],
    ]) root.querySelector(name).addEventListener("click", act);
    view.show(this.canvas, () => this.draw());
    this.paint();
  }

  // Upwards ------------------------------------------------------------------------------------

  zoom(at, factor) {
    const before = this.zoomed;
    this.zoomed = Math.min(400, Math.max(1, before / factor));
    this.shift(((at + this.offset) * this.zoomed) / before - at);
  }

  pan(pixels) {
    if (this.zoomed > 1) this.shift(this.offset + pixels);
  }

  all() {
    this.zoomed = 1;
    this.shift(0);
  }

  shift(offset) {
    this.offset = Math.min(Math.max(0, offset), this.plot * (this.zoomed - 1));
    this.view.changed();
  }

  // From pixels and back -----------------------------------------------------------------------

  get width() {
    return Math.max(10, this.canvas.parentElement.clientWidth - LEFT - RIGHT);
  }

  timeAt(x) {
    const { low, high } = this.view;
    return low + ((x - LEFT) / this.width) * (high - low);
  }

  xOf(time) {
    const { low, high } = this.view;
    return LEFT + ((time - low) / (high - low)) * this.width;
  }

  box(block) {
    const { job, cluster, first, count, start, finish } = this.run;
    const band = this.bands[cluster[block]];
    const row = band.height / band.size;
    const bottom = band.top + band.height - first[block] * row;
    const upper = (bottom - count[block] * row) * this.zoomed - this.offset;
    return [this.xOf(start[job[block]]), upper, this.xOf(finish[job[block]]),
      bottom * this.zoomed - this.offset];
  }

  jobAt(x, y) {
    const { job, start, finish } = this.run;
    let found = -1;
    let nearest = 2.5; // pixels
    const [from, to] = [this.timeAt(x - nearest), this.timeAt(x + nearest)];
    for (let block = 0; block < job.length; block++) {
      if (start[job[block]] > to || finish[job[block]] < from) continue;
      const [left, top, right, bottom] = this.box(block);
      const aside = Math.max(left - x, x - right, 0) + Math.max(top - y, y - bottom, 0);
      if (aside < nearest) {
        nearest = aside;
        found = job[block];
      }
    }
    return found;
  }

  // Where a job is in the window, as scripts and tests ask: its first block's middle.
  place(number) {
    const block = this.run.job.indexOf(this.run.number.indexOf(number));
    const [left, top, right, bottom] = this.box(block);
    const { x, y } = this.canvas.getBoundingClientRect();
    return { x: x + (left + right) / 2, y: y + (top + bottom) / 2 };
  }

  // Drawing ------------------------------------------------------------------------------------

  // Choose a colour for each job: [red, green, blue] of 0 to 255.
  paint() {
    const { number: numbers, arrival, start, split, size } = this.run;
    const by = this.choice.value;
    const shades = (by === "job" ? style("--palette") : style("--scale")).split(/\s+/).map(rgb);
    const longest = start.reduce((most, time, job) => Math.max(most, time - arrival[job] || 0), 1);
    const largest = size.reduce((most, each) => Math.max(most, each), 2);
    const last = shades.length - 1;
    const shade = {
      job: (job) => shades[(numbers[job] * 7) % shades.length],
      wait: (job) => shades[Math.round(last * logShare(start[job] - arrival[job], longest))],
      size: (job) => shades[Math.round((last * Math.log(size[job])) / Math.log(largest))],
      split: (job) => shades[split[job] ? last : 1],
    }[by];
    const told = { wait: ["0 s", duration(longest)], size: ["1", String(largest)],
      split: ["whole", "split"] }[by];
    this.key.replaceChildren();
    if (told) {
      element("span", this.key, told[0]);
      const ends = by === "split" ? `${css(shades[1])} 50%, ${css(shades[last])} 50%`
        : shades.map(css).join(", ");
      element("span", this.key, "", "ramp").style.background = `linear-gradient(90deg, ${ends})`;
      element("span", this.key, told[1]);
    }
    this.colours = new Uint8Array(3 * numbers.length);
    for (let job = 0; job < numbers.length; job++) this.colours.set(shade(job) || [0, 0, 0], 3 * job);
  }

  draw() {
    const { context, width, ratio } = prepared(this.canvas, this.height, 1.5e6);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = style("--paper");
    context.fillRect(0, 0, this.canvas.width, this.canvas.height);
    const left = Math.round(LEFT * ratio);
    const across = Math.round(this.width * ratio);
    const down = Math.round(this.plot * ratio);
    const image = this.blocks(left, across, down, ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.back(context, width);
    drawTicks(context, this.view, LEFT, this.width, 0, this.plot);
    this.picture ||= document.createElement("canvas");
    this.picture.width = across;
    this.picture.height = down;
    this.picture.getContext("2d").putImageData(image, 0, 0);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(this.picture, left, 0);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.save();
    context.beginPath();
    context.rect(LEFT, 0, this.width, this.plot);
    context.clip();
    this.numbers(context);
    if (this.joined.length) this.joins(context);
    if (this.chosen >= 0) this.outline(context, this.chosen);
    context.restore();
  }

  // Return the picture of all blocks; `large` and `joined` are those that get more than colour.
  blocks(left, across, down, ratio) {
    const { job, cluster, first, count, start, finish, split } = this.run;
    const sums = (this.sums?.length === across * down * 4)
      ? this.sums.fill(0) : (this.sums = new Float32Array(across * down * 4));
    const { low, high } = this.view;
    const scale = across / (high - low);
    const [tall, above] = [this.zoomed * ratio, this.offset * ratio];
    const rows = this.bands.map((band) => (band.height / band.size) * tall);
    const grounds = this.bands.map((band) => (band.top + band.height) * tall - above);
    const limits = this.bands.map((band, k) => grounds[k] - band.height * tall);
    const colours = this.colours;
    this.large = [];
    this.joined = [];
    for (let block = 0; block < job.length; block++) {
      const of = job[block];
      let x0 = (start[of] - low) * scale;
      let x1 = (finish[of] - low) * scale;
      if (x1 < 0 || x0 > across) continue;
      const k = cluster[block];
      let y1 = grounds[k] - first[block] * rows[k];
      let y0 = Math.max(limits[k], y1 - count[block] * rows[k]);
      if (y1 < 0 || y0 > down) continue;
      if (x1 - x0 < FAINTEST) x1 = x0 + FAINTEST;
      if (x1 - x0 > 4 && y1 - y0 > 3) {
        if (x1 - x0 > 24 * ratio && y1 - y0 > 11 * ratio) this.large.push(block);
        if (split[of]) this.joined.push(of);
        x1 -= 1;
        y0 += 1;
      }
      if (x0 < 0) x0 = 0;
      if (y0 < 0) y0 = 0;
      if (x1 > across) x1 = across;
      if (y1 > down) y1 = down;
      const [red, green, blue] = [colours[3 * of], colours[3 * of + 1], colours[3 * of + 2]];
      const [x2, y2] = [Math.ceil(x1), Math.ceil(y1)];
      for (let y = Math.floor(y0); y < y2; y++) {
        const part = Math.min(y + 1, y1) - Math.max(y, y0);
        for (let x = Math.floor(x0), at = (y * across + x) * 4; x < x2; x++, at += 4) {
          const share = part * (Math.min(x + 1, x1) - Math.max(x, x0));
          sums[at] += red * share;
          sums[at + 1] += green * share;
          sums[at + 2] += blue * share;
          sums[at + 3] += share;
        }
      }
    }
    const image = (this.image?.width === across && this.image.height === down)
      ? this.image : (this.image = new ImageData(across, down));
    const words = new Uint32Array(image.data.buffer);
    for (let word = 0, at = 0; word < words.length; word++, at += 4) {
      const share = sums[at + 3];
      words[word] = share === 0 ? 0 : (Math.min(255, share * 255) << 24)
        | ((sums[at + 2] / share) << 16) | ((sums[at + 1] / share) << 8) | (sums[at] / share);
    }
    return image;
  }

  back(context, width) {
    context.save();
    context.beginPath();
    context.rect(0, 0, width, this.plot);
    context.clip();
    context.font = "12px system-ui, sans-serif";
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const band of this.bands) {
      const top = band.top * this.zoomed - this.offset;
      const height = band.height * this.zoomed;
      context.fillStyle = style("--empty");
      context.fillRect(LEFT, top, this.width, height);
      const middle = Math.min(Math.max(top + height / 2, 16), this.plot - 16);
      if (middle < top || middle > top + height) continue;
      context.fillStyle = style("--ink");
      context.fillText(band.name, LEFT - 8, middle - 7, LEFT - 12);
      context.fillStyle = style("--faint");
      context.fillText(`${band.size}`, LEFT - 8, middle + 8, LEFT - 12);
    }
    context.restore();
  }

  numbers(context) {
    if (this.large.length > 1500) return;
    context.font = "10px system-ui, sans-serif";
    context.textAlign = "center";
    context.textBaseline = "middle";
    const dark = this.choice.value !== "job";
    for (const block of this.large) {
      const of = this.run.job[block];
      const [left, top, right, bottom] = this.box(block);
      const [x0, x1] = [Math.max(left, LEFT), Math.min(right, LEFT + this.width)];
      if (x1 - x0 < 24) continue;
      const bright = this.colours[3 * of] * 0.3 + this.colours[3 * of + 1] * 0.6;
      context.fillStyle = dark && bright < 110 ? "#fff" : "#111";
      context.fillText(this.run.number[of], (x0 + x1) / 2, (top + bottom) / 2, x1 - x0 - 4);
    }
  }

  // Lines that join the parts of co-allocated jobs, as long as there are few enough to be read.
  joins(context) {
    const jobs = new Set(this.joined);
    if (jobs.size > this.width / 12) return;
    context.lineWidth = 1;
    for (const job of jobs) this.line(context, job, style("--join"));
  }

  line(context, job, colour) {
    const boxes = this.parts(job).map((part) => part.box);
    const x = Math.max(LEFT + 2, boxes[0][0] + 2);
    context.strokeStyle = colour;
    context.fillStyle = colour;
    context.beginPath();
    context.moveTo(x, boxes[0][1]);
    context.lineTo(x, boxes[boxes.length - 1][3]);
    context.stroke();
    for (const [, top, , bottom] of boxes) context.fillRect(x - 2, (top + bottom) / 2 - 2, 4, 4);
  }

  outline(context, job) {
    context.lineWidth = 2;
    context.strokeStyle = style("--ink");
    for (const block of this.blocksOf(job)) {
      const [left, top, right, bottom] = this.box(block);
      context.strokeRect(left - 1, top - 1, Math.max(3, right - left + 1), bottom - top + 1);
    }
    if (this.run.split[job]) this.line(context, job, style("--ink"));
  }

  // Jobs ---------------------------------------------------------------------------------------

  blocksOf(job) {
    const found = [];
    for (let block = 0; block < this.run.job.length; block++) {
      if (this.run.job[block] === job) found.push(block);
    }
    return found;
  }

  // The parts of a job: a cluster, how many processors there, and the box around them.
  parts(job) {
    const parts = new Map();
    for (const block of this.blocksOf(job)) {
      const [left, top, right, bottom] = this.box(block);
      const of = this.run.cluster[block];
      const part = parts.get(of) || { cluster: this.bands[of].name, count: 0,
        box: [left, Infinity, right, -Infinity] };
      part.count += this.run.count[block];
      part.box[1] = Math.min(part.box[1], top);
      part.box[3] = Math.max(part.box[3], bottom);
      parts.set(of, part);
    }
    return [...parts.values()];
  }

  tell(job) {
    const { number: numbers, arrival, start, finish, size } = this.run;
    const where = this.parts(job).map((part) => `${part.cluster}: ${part.count}`);
    return [
      `job ${numbers[job]}, ${size[job]} processor${size[job] > 1 ? "s" : ""}`,
      `submitted ${exact(arrival[job])}`,
      `start ${exact(start[job])}, after a wait of ${duration(start[job] - arrival[job])}`,
      `finish ${exact(finish[job])}, ran ${duration(finish[job] - start[job])}`,
      `on ${where.join(", ")}`,
    ];
  }

  hover(event) {
    if (event.buttons) {
      this.moved = true;
      tip.hide();
      return;
    }
    const { offsetX, offsetY } = event; // it loses them once it has been handled
    tip.follow(event, () => {
      const job = offsetX < LEFT ? -1 : this.jobAt(offsetX, offsetY);
      return job < 0 ? null : this.tell(job);
    });
  }

  choose(job) {
    this.chosen = job;
    this.details.replaceChildren();
    if (job >= 0) {
      for (const line of this.tell(job)) element("div", this.details, line);
      if (this.run.split[job]) {
        const list = element("ul", this.details);
        for (const part of this.parts(job)) {
          element("li", list, `part on ${part.cluster}: ${part.count} processors`);
        }
      }
    }
    this.draw();
  }

  find(input) {
    const job = this.run.number.indexOf(Number(input.value));
    input.setCustomValidity(job < 0 || !(this.run.start[job] >= 0) ? "no job of this number ran" : "");
    if (!input.reportValidity() || input.value === "") return;
    const { start, finish } = this.run;
    const span = Math.max(finish[job] - start[job], 1) * 6;
    const middle = (start[job] + finish[job]) / 2;
    this.view.set(middle - span / 2, middle + span / 2);
    this.choose(job);
  }
}
