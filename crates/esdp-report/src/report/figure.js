// The figures that move: uPlot draws lines and axes, the rest is ours: scales.js, marks.js, values.js and
// legend.js before this file, scatter.js for dots. Without these scripts the page shows the static figures.

const darkness = window.matchMedia("(prefers-color-scheme: dark)");
const FONT = "12px system-ui, -apple-system, 'Segoe UI', Roboto, Arial, sans-serif";
const MARKED = 24; // lines of more points carry no markers

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

  // Buttons, the place of the canvas, the box of values, the legend.
  furnish() {
    const button = (text, label, act) => {
      const made = element(
        "button",
        { type: "button", title: label, "aria-label": `${label}: ${this.title}` },
        text,
      );
      made.addEventListener("click", act);
      return made;
    };
    this.reset = button("Reset zoom", "Show everything again", () => this.zoomTo(this.wholeX(), null));
    this.reset.classList.add("reset");
    this.scale = button("Log axis", "Logarithmic vertical axis", () => this.switchScale());
    this.scale.setAttribute("aria-pressed", String(this.logY));
    const tools = element(
      "div",
      { class: "tools" },
      ...(this.spec.y.switch ? [this.scale] : []),
      button("+", "Zoom in", () => this.zoomBy(0.6)),
      button(MINUS, "Zoom out", () => this.zoomBy(1 / 0.6)),
      this.reset,
      button("SVG", "Save as SVG", () =>
        this.save("svg", "image/svg+xml", this.figure.querySelector(".static svg").outerHTML),
      ),
      button("CSV", "Save the numbers as CSV", () => this.save("csv", "text/csv", this.csv())),
    );
    const help = "Left and right arrow keys read the values, plus and minus zoom, 0 shows everything.";
    this.canvas = element("div", {
      class: "canvas",
      tabindex: 0,
      role: "img",
      "aria-label": `${this.about} ${help}`,
    });
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
    const axis = {
      stroke: ink,
      font: FONT,
      labelFont: FONT.replace("12px", "13px"),
      labelSize: 22,
      grid: { stroke: line, width: 1 },
      ticks: { stroke: line, width: 1, size: 5 },
      filter: (_, ticks) => ticks,
    };
    const few = this.xs.length <= MARKED;
    return {
      width,
      height: this.height(width),
      padding: [10, 24, 0, 0],
      legend: { show: false },
      focus: { alpha: 0.25 },
      cursor: {
        drag: { x: true, y: true, uni: 40, setScale: false },
        points: {
          show: this.spec.series.every((series) => series.style !== "bars" && series.style !== "scatter"),
          size: 8,
        },
        bind: { dblclick: () => () => (this.zoomTo(this.wholeX(), null), null) },
      },
      scales: {
        x: { time: false, distr: this.logX ? 3 : 1, range: () => this.view.x },
        y: { distr: this.logY ? 3 : 1, range: () => this.view.y ?? this.fittingY() },
      },
      axes: [
        { ...axis, ...this.acrossAxis(), label: this.spec.x.label },
        { ...axis, ...this.upAxis(), label: this.spec.y.label },
      ],
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
    const base = {
      label: series.name,
      stroke: color,
      width: series.width,
      dash: series.dash,
      show: !this.hidden.has(s),
    };
    if (series.style === "bars")
      return {
        ...base,
        fill: color,
        width: 0,
        dash: [],
        points: { show: false },
        paths: (plot) => this.barPaths(plot, s),
      };
    if (series.style === "scatter") return { ...base, points: { show: false }, paths: () => null };
    if (series.style === "guide") return { ...base, points: { show: false } };
    const points = { show: few || series.style === "markers", size: 7, width: 1, fill: color, stroke: color };
    return series.style === "markers" ? { ...base, points, paths: () => null } : { ...base, points };
  }

  resize() {
    const width = Math.max(200, this.live.clientWidth);
    if (width !== this.plot.width) this.plot.setSize({ width, height: this.height(width) });
  }

  csv() {
    const cell = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const rows = this.spec.series.flatMap((series) =>
      series.x.map((x, at) =>
        [
          cell(series.name),
          cell(String(this.names ? (this.names[x] ?? x) : x)),
          series.y[at] ?? "",
          series.e[at] ?? "",
          ...(this.scattered ? [cell(series.dots[at]?.[0] ?? ""), series.dots[at]?.[1] ?? ""] : []),
        ].join(","),
      ),
    );
    return [`series,x,y,${this.spec.error}${this.scattered ? ",name,weight" : ""}`, ...rows, ""].join("\n");
  }

  save(kind, type, text) {
    const address = URL.createObjectURL(new Blob([text], { type }));
    element("a", { href: address, download: `${this.spec.file}.${kind}` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  }
}

Object.assign(Plot.prototype, SCALES, MARKS, VALUES, LEGEND);

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
