// The legend: a button for each series, which hides and shows it in all figures of the page. Methods of the
// Plot of figure.js.

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

const LEGEND = {
  label() {
    if (!this.spec.legend) return;
    const buttons = this.spec.series.map((series, s) => {
      const made = element(
        "button",
        {
          type: "button",
          "aria-pressed": String(!this.hidden.has(s)),
          title: "Click: hide or show in all figures. Shift + click: show only this",
        },
        sample(series),
        element("span", {}, series.name),
      );
      made.addEventListener("click", (event) => this.toggle(s, event.shiftKey));
      // What is hidden cannot stand out: the others would only fade.
      made.addEventListener(
        "mouseenter",
        () => this.hidden.has(s) || this.plot.setSeries(this.number(s), { focus: true }),
      );
      made.addEventListener("mouseleave", () => this.plot.setSeries(null, { focus: true }));
      return made;
    });
    this.legend.replaceChildren(...buttons);
  },

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
  },

  // Takes over what another figure shows. A series of its own stays as it is, and one at least stays to be
  // seen.
  follow(shown) {
    const hidden = new Set(this.hidden);
    this.spec.series.forEach(
      (series, s) => shown.has(series.name) && (shown.get(series.name) ? hidden.delete(s) : hidden.add(s)),
    );
    const data = this.spec.series.flatMap((series, s) => (shown.has(series.name) ? [s] : []));
    if (!this.spec.legend || (data.length > 0 && data.every((s) => hidden.has(s)))) return;
    this.hidden = hidden;
  },

  show() {
    this.spec.series.forEach((_, s) =>
      this.legend.children[s]?.setAttribute("aria-pressed", String(!this.hidden.has(s))),
    );
    this.plot.setSeries(null, { focus: true });
    this.plot.batch(() =>
      this.spec.series.forEach((_, s) => this.plot.setSeries(this.number(s), { show: !this.hidden.has(s) })),
    );
    this.plot.redraw(true, true);
  },
};
