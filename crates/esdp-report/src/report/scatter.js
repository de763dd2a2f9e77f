// Scatter plots: dots anywhere in the frame, each with a name and a weight. `plot` is a Plot of figure.js.

// By the rule of figure/draw.rs: the more a dot weighs, the larger and stronger it is.
function drawDots(plot) {
  plot.each(
    (style) => style === "scatter",
    (ctx, series) => {
      ctx.fillStyle = plot.color(series);
      const alpha = ctx.globalAlpha;
      series.dots.forEach(([, weight], at) => {
        if (series.y[at] === null) return;
        ctx.globalAlpha = alpha * (0.2 + 0.6 * weight);
        ctx.beginPath();
        ctx.arc(
          plot.plot.valToPos(series.x[at], "x", true),
          plot.up(series.y[at]),
          (2 + 3.5 * Math.sqrt(weight)) * devicePixelRatio,
          0,
          2 * Math.PI,
        );
        ctx.fill();
      });
    },
  );
}

// The dots that can be seen.
function seenDots(plot) {
  const of = (series) =>
    series.dots.map(([name], at) => ({
      series,
      name,
      x: series.x[at],
      y: series.y[at],
      error: series.e[at],
    }));
  const seen = plot.spec.series.filter((series, s) => series.style === "scatter" && !plot.hidden.has(s));
  return seen.flatMap(of).filter((dot) => dot.y !== null);
}

// The height of a dot with this x, for the arrow keys; none where there is no dot.
function dotAt(plot, x) {
  return seenDots(plot).find((dot) => dot.x === x)?.y ?? null;
}

// Shows what the dot nearest to the cursor is, or hides the box.
function pointAtDot(plot) {
  const cursor = plot.plot?.cursor;
  const away = (dot) =>
    (plot.plot.valToPos(dot.x, "x") - cursor.left) ** 2 + (plot.plot.valToPos(dot.y, "y") - cursor.top) ** 2;
  let [near, least] = [null, 28 ** 2];
  for (const dot of cursor?.left >= 0 ? seenDots(plot) : [])
    if (away(dot) < least) [near, least] = [dot, away(dot)];
  plot.tip.hidden = near === null;
  if (!near) return;
  const row = (label, value, error) => {
    const text = element("span", {}, number(value, 4));
    if (error) text.append(element("i", {}, ` ± ${number(error, 2)}`));
    return element("div", {}, sample(near.series), element("span", {}, label), text);
  };
  plot.tip.replaceChildren(
    element("b", {}, near.name),
    row(plot.spec.y.label, near.y, near.error),
    row(plot.spec.x.label, near.x, 0),
  );
  plot.place(cursor);
}
