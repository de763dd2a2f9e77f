// A table of which only the rows in sight are in the page, so that thousands of them stay smooth.

class RowWindow {
  // `create()` makes a row, `update(row, item)` fills it, also one that was another's; rows are `height`
  // pixels high.
  constructor(region, table, height, create, update) {
    Object.assign(this, { region, table, height, create, update });
    this.body = table.tBodies[0];
    this.rows = [];
    this.known = new Map();
    this.before = make("tr", { class: "gap", "aria-hidden": "true" }, make("td"));
    this.after = make("tr", { class: "gap", "aria-hidden": "true" }, make("td"));
    this.body.replaceChildren(this.before, this.after);
    this.asked = false;
    region.addEventListener("scroll", () => this.draw(), { passive: true });
    new ResizeObserver(() => this.draw()).observe(region);
  }

  // Items with a `name` that is unique.
  show(rows) {
    this.rows = rows;
    this.draw();
  }

  // What somebody points at or has the focus in does not jump away.
  isHeld() {
    const focused = document.activeElement;
    const within = this.region.contains(focused) && focused !== this.region;
    return within || this.region.matches(":hover");
  }

  // Forgets all rows: their columns have changed.
  clear() {
    for (const row of this.known.values()) row.remove();
    this.known.clear();
  }

  draw() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      this.drawNow();
    });
  }

  drawNow() {
    const { rows, height, region } = this;
    dress(this.table, "aria-rowcount", String(rows.length + 1));
    const inSight = Math.ceil(region.clientHeight / height) + 1;
    const top = Math.min(Math.floor(region.scrollTop / height), Math.max(rows.length - inSight, 0));
    const first = Math.max(top - 5, 0);
    const end = Math.min(top + inSight + 5, rows.length);
    const focused = document.activeElement;
    const wanted = new Set();
    for (let index = first; index < end; index += 1) wanted.add(rows[index].name);
    // Rows that are out of sight serve others: filling one is cheaper than making it.
    const spare = [];
    for (const [name, row] of this.known) {
      if (wanted.has(name)) continue;
      this.known.delete(name);
      if (row.contains(focused)) row.remove();
      else spare.push(row);
    }
    let place = this.before.nextSibling;
    for (let index = first; index < end; index += 1) {
      const item = rows[index];
      let row = this.known.get(item.name);
      if (!row) {
        row = spare.pop() ?? this.create();
        this.known.set(item.name, row);
      }
      this.update(row, item);
      dress(row, "aria-rowindex", String(index + 2));
      if (row === place) place = place.nextSibling;
      else this.body.insertBefore(row, place);
    }
    for (const row of spare) row.remove();
    this.stretch(this.before, first * height);
    this.stretch(this.after, (rows.length - end) * height);
    // A row that was moved has lost the focus.
    if (focused !== document.activeElement && focused?.isConnected && this.body.contains(focused)) {
      focused.focus({ preventScroll: true });
    }
  }

  stretch(row, pixels) {
    const size = `${pixels}px`;
    row.hidden = pixels <= 0;
    if (row.firstChild.style.height !== size) row.firstChild.style.height = size;
  }
}
