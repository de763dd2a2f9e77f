// Where ticks are and how numbers read: the same rules as in figure/ticks.rs, so that the page
// and the static figures agree while one zooms. Only logTicks may be asked for fewer than the
// eight of a static figure: a page may be narrow. The browser test compares the two.
const MINUS = "\u2212";

// A power of ten; `10 ** -5` is not quite 0.00001.
const ten = (power) => Number("1e" + power);

function roundStep(rough) {
  const power = ten(Math.floor(Math.log10(rough)));
  const factor = [1, 2, 5].find((f) => rough / power <= f + 1e-9) ?? 10;
  return factor * power;
}

function linearTicks(low, high, about) {
  const step = roundStep((high - low) / about);
  const first = Math.ceil((low - step * 1e-9) / step);
  const last = Math.floor((high + step * 1e-9) / step);
  if (!(step > 0) || !Number.isFinite(step) || Math.max(Math.abs(first), Math.abs(last)) > 9e15)
    return [low, high];
  const ticks = [];
  for (let at = first; at <= last && ticks.length < 60; at++) ticks.push(at * step + 0);
  return ticks;
}

function logTicks(low, high, about) {
  const decades = Math.log10(high / low);
  if (decades < 1) return linearTicks(low, high, Math.min(about, 5)).filter((tick) => tick > 0);
  const factors = decades <= 2.5 && about >= 4 ? [1, 2, 5] : [1];
  const every = Math.max(1, Math.ceil(decades / Math.max(2, Math.min(about, 8))));
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    if (power % every !== 0) continue;
    for (const factor of factors) {
      const tick = factor * ten(power);
      if (tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9)) ticks.push(tick);
    }
  }
  return ticks;
}

function suffixOf(size) {
  if (size < 1e4) return [1, ""];
  if (size < 1e6) return [1e3, "k"];
  if (size < 1e9) return [1e6, "M"];
  return [1e9, "G"];
}

// A number and its power of ten by `toFixed` or `toExponential`, but a tie goes to the even digit, as in
// Rust. A number lies between two roundings only if its exact digits, which are at most a hundred here, say
// so.
function rounded(size, digits, method) {
  const [exact, power] = size[method](100).split("e");
  const cut = exact.indexOf(".") + 1 + digits;
  const tie = /^50*$/.test(exact.slice(cut)) && /[02468]\.?$/.test(exact.slice(0, cut));
  return tie ? [exact.slice(0, cut).replace(/\.$/, ""), power] : size[method](digits).split("e");
}

function grouped(value, decimals) {
  const [text] = rounded(Math.abs(value), decimals, "toFixed");
  const [whole, fraction] = text.split(".");
  const sign = value < 0 && /[1-9]/.test(text) ? MINUS : "";
  return sign + whole.replace(/\B(?=(\d{3})+$)/g, ",") + (fraction === undefined ? "" : "." + fraction);
}

function scientific(value) {
  if (value === 0) return "0";
  const [factor, power] = rounded(Math.abs(value), 2, "toExponential");
  const raised = String(Number(power)).replace(
    /[-\d]/g,
    (digit) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(digit)],
  );
  const short = (value < 0 ? MINUS : "") + Number(factor);
  return (short === "1" ? "" : short + "×") + "10" + raised;
}

const plain = (size) => size === 0 || (size >= 1e-4 && size < 1e13);

function tickLabels(ticks) {
  const largest = Math.max(0, ...ticks.map(Math.abs));
  if (!plain(largest)) return ticks.map(scientific);
  const [unit, suffix] = suffixOf(largest);
  const step = ticks.length > 1 ? ticks[1] - ticks[0] : Math.abs(ticks[0] ?? 1) || 1;
  const decimals = Math.min(8, Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9)));
  return ticks.map((tick) => (tick === 0 ? "0" : grouped(tick / unit, decimals) + suffix));
}

// Numbers of a list: as many decimals as the largest deserves, so that they line up.
function aligned(value, largest) {
  if (!plain(largest)) return number(value, 4);
  const [unit, suffix] = suffixOf(largest);
  const decimals = Math.min(9, Math.max(0, 3 - Math.floor(Math.log10(largest / unit || 1))));
  return grouped(value / unit, decimals) + suffix;
}

function number(value, digits) {
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (!plain(size)) return scientific(value);
  const [unit, suffix] = suffixOf(size);
  const decimals = Math.min(9, Math.max(0, digits - 1 - Math.floor(Math.log10(size / unit))));
  const text = grouped(value / unit, decimals);
  return (text.includes(".") ? text.replace(/\.?0+$/, "") : text) + suffix;
}
