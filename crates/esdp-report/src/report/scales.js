// Scales: where the points of a figure lie, the ranges of its axes and their ticks, and what zooming does to
// them. Methods of the Plot of figure.js.

const SCALES = {
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
    this.ys = this.spec.series.map((series) =>
      spread(series, series.y, (y) => y !== null && (!this.logY || y > 0)),
    );
    this.errors = this.spec.series.map((series) => spread(series, series.e, (e) => e > 0));
  },

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
  },

  wholeX() {
    if (this.names) return [-0.5, Math.max(1, this.names.length) - 0.5];
    const wanted = this.spec.x.include.filter((x) => !this.logX || x > 0);
    const ends = [this.xs[0], this.xs.at(-1), ...wanted].filter((x) => x !== undefined);
    const bars = this.spec.series.some((series) => series.style === "bars");
    const share =
      this.xs.length < 2 ? 0 : bars ? 0.5 / (this.xs.length - 1) : this.xs.length <= 40 ? 0.03 : 0;
    return this.padded(Math.min(...ends), Math.max(...ends), share, this.logX);
  },

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
        // The lower end of a band may come near to zero, which would leave the values no room.
        reach(this.logY ? Math.max(y - error, y / 3) : y - error);
        (reach(y), reach(y + error));
      });
    });
    this.spec.y.include.forEach(reach);
    return this.padded(low, high, 0.05, this.logY);
  },

  acrossAxis() {
    if (!this.names) {
      const ticks = this.logX ? logTicks : linearTicks;
      return {
        splits: (plot, _, low, high) => ticks(low, high, plot.width / 80),
        values: (_, ticks) => this.tickTexts(ticks, this.logX),
        size: 34,
      };
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
  },

  upAxis() {
    const ticks = this.logY ? logTicks : linearTicks;
    return {
      splits: (plot, _, low, high) => ticks(low, high, plot.height / 50),
      values: (_, ticks) => this.tickTexts(ticks, this.logY),
      size: (_, texts) => 16 + Math.max(20, ...(texts ?? []).map(textWidth)),
    };
  },

  tickTexts(ticks, log) {
    return log ? ticks.map((tick) => number(tick, 3)) : tickLabels(ticks);
  },

  selected(plot) {
    const { left, top, width, height } = plot.select;
    if (width < 4 || height < 4) return;
    const across = [left, left + width].map((place) => plot.posToVal(place, "x"));
    const whole = height >= plot.over.clientHeight - 1;
    const up = [top + height, top].map((place) => plot.posToVal(place, "y"));
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.zoomTo(across, whole ? null : up);
  },

  zoomTo(x, y) {
    this.view = { x, y };
    const whole = this.wholeX();
    this.reset.disabled = y === null && x[0] === whole[0] && x[1] === whole[1];
    this.plot.setScale("x", { min: x[0], max: x[1] });
  },

  // About the middle; never out of what there is.
  zoomBy(factor) {
    const [into, back] = this.logX ? [Math.log10, (v) => 10 ** v] : [(v) => v, (v) => v];
    const [whole, now] = [this.wholeX().map(into), this.view.x.map(into)];
    const half = ((now[1] - now[0]) / 2) * factor;
    const middle = (now[0] + now[1]) / 2;
    if (half * 2 >= whole[1] - whole[0]) return this.zoomTo(this.wholeX(), null);
    const low = Math.min(Math.max(middle - half, whole[0]), whole[1] - 2 * half);
    this.zoomTo([low, low + 2 * half].map(back), null);
  },
};
