// The dashboard: one page, the public API, no framework. The files of this folder are served as one script.
"use strict";

const $ = (id) => document.getElementById(id);

// A node with attributes and children; texts are texts, whatever is in them.
function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children);
  return node;
}

function drawn(tag, attributes = {}) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

// Touches the page only if something changes: selections, focus and screen readers are left alone.
function say(node, text) {
  const wanted = String(text);
  if (node.textContent !== wanted) node.textContent = wanted;
}

function dress(node, name, value) {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

// For those who hear the page: only what they would want to be interrupted for.
function announce(text) {
  say($("said"), text);
}

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const inTens = (number) => whole.format(Math.round(number));

function percent(share) {
  if (!Number.isFinite(share)) return "0 %";
  const value = share * 100;
  return value > 0 && value < 10 ? `${value.toFixed(1)} %` : `${Math.round(value)} %`;
}

// Three digits, as many as a speed deserves.
function digits(number) {
  const size = Math.abs(number);
  if (size >= 1000) return inTens(number);
  return number.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

const times = (ratio) => `${ratio >= 100 ? inTens(ratio) : ratio.toFixed(2)}×`;

function plural(number, one, many = `${one}s`) {
  return `${inTens(number)} ${number === 1 ? one : many}`;
}

function clock(date) {
  return date.toLocaleTimeString("en-GB");
}

function duration(seconds) {
  const steps = [[86400, "d"], [3600, "h"], [60, "min"]];
  for (const [length, unit] of steps) if (seconds >= length) return `${Math.floor(seconds / length)} ${unit}`;
  return `${Math.floor(seconds)} s`;
}

function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const half = sorted.length / 2;
  return (sorted[Math.ceil(half) - 1] + sorted[Math.floor(half)]) / 2;
}

// A bar of a share of 1, with words beside it for those who do not see it.
function bar() {
  return make("span", { class: "bar", "aria-hidden": "true" }, make("span"));
}

function fill(node, share) {
  const width = `${Math.round(Math.min(Math.max(share, 0), 1) * 100)}%`;
  const inner = node.firstChild;
  if (inner.style.width !== width) inner.style.width = width;
}

// Keeps the rows of a small table: one for each item, found again by its key.
function keepRows(body, items, key, create, update) {
  const old = new Map([...body.rows].map((row) => [row.dataset.key, row]));
  let place = body.firstChild;
  for (const item of items) {
    const name = String(key(item));
    let row = old.get(name);
    old.delete(name);
    if (!row) {
      row = create(item);
      row.dataset.key = name;
    }
    update(row, item);
    if (row === place) place = place.nextSibling;
    else body.insertBefore(row, place);
  }
  for (const row of old.values()) row.remove();
}
