// Tables that are sorted by a click on a heading, and back by the third. Without this script they stay as
// they are.

const COLLATOR = new Intl.Collator("en", { numeric: true });

// The number of a cell, its text, or nothing where it does not apply.
function worth(cell) {
  const text = cell.textContent.trim();
  if (cell.dataset.v !== undefined) return Number(cell.dataset.v);
  if (text === "" || text === "\u2013") return null;
  const number = Number(text.replaceAll(",", "").replace(/ ?%$/, "").replace("\u2212", "-"));
  return Number.isFinite(number) ? number : text;
}

// What does not apply stays last, whichever way the rest goes.
function order(a, b, down) {
  if (a === null || b === null) return (a === null) - (b === null);
  const numbers = typeof a === "number" && typeof b === "number";
  const ahead = numbers ? a - b : COLLATOR.compare(String(a), String(b));
  return down ? -ahead : ahead;
}

for (const table of document.querySelectorAll("figure.table table:not(.heat)")) {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  if (rows.length < 3) continue;
  const heads = [...table.tHead.rows[0].cells];
  const button = (head, at) => {
    const made = document.createElement("button");
    made.type = "button";
    made.className = "sort";
    made.append(...head.childNodes);
    head.append(made);
    made.addEventListener("click", () => {
      // Numbers are commonly wanted largest first, names from A to Z.
      const first = head.classList.contains("number") ? "descending" : "ascending";
      const second = first === "ascending" ? "descending" : "ascending";
      const next = { [first]: second, [second]: null }[head.getAttribute("aria-sort")];
      const way = next === undefined ? first : next;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      if (way) head.setAttribute("aria-sort", way);
      const sorted = way
        ? rows.toSorted((a, b) => order(worth(a.cells[at]), worth(b.cells[at]), way === "descending"))
        : rows;
      body.append(...sorted);
    });
  };
  heads.forEach(button);
}
