// Marks: what is drawn beside the lines of uPlot: bars, bands and whiskers. Methods of the Plot of figure.js.

const MARKS = {
  // Bars at the same x stand side by side; see figure/bars.rs.
  bar(plot, s, at) {
    const standing = this.spec.series.flatMap((series, other) =>
      series.style === "bars" && !this.hidden.has(other) && this.ys[other][at] != null ? [other] : [],
    );
    const across = (x) => plot.valToPos(x, "x", true);
    const crowd = Math.max(
      1,
      ...this.xs.map(
        (_, i) =>
          this.spec.series.filter(
            (series, o) => series.style === "bars" && !this.hidden.has(o) && this.ys[o][i] != null,
          ).length,
      ),
    );
    let gap = this.names ? across(1) - across(0) : plot.bbox.width;
    for (let i = 1; i < this.xs.length; i++) gap = Math.min(gap, across(this.xs[i]) - across(this.xs[i - 1]));
    const width = Math.min((gap * 0.72) / crowd, 70 * devicePixelRatio);
    const left = across(this.xs[at]) + (standing.indexOf(s) - standing.length / 2) * width;
    return [left, width];
  },

  barPaths(plot, s) {
    const fill = new Path2D();
    const base = plot.valToPos(
      this.logY ? plot.scales.y.min : Math.min(Math.max(0, plot.scales.y.min), plot.scales.y.max),
      "y",
      true,
    );
    this.ys[s].forEach((y, at) => {
      if (y == null) return;
      const [left, width] = this.bar(plot, s, at);
      const top = plot.valToPos(y, "y", true);
      fill.rect(left + 0.5, Math.min(top, base), Math.max(1, width - 1), Math.abs(base - top));
    });
    return { stroke: null, fill, clip: null, flags: 0 };
  },

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
  },

  up(y) {
    const { min } = this.plot.scales.y;
    return this.plot.valToPos(this.logY ? Math.max(y, min / 10) : y, "y", true);
  },

  bands() {
    this.each(
      (style) => style === "line",
      (ctx, series, s) => {
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
      },
    );
  },

  whiskers() {
    this.each(
      (style) => style === "bars" || style === "markers",
      (ctx, series, s) => {
        const cap = 3 * devicePixelRatio;
        const style = getComputedStyle(document.documentElement);
        const paper = style.getPropertyValue("--card");
        const ink = series.style === "bars" ? style.getPropertyValue("--ink") : this.color(series);
        this.ys[s].forEach((y, at) => {
          const error = this.errors[s][at];
          if (y == null || !error) return;
          const [left, width] =
            series.style === "bars"
              ? this.bar(this.plot, s, at)
              : [this.plot.valToPos(this.xs[at], "x", true), 0];
          const [x, top, bottom] = [left + width / 2, this.up(y + error), this.up(y - error)];
          ctx.beginPath();
          for (const [fromX, fromY, toX, toY] of [
            [x, top, x, bottom],
            [x - cap, top, x + cap, top],
            [x - cap, bottom, x + cap, bottom],
          ]) {
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
      },
    );
  },
};
