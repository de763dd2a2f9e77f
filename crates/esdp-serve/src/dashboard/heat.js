// Learned speeds: servers down, job types across. A cell is compared with the median of its column.

// Fewer outcomes tell little.
const FEW = 5;
// How far from the median a step of the colours begins, as a factor.
const STEPS = [1.08, 1.25, 1.6];

function shade(ratio) {
  if (!(ratio > 0)) return "s3";
  const size = ratio >= 1 ? ratio : 1 / ratio;
  const step = STEPS.filter((start) => size >= start).length;
  return step === 0 ? "n0" : `${ratio > 1 ? "f" : "s"}${step}`;
}

const heatView = {
  window: null,
  columns: [],
  cells: new Map(),
  sort: null,
  order: [],

  start() {
    this.window = new RowWindow($("heat-region"), $("heat"), 46, () => this.create(), (row, item) =>
      this.update(row, item),
    );
    $("heat-show").addEventListener("change", () => board.show(true));
  },

  // Sorts the channels into columns and finds their medians.
  take(channels) {
    const columns = new Map();
    this.cells = new Map();
    const groups = new Map();
    for (const { port, group } of channels) {
      if (!groups.has(port)) groups.set(port, new Set());
      groups.get(port).add(group);
    }
    for (const channel of channels) {
      // A job type of one group of tasks needs no second name.
      const name = groups.get(channel.port).size > 1 ? `${channel.port} / ${channel.group}` : channel.port;
      if (!columns.has(name)) columns.set(name, { name, unit: channel.unit, tried: [] });
      const column = columns.get(name);
      if (channel.count > 0) column.tried.push(channel.mean);
      if (!this.cells.has(channel.server)) this.cells.set(channel.server, new Map());
      this.cells.get(channel.server).set(name, channel);
    }
    const found = [...columns.values()];
    for (const column of found) column.usual = column.tried.length > 0 ? median(column.tried) : null;
    const isSame = (column, at) => column.name === this.columns[at].name;
    const same = found.length === this.columns.length && found.every(isSame);
    this.columns = found;
    if (!same) this.newColumns();
    this.columns.forEach((column, at) => say(this.unitOf(at), this.unitText(column)));
  },

  unitOf(at) {
    return $("heat").tHead.rows[0].cells[at + 1].querySelector(".unit");
  },

  unitText({ usual, unit }) {
    if (usual === null) return "never tried";
    return `usual ${digits(usual)}${unit === "utility" ? "" : ` ${unit}`}`;
  },

  newColumns() {
    this.window.clear();
    this.sort = null;
    const head = $("heat").tHead.rows[0];
    $("heat").style.minWidth = `${150 + 124 * this.columns.length}px`;
    const button = (text, column) => {
      const press = make("button", { type: "button" }, text);
      press.addEventListener("click", () => this.sortBy(press, column));
      return press;
    };
    const columns = this.columns.map((column) =>
      make("th", { scope: "col" }, button(column.name, column.name), make("span", { class: "unit" })),
    );
    const order = make("span", { class: "unit" }, "in the order above");
    head.replaceChildren(make("th", { scope: "col" }, button("Server", null), order), ...columns);
  },

  sortBy(press, column) {
    const down = this.sort?.column === column && !this.sort.down;
    this.sort = column === null ? null : { column, down };
    for (const head of $("heat").tHead.rows[0].cells) head.removeAttribute("aria-sort");
    if (column !== null) press.parentNode.setAttribute("aria-sort", down ? "descending" : "ascending");
    board.show(true);
  },

  // Servers come filtered and in the order of the table above.
  show(servers, anew) {
    let rows = servers;
    if (this.sort) {
      const sign = this.sort.down ? -1 : 1;
      const speed = (server) => {
        const channel = this.cells.get(server.name)?.get(this.sort.column);
        return channel?.count > 0 ? channel.mean : this.sort.down ? -1 : Infinity;
      };
      rows = [...servers].sort((a, b) => sign * (speed(a) - speed(b)) || 0);
    }
    if (!anew && this.window.isHeld()) {
      const place = new Map(this.order.map((name, index) => [name, index]));
      rows = [...rows].sort((a, b) => (place.get(a.name) ?? 1e9) - (place.get(b.name) ?? 1e9));
    }
    this.order = rows.map((server) => server.name);
    this.window.show(rows);
  },

  create() {
    const cells = this.columns.map(() =>
      make("td", {}, make("span", { class: "value" }), make("span", { class: "doubt" })),
    );
    return make("tr", {}, make("th", { scope: "row" }), ...cells);
  },

  update(row, server) {
    const mine = this.cells.get(server.name);
    say(row.cells[0], server.name);
    dress(row.cells[0], "title", server.name);
    const ratios = $("heat-show").value === "ratio";
    this.columns.forEach((column, at) =>
      this.fillCell(row.cells[at + 1], mine?.get(column.name), column, ratios),
    );
  },

  fillCell(cell, channel, column, ratios) {
    const [value, doubt] = cell.children;
    const tried = channel && channel.count > 0 && column.usual > 0;
    if (!tried) {
      dress(cell, "class", channel ? "untried" : "nothing");
      say(value, channel ? "–" : "");
      say(doubt, channel ? (channel.pending > 0 ? `${channel.pending} open` : "never tried") : "");
      return;
    }
    const ratio = channel.mean / column.usual;
    dress(cell, "class", channel.count < FEW ? `${shade(ratio)} few` : shade(ratio));
    const scale = ratios ? column.usual : 1;
    const text = (speed) => (ratios ? (speed / scale).toFixed(2) : digits(speed));
    say(value, ratios ? times(ratio) : digits(channel.mean));
    const interval = channel.interval ? `${text(channel.interval[0])} to ${text(channel.interval[1])}` : "";
    say(doubt, `${interval} · ${inTens(channel.count)}`);
  },
};
