// The servers, slow ones first.

const VERDICTS = {
  slow: { order: 0, text: "Slow", sign: "▼" },
  usual: { order: 2, text: "Usual", sign: "●" },
  fast: { order: 3, text: "Fast", sign: "▲" },
  unknown: { order: 1, text: "Unknown", sign: "?" },
};
// The scale of the drawn intervals goes from 0 to twice the usual.
const SCALE = 2;

// Of a server's devices, the one of which the largest share is used.
function busiest(server) {
  let found = null;
  for (const [device, all] of Object.entries(server.capacity ?? {})) {
    if (!all) continue;
    const share = (all - (server.free?.[device] ?? all)) / all;
    if (!found || share > found.share) found = { device, share };
  }
  return found;
}

const serversView = {
  sort: { by: "verdict", down: false },
  order: [],
  window: null,
  onOpen: () => {},

  start(onOpen) {
    this.onOpen = onOpen;
    this.window = new RowWindow($("servers-region"), $("servers"), 36, () => this.create(), (row, item) =>
      this.update(row, item),
    );
    for (const button of $("servers").querySelectorAll("[data-sort]")) {
      button.addEventListener("click", () => this.sortBy(button));
    }
  },

  sortBy(button) {
    const by = button.dataset.sort;
    // The first press shows what is looked for: names from A on, the slowest, the busiest.
    const first = by === "count" || by === "use";
    this.sort = { by, down: this.sort.by === by ? !this.sort.down : first };
    for (const head of $("servers").tHead.rows[0].cells) head.removeAttribute("aria-sort");
    button.parentNode.setAttribute("aria-sort", this.sort.down ? "descending" : "ascending");
    board.show(true);
  },

  rank(server) {
    switch (this.sort.by) {
      case "verdict":
        return VERDICTS[server.verdict].order * 1e6 + (server.factor ?? 1e3);
      case "factor":
        return server.factor ?? (this.sort.down ? -1 : 1e6);
      case "count":
        return server.count;
      default:
        return busiest(server)?.share ?? -1;
    }
  },

  // Those that pass the filters, in order.
  arrange(servers, anew) {
    const text = $("search").value.trim().toLowerCase();
    const verdict = $("verdict").value;
    const named = (name) => name.toLowerCase().includes(text);
    const passes = (server) =>
      (!verdict || (verdict === "drained" ? server.drained : server.verdict === verdict)) &&
      (!text || named(server.name) || server.labels.some(named));
    const rows = servers.filter(passes);
    const byName = (a, b) => a.name.localeCompare(b.name, "en", { numeric: true });
    const sign = this.sort.down ? -1 : 1;
    if (!anew && this.window.isHeld()) {
      const place = new Map(this.order.map((name, index) => [name, index]));
      rows.sort((a, b) => (place.get(a.name) ?? 1e9) - (place.get(b.name) ?? 1e9));
    } else if (this.sort.by === "name") {
      rows.sort((a, b) => sign * byName(a, b));
    } else {
      const rank = new Map(rows.map((server) => [server, this.rank(server)]));
      rows.sort((a, b) => sign * (rank.get(a) - rank.get(b)) || byName(a, b));
    }
    this.order = rows.map((server) => server.name);
    return rows;
  },

  show(servers, anew) {
    const rows = this.arrange(servers, anew);
    const all = plural(servers.length, "server");
    say($("shown"), rows.length === servers.length ? all : `${inTens(rows.length)} of ${all}`);
    this.window.show(rows);
    return rows;
  },

  create() {
    const open = make("button", { type: "button", class: "name" });
    open.addEventListener("click", () => this.onOpen(open.textContent));
    const svg = drawn("svg", { viewBox: "0 0 120 16", class: "interval", "aria-hidden": "true" });
    const middle = 120 / SCALE;
    svg.append(
      drawn("line", { x1: middle, x2: middle, y1: 1, y2: 15, class: "one" }),
      drawn("line", { y1: 8, y2: 8, class: "span" }),
      drawn("circle", { cy: 8, r: 3.5 }),
    );
    const verdict = make("span", { class: "verdict" });
    verdict.append(make("span", { "aria-hidden": "true" }), " ", make("span"));
    return make(
      "tr",
      {},
      make("th", { scope: "row" }, open),
      make("td", {}, verdict),
      make("td", { class: "number strong" }),
      make("td", { class: "wide" }, svg, make("span", { class: "ends" })),
      make("td", { class: "number" }),
      make("td", { class: "wide" }, bar(), make("span", { class: "share" })),
      make("td", { class: "wide labels" }),
    );
  },

  update(row, server) {
    const [name, verdict, factor, interval, count, use, labels] = row.cells;
    const known = VERDICTS[server.verdict];
    say(name.firstChild, server.name);
    dress(name.firstChild, "title", server.name);
    dress(verdict.firstChild, "data-verdict", server.verdict);
    say(verdict.firstChild.firstChild, known.sign);
    say(verdict.firstChild.lastChild, server.drained ? `${known.text}, drained` : known.text);
    say(factor, server.factor === null ? "" : times(server.factor));
    this.drawInterval(interval, server);
    say(count, inTens(server.count));
    const busy = busiest(server);
    fill(use.firstChild, busy?.share ?? 0);
    say(use.lastChild, busy ? `${percent(busy.share)} ${busy.device}` : "");
    say(labels, server.labels.join(", "));
  },

  drawInterval(cell, { factor, interval, verdict }) {
    const [svg, ends] = cell.children;
    svg.classList.toggle("none", !interval);
    dress(svg, "data-verdict", verdict);
    say(ends, interval ? `${interval[0].toFixed(2)} to ${interval[1].toFixed(2)}` : "never tried");
    if (!interval) return;
    const at = (value) => String(((Math.min(Math.max(value, 0), SCALE) / SCALE) * 116 + 2).toFixed(1));
    const [, span, dot] = svg.children;
    dress(span, "x1", at(interval[0]));
    dress(span, "x2", at(interval[1]));
    dress(dot, "cx", at(factor));
  },
};
