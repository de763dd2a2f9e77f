// The figures that move: uPlot draws lines and axes; bands, bars, whiskers, the legend and the
// box of values are ours. Without this script the page shows the static figures.

const darkness = window.matchMedia("(prefers-color-scheme: dark)");
const FONT = "12px system-ui, -apple-system, 'Segoe UI', Roboto, Arial, sans-serif";
const MARKED = 24; // lines of more points carry no markers
const ROWS = 14; // values the box shows at most

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

const textWidth = (() => {
  const context = document.createElement("canvas").getContext("2d");
  context.font = FONT;
  return (text) => context.measureText(text).width;
})();

// All figures of the page: a series that is hidden in one is hidden in all that have it.
const plots = [];

// A line in the look of its series, for the legend and the box of values.
function sample(series) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 26 10");
  svg.setAttribute("aria-hidden", "true");
  const bars = series.style !== "line" && series.style !== "guide";
  const shape = document.createElementNS(space, bars ? "rect" : "line");
  const place = bars ? { x: 8, y: 0, width: 10, height: 10, rx: 2 } : { x1: 0, y1: 5, x2: 26, y2: 5 };
  for (const [name, value] of Object.entries(place)) shape.setAttribute(name, value);
  shape.setAttribute(bars ? "fill" : "stroke", darkness.matches ? series.dark : series.light);
  shape.setAttribute("stroke-width", bars ? 0 : series.width + 0.3);
  if (series.dash.length) shape.setAttribute("stroke-dasharray", series.dash.join(" "));
  svg.append(shape);
  return svg;
}

class Plot {
  constructor(figure) {
    this.figure = figure;
    this.spec = JSON.parse(figure.querySelector('script[type="application/json"]').textContent);
    this.live = figure.querySelector(".live");
    this.title = figure.querySelector("h3").textContent;
    this.about = this.live.dataset.about;
    this.hidden = new Set();
    this.logX = this.spec.x.scale === "log";
    this.logY = this.spec.y.scale === "log";
    this.names = this.spec.x.names;
    this.scattered = this.spec.series.some((series) => series.style === "scatter");
    this.align();
    this.view = { x: this.wholeX(), y: null };
    this.furnish();
    this.build();
    new ResizeObserver(() => this.resize()).observe(this.live);
    plots.push(this);
    darkness.addEventListener("change", () => this.build());
  }

  // One common list of x for all series, as uPlot wants it. `undefined` is no point, `null` a gap.
  align() {
    const drawnX = (x) => x !== null && (!this.logX || x > 0);
    const all = this.spec.series.flatMap((series) => series.x.filter(drawnX));
    this.xs = [...new Set(all)].sort((a, b) => a - b);
    const place = new Map(this.xs.map((x, at) => [x, at]));
    const spread = (series, values, usable) => {
      const out = new Array(this.xs.length).fill(undefined);
      series.x.forEach((x, at) => drawnX(x) && (out[place.get(x)] = usable(values[at]) ? values[at] : null));
      return out;
    };
    this.ys = this.spec.series.map((series) => spread(series, series.y, (y) => y !== null && (!this.logY || y > 0)));
    this.errors = this.spec.series.map((series) => spread(series, series.e, (e) => e > 0));
  }

  // Room on both sides of a range, as a share of it. Data that are nowhere negative stay so.
  padded(low, high, share, log) {
    if (!(low <= high)) return log ? [1, 10] : [0, 1];
    if (log) {
      if (high / low < 1 + 1e-9) return [low / 2, high * 2];
      const room = (high / low) ** share;
      return [low / room, high * room];
    }
    const size = Math.max(Math.abs(low), Math.abs(high));
    if (high - low <= size * 1e-12) return [low - (size * 0.1 || 1), high + (size * 0.1 || 1)];
    const room = (high - low) * share;
    const bottom = low < 0 ? low - room : low <= high * 0.05 ? 0 : Math.max(0, low - room);
    return [bottom, high === 0 ? 0 : high + room];
  }

  wholeX() {
    if (this.names) return [-0.5, Math.max(1, this.names.length) - 0.5];
    const wanted = this.spec.x.include.filter((x) => !this.logX || x > 0);
    const ends = [this.xs[0], this.xs.at(-1), ...wanted].filter((x) => x !== undefined);
    const bars = this.spec.series.some((series) => series.style === "bars");
    const share = this.xs.length < 2 ? 0 : bars ? 0.5 / (this.xs.length - 1) : this.xs.length <= 40 ? 0.03 : 0;
    return this.padded(Math.min(...ends), Math.max(...ends), share, this.logX);
  }

  // The range of what is visible, bands included.
  fittingY() {
    let [low, high] = [Infinity, -Infinity];
    const reach = (y) => (this.logY && y <= 0) || ([low, high] = [Math.min(low, y), Math.max(high, y)]);
    this.spec.series.forEach((series, s) => {
      if (this.hidden.has(s)) return;
      if (series.style === "bars") reach(0);
      this.ys[s].forEach((y, at) => {
        if (y == null || this.xs[at] < this.view.x[0] || this.xs[at] > this.view.x[1]) return;
        const error = series.style === "scatter" ? 0 : (this.errors[s][at] ?? 0);
        reach(y - error), reach(y), reach(y + error);
      });
    });
    this.spec.y.include.forEach(reach);
    return this.padded(low, high, 0.05, this.logY);
  }

  // Buttons, the place of the canvas, the box of values, the legend.
  furnish() {
    const button = (text, label, act) => {
      const made = element("button", { type: "button", title: label, "aria-label": `${label}: ${this.title}` }, text);
      made.addEventListener("click", act);
      return made;
    };
    this.reset = button("Reset zoom", "Show everything again", () => this.zoomTo(this.wholeX(), null));
    this.reset.classList.add("reset");
    this.scale = button("Log axis", "Logarithmic vertical axis", () => this.switchScale());
    this.scale.setAttribute("aria-pressed", "false");
    const tools = element("div", { class: "tools" },
      ...(this.spec.y.switch ? [this.scale] : []),
      button("+", "Zoom in", () => this.zoomBy(0.6)),
      button(MINUS, "Zoom out", () => this.zoomBy(1 / 0.6)),
      this.reset,
      button("SVG", "Save as SVG", () => this.save("svg", "image/svg+xml", this.figure.querySelector(".static svg").outerHTML)),
      button("CSV", "Save the numbers as CSV", () => this.save("csv", "text/csv", this.csv())),
    );
    const help = "Left and right arrow keys read the values, plus and minus zoom, 0 shows everything.";
    this.canvas = element("div", { class: "canvas", tabindex: 0, role: "img", "aria-label": `${this.about} ${help}` });
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.canvas.addEventListener("blur", () => this.point(null));
    this.tip = element("div", { class: "tip", hidden: "", "aria-hidden": "true" });
    this.spoken = element("p", { class: "unseen", "aria-live": "polite" });
    this.legend = element("div", { class: "legend", role: "group", "aria-label": "Series" });
    this.live.replaceChildren(tools, this.canvas, this.spoken, this.legend);
  }

  switchScale() {
    this.logY = !this.logY;
    this.scale.setAttribute("aria-pressed", String(this.logY));
    this.align();
    this.view = { x: this.wholeX(), y: null };
    this.build();
  }

  height(width) {
    return Math.round(Math.min(430, Math.max(260, width * 0.5)));
  }

  build() {
    this.plot?.destroy();
    const width = Math.max(200, this.live.clientWidth);
    this.plot = new uPlot(this.options(width), [this.xs, ...this.ys.toReversed()], this.canvas);
    this.plot.root.append(this.tip);
    // A finger moves the cursor too; uPlot listens to mice only.
    const follow = (event) => {
      if (event.pointerType !== "touch") return;
      const frame = this.plot.over.getBoundingClientRect();
      this.plot.setCursor({ left: event.clientX - frame.left, top: event.clientY - frame.top });
    };
    this.plot.over.addEventListener("pointermove", follow);
    this.label();
    this.zoomTo(this.view.x, this.view.y);
  }

  // uPlot draws in its order; the first series shall lie on top.
  number(s) {
    return this.spec.series.length - s;
  }

  color(series) {
    return darkness.matches ? series.dark : series.light;
  }

  options(width) {
    const style = getComputedStyle(document.documentElement);
    const ink = style.getPropertyValue("--ink").trim();
    const line = style.getPropertyValue("--grid").trim();
    const axis = { stroke: ink, font: FONT, labelFont: FONT.replace("12px", "13px"), labelSize: 22, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1, size: 5 }, filter: (_, ticks) => ticks };
    const few = this.xs.length <= MARKED;
    return {
      width,
      height: this.height(width),
      padding: [10, 24, 0, 0],
      legend: { show: false },
      focus: { alpha: 0.25 },
      cursor: {
        drag: { x: true, y: true, uni: 40, setScale: false },
        points: { show: this.spec.series.every((series) => series.style !== "bars" && series.style !== "scatter"), size: 8 },
        bind: { dblclick: () => () => (this.zoomTo(this.wholeX(), null), null) },
      },
      scales: {
        x: { time: false, distr: this.logX ? 3 : 1, range: () => this.view.x },
        y: { distr: this.logY ? 3 : 1, range: () => this.view.y ?? this.fittingY() },
      },
      axes: [{ ...axis, ...this.acrossAxis(), label: this.spec.x.label }, { ...axis, ...this.upAxis(), label: this.spec.y.label }],
      series: [{}, ...this.spec.series.map((series, s) => this.drawn(series, s, few)).toReversed()],
      hooks: {
        drawAxes: [() => this.bands()],
        draw: [() => this.whiskers(), () => drawDots(this)],
        setCursor: [(plot) => (this.scattered ? pointAtDot(this) : this.point(plot.cursor.idx))],
        setSelect: [(plot) => this.selected(plot)],
      },
    };
  }

  drawn(series, s, few) {
    const color = this.color(series);
    const base = { label: series.name, stroke: color, width: series.width, dash: series.dash, show: !this.hidden.has(s) };
    if (series.style === "bars") return { ...base, fill: color, width: 0, dash: [], points: { show: false }, paths: (plot) => this.barPaths(plot, s) };
    if (series.style === "scatter") return { ...base, points: { show: false }, paths: () => null };
    if (series.style === "guide") return { ...base, points: { show: false } };
    const points = { show: few || series.style === "markers", size: 7, width: 1, fill: color, stroke: color };
    return series.style === "markers" ? { ...base, points, paths: () => null } : { ...base, points };
  }

  acrossAxis() {
    if (!this.names) {
      const ticks = this.logX ? logTicks : linearTicks;
      return { splits: (plot, _, low, high) => ticks(low, high, plot.width / 80), values: (_, ticks) => this.tickTexts(ticks, this.logX), size: 34 };
    }
    const short = this.names.map((name) => (name.length > 24 ? name.slice(0, 23) + "…" : name));
    const widest = Math.max(0, ...short.map(textWidth));
    const crowded = (plot) => (plot.width - 70) / short.length < widest + 8;
    return {
      splits: (_, __, low, high) => short.map((_, at) => at).filter((at) => at >= low && at <= high),
      values: (_, ticks) => ticks.map((at) => short[at]),
      rotate: (plot) => (crowded(plot) ? 40 : 0),
      size: (plot) => (crowded(plot) ? widest * 0.65 + 24 : 34),
      grid: { show: false },
    };
  }

  upAxis() {
    const ticks = this.logY ? logTicks : linearTicks;
    return {
      splits: (plot, _, low, high) => ticks(low, high, plot.height / 50),
      values: (_, ticks) => this.tickTexts(ticks, this.logY),
      size: (_, texts) => 16 + Math.max(20, ...(texts ?? []).map(textWidth)),
    };
  }

  tickTexts(ticks, log) {
    return log ? ticks.map((tick) => number(tick, 3)) : tickLabels(ticks);
  }

  // Bars at the same x stand side by side; see figure/bars.rs.
  bar(plot, s, at) {
    const standing = this.spec.series.flatMap((series, other) => (series.style === "bars" && !this.hidden.has(other) && this.ys[other][at] != null ? [other] : []));
    const across = (x) => plot.valToPos(x, "x", true);
    const crowd = Math.max(1, ...this.xs.map((_, i) => this.spec.series.filter((series, o) => series.style === "bars" && !this.hidden.has(o) && this.ys[o][i] != null).length));
    let gap = this.names ? across(1) - across(0) : plot.bbox.width;
    for (let i = 1; i < this.xs.length; i++) gap = Math.min(gap, across(this.xs[i]) - across(this.xs[i - 1]));
    const width = Math.min((gap * 0.72) / crowd, 70 * devicePixelRatio);
    const left = across(this.xs[at]) + (standing.indexOf(s) - standing.length / 2) * width;
    return [left, width];
  }

  barPaths(plot, s) {
    const fill = new Path2D();
    const base = plot.valToPos(this.logY ? plot.scales.y.min : Math.min(Math.max(0, plot.scales.y.min), plot.scales.y.max), "y", true);
    this.ys[s].forEach((y, at) => {
      if (y == null) return;
      const [left, width] = this.bar(plot, s, at);
      const top = plot.valToPos(y, "y", true);
      fill.rect(left + 0.5, Math.min(top, base), Math.max(1, width - 1), Math.abs(base - top));
    });
    return { stroke: null, fill, clip: null, flags: 0 };
  }

  // Calls `draw(context, series, s)` for every visible series, clipped to the frame.
  each(style, draw) {
    const plot = this.plot;
    if (!plot) return;
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    for (let s = this.spec.series.length - 1; s >= 0; s--) {
      const series = this.spec.series[s];
      if (this.hidden.has(s) || !style(series.style)) continue;
      ctx.globalAlpha = plot.series[this.number(s)].alpha ?? 1;
      draw(ctx, series, s);
    }
    ctx.restore();
  }

  up(y) {
    const { min } = this.plot.scales.y;
    return this.plot.valToPos(this.logY ? Math.max(y, min / 10) : y, "y", true);
  }

  bands() {
    this.each((style) => style === "line", (ctx, series, s) => {
      ctx.fillStyle = this.color(series);
      ctx.globalAlpha *= darkness.matches ? 0.22 : 0.16;
      let stretch = [];
      const close = () => {
        if (stretch.length > 1) {
          ctx.beginPath();
          for (const [x, top] of stretch) ctx.lineTo(x, top);
          for (const [x, , bottom] of stretch.reverse()) ctx.lineTo(x, bottom);
          ctx.fill();
        }
        stretch = [];
      };
      this.ys[s].forEach((y, at) => {
        if (y === null) close();
        if (y == null) return;
        const error = this.errors[s][at] ?? 0;
        stretch.push([this.plot.valToPos(this.xs[at], "x", true), this.up(y + error), this.up(y - error)]);
      });
      close();
    });
  }

  whiskers() {
    this.each((style) => style === "bars" || style === "markers", (ctx, series, s) => {
      const cap = 3 * devicePixelRatio;
      const style = getComputedStyle(document.documentElement);
      const paper = style.getPropertyValue("--card");
      const ink = series.style === "bars" ? style.getPropertyValue("--ink") : this.color(series);
      this.ys[s].forEach((y, at) => {
        const error = this.errors[s][at];
        if (y == null || !error) return;
        const [left, width] = series.style === "bars" ? this.bar(this.plot, s, at) : [this.plot.valToPos(this.xs[at], "x", true), 0];
        const [x, top, bottom] = [left + width / 2, this.up(y + error), this.up(y - error)];
        ctx.beginPath();
        for (const [fromX, fromY, toX, toY] of [[x, top, x, bottom], [x - cap, top, x + cap, top], [x - cap, bottom, x + cap, bottom]]) {
          ctx.moveTo(fromX, fromY);
          ctx.lineTo(toX, toY);
        }
        // A rim in the colour of the page: a dark whisker must be seen on a dark bar.
        const rim = series.style === "bars" ? [[paper, 3]] : [];
        for (const [color, wide] of [...rim, [ink, 1.2]]) {
          ctx.strokeStyle = color;
          ctx.lineWidth = wide * devicePixelRatio;
          ctx.stroke();
        }
      });
    });
  }

  selected(plot) {
    const { left, top, width, height } = plot.select;
    if (width < 4 || height < 4) return;
    const across = [left, left + width].map((place) => plot.posToVal(place, "x"));
    const whole = height >= plot.over.clientHeight - 1;
    const up = [top + height, top].map((place) => plot.posToVal(place, "y"));
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.zoomTo(across, whole ? null : up);
  }

  zoomTo(x, y) {
    this.view = { x, y };
    const whole = this.wholeX();
    this.reset.disabled = y === null && x[0] === whole[0] && x[1] === whole[1];
    this.plot.setScale("x", { min: x[0], max: x[1] });
  }

  // About the middle; never out of what there is.
  zoomBy(factor) {
    const [into, back] = this.logX ? [Math.log10, (v) => 10 ** v] : [(v) => v, (v) => v];
    const [whole, now] = [this.wholeX().map(into), this.view.x.map(into)];
    const half = ((now[1] - now[0]) / 2) * factor;
    const middle = (now[0] + now[1]) / 2;
    if (half * 2 >= whole[1] - whole[0]) return this.zoomTo(this.wholeX(), null);
    const low = Math.min(Math.max(middle - half, whole[0]), whole[1] - 2 * half);
    this.zoomTo([low, low + 2 * half].map(back), null);
  }

  key(event) {
    const last = this.xs.length - 1;
    const at = this.plot.cursor.idx;
    const moves = { ArrowRight: (at ?? -1) + 1, ArrowLeft: (at ?? last + 1) - 1, Home: 0, End: last };
    const acts = { "+": () => this.zoomBy(0.6), "-": () => this.zoomBy(1 / 0.6), 0: () => this.zoomTo(this.wholeX(), null), Escape: () => this.point(null) };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in moves && last >= 0) {
      const next = Math.min(Math.max(moves[event.key], 0), last);
      const dot = this.scattered ? dotAt(this, this.xs[next]) : null;
      this.plot.setCursor({ left: this.plot.valToPos(this.xs[next], "x"), top: dot === null ? this.plot.over.clientHeight / 3 : this.plot.valToPos(dot, "y") });
      this.spoken.textContent = this.tip.hidden ? "" : this.tip.textContent;
    } else if (event.key in acts) acts[event.key]();
    else return;
    event.preventDefault();
  }

  // Shows the values at one x, or hides the box.
  point(at) {
    const cursor = this.plot?.cursor;
    const shown = at == null || !(cursor?.left >= 0) ? [] : this.spec.series.flatMap((series, s) => (this.hidden.has(s) || this.ys[s][at] == null ? [] : [{ series, y: this.ys[s][at], error: this.errors[s][at], away: Math.abs(this.plot.valToPos(this.ys[s][at], "y") - cursor.top) }]));
    this.tip.hidden = shown.length === 0;
    if (this.tip.hidden) return;
    const nearest = shown.sort((a, b) => a.away - b.away).slice(0, ROWS);
    const near = nearest[0];
    const largest = Math.max(...nearest.map((row) => Math.abs(row.y)));
    const rows = nearest.sort((a, b) => b.y - a.y).map((row) => {
      const value = element("span", {}, this.logY ? number(row.y, 4) : aligned(row.y, largest));
      if (row.error) value.append(element("i", {}, ` ± ${number(row.error, 2)}`));
      return element("div", row === near ? { class: "near" } : {}, sample(row.series), element("span", {}, row.series.name), value);
    });
    const x = this.names ? (this.names[this.xs[at]] ?? "") : number(this.xs[at], 6);
    this.tip.replaceChildren(element("b", {}, this.names ? x : `${this.spec.x.label}: ${x}`), ...rows);
    this.place(cursor);
  }

  // Beside the cursor, on the side with more room, inside the figure.
  place(cursor) {
    const over = this.plot.over;
    const [left, top] = [over.offsetLeft + cursor.left, over.offsetTop + cursor.top];
    const [width, height, room] = [this.tip.offsetWidth, this.tip.offsetHeight, this.canvas.clientWidth];
    const beside = left + 14 + width <= room ? left + 14 : left - 14 - width;
    const x = Math.min(Math.max(beside, 0), Math.max(0, room - width));
    // A phone has no room beside: there the box covers the legend, which says less than it does.
    const y = room < 480 ? this.canvas.clientHeight : Math.min(Math.max(top - height / 2, 0), Math.max(0, this.canvas.clientHeight - height));
    this.tip.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
  }

  label() {
    if (!this.spec.legend) return;
    const buttons = this.spec.series.map((series, s) => {
      const made = element("button", { type: "button", "aria-pressed": String(!this.hidden.has(s)), title: "Click: hide or show in all figures. Shift + click: show only this" }, sample(series), element("span", {}, series.name));
      made.addEventListener("click", (event) => this.toggle(s, event.shiftKey));
      // What is hidden cannot stand out: the others would only fade.
      made.addEventListener("mouseenter", () => this.hidden.has(s) || this.plot.setSeries(this.number(s), { focus: true }));
      made.addEventListener("mouseleave", () => this.plot.setSeries(null, { focus: true }));
      return made;
    });
    this.legend.replaceChildren(...buttons);
  }

  // Hides or shows a series here and, by its name, in every other figure.
  toggle(s, alone) {
    const others = this.spec.series.map((_, other) => other).filter((other) => other !== s);
    if (alone) this.hidden = others.every((other) => this.hidden.has(other)) ? new Set() : new Set(others);
    else if (!this.hidden.delete(s)) this.hidden.add(s);
    const shown = new Map(this.spec.series.map((series, other) => [series.name, !this.hidden.has(other)]));
    for (const plot of plots) {
      if (plot !== this) plot.follow(shown);
      plot.show();
    }
  }

  // Takes over what another figure shows. A series of its own stays as it is, and one at least stays to be seen.
  follow(shown) {
    const hidden = new Set(this.hidden);
    this.spec.series.forEach((series, s) => shown.has(series.name) && (shown.get(series.name) ? hidden.delete(s) : hidden.add(s)));
    const data = this.spec.series.flatMap((series, s) => (shown.has(series.name) ? [s] : []));
    if (!this.spec.legend || (data.length > 0 && data.every((s) => hidden.has(s)))) return;
    this.hidden = hidden;
  }

  show() {
    this.spec.series.forEach((_, s) => this.legend.children[s]?.setAttribute("aria-pressed", String(!this.hidden.has(s))));
    this.plot.setSeries(null, { focus: true });
    this.plot.batch(() => this.spec.series.forEach((_, s) => this.plot.setSeries(this.number(s), { show: !this.hidden.has(s) })));
    this.plot.redraw(true, true);
  }

  resize() {
    const width = Math.max(200, this.live.clientWidth);
    if (width !== this.plot.width) this.plot.setSize({ width, height: this.height(width) });
  }

  csv() {
    const cell = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const rows = this.spec.series.flatMap((series) => series.x.map((x, at) => [cell(series.name), cell(String(this.names ? (this.names[x] ?? x) : x)), series.y[at] ?? "", series.e[at] ?? "", ...(this.scattered ? [cell(series.dots[at]?.[0] ?? ""), series.dots[at]?.[1] ?? ""] : [])].join(",")));
    return [`series,x,y,stderr${this.scattered ? ",name,weight" : ""}`, ...rows, ""].join("\n");
  }

  save(kind, type, text) {
    const address = URL.createObjectURL(new Blob([text], { type }));
    element("a", { href: address, download: `${this.spec.file}.${kind}` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  }
}

document.documentElement.classList.add("scripted");
for (const figure of document.querySelectorAll("figure.plot")) {
  try {
    new Plot(figure);
  } catch (error) {
    // One figure that cannot be drawn falls back to its static self; the others go on.
    figure.classList.add("fallen");
    console.error(error);
  }
}
