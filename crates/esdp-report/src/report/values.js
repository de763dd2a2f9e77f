// The box of values beside the cursor, by mouse, finger or keys. Methods of the Plot of figure.js.

const ROWS = 14; // values the box shows at most

const VALUES = {
  key(event) {
    const last = this.xs.length - 1;
    const at = this.plot.cursor.idx;
    const moves = { ArrowRight: (at ?? -1) + 1, ArrowLeft: (at ?? last + 1) - 1, Home: 0, End: last };
    const acts = {
      "+": () => this.zoomBy(0.6),
      "-": () => this.zoomBy(1 / 0.6),
      0: () => this.zoomTo(this.wholeX(), null),
      Escape: () => this.point(null),
    };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in moves && last >= 0) {
      const next = Math.min(Math.max(moves[event.key], 0), last);
      const dot = this.scattered ? dotAt(this, this.xs[next]) : null;
      this.plot.setCursor({
        left: this.plot.valToPos(this.xs[next], "x"),
        top: dot === null ? this.plot.over.clientHeight / 3 : this.plot.valToPos(dot, "y"),
      });
      this.spoken.textContent = this.tip.hidden ? "" : this.tip.textContent;
    } else if (event.key in acts) acts[event.key]();
    else return;
    event.preventDefault();
  },

  // Shows the values at one x, or hides the box.
  point(at) {
    const cursor = this.plot?.cursor;
    const shown =
      at == null || !(cursor?.left >= 0)
        ? []
        : this.spec.series.flatMap((series, s) =>
            this.hidden.has(s) || this.ys[s][at] == null
              ? []
              : [
                  {
                    series,
                    y: this.ys[s][at],
                    error: this.errors[s][at],
                    away: Math.abs(this.plot.valToPos(this.ys[s][at], "y") - cursor.top),
                  },
                ],
          );
    this.tip.hidden = shown.length === 0;
    if (this.tip.hidden) return;
    const nearest = shown.sort((a, b) => a.away - b.away).slice(0, ROWS);
    const near = nearest[0];
    const largest = Math.max(...nearest.map((row) => Math.abs(row.y)));
    const rows = nearest
      .sort((a, b) => b.y - a.y)
      .map((row) => {
        const value = element("span", {}, this.logY ? number(row.y, 4) : aligned(row.y, largest));
        if (row.error) value.append(element("i", {}, ` ± ${number(row.error, 2)}`));
        return element(
          "div",
          row === near ? { class: "near" } : {},
          sample(row.series),
          element("span", {}, row.series.name),
          value,
        );
      });
    const x = this.names ? (this.names[this.xs[at]] ?? "") : number(this.xs[at], 6);
    this.tip.replaceChildren(element("b", {}, this.names ? x : `${this.spec.x.label}: ${x}`), ...rows);
    this.place(cursor);
  },

  // Beside the cursor, on the side with more room, inside the figure.
  place(cursor) {
    const over = this.plot.over;
    const [left, top] = [over.offsetLeft + cursor.left, over.offsetTop + cursor.top];
    const [width, height, room] = [this.tip.offsetWidth, this.tip.offsetHeight, this.canvas.clientWidth];
    const beside = left + 14 + width <= room ? left + 14 : left - 14 - width;
    const x = Math.min(Math.max(beside, 0), Math.max(0, room - width));
    // A phone has no room beside: there the box covers the legend, which says less than it does.
    const y =
      room < 480
        ? this.canvas.clientHeight
        : Math.min(Math.max(top - height / 2, 0), Math.max(0, this.canvas.clientHeight - height));
    this.tip.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
  },
};
