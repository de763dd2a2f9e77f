// Figures of the moment: tiles, utilisation.

const REASONS = {
  capacity: "no room",
  passed: "others were worth more",
  closed: "servers closed",
  "no-server": "no server may run it",
  reserved: "devices are kept for a job that waited long",
  faster: "waits for a faster server",
  "not-decided": "not decided yet",
  observing: "the service observes",
};
// How many samples of the slot number are kept for the rate: ten minutes at one per second.
const SAMPLES = 600;
const MINUTE = 60_000;

const overview = {
  samples: [],
  slowNames: null,

  show(status, servers) {
    const mode = { observe: "observes", advise: "advises", place: "places jobs" }[status.mode] ?? status.mode;
    say($("headline"), `slot ${inTens(status.slot)}, ${mode}, ${plural(servers.length, "server")}`);
    document.title = `${servers.some((server) => server.verdict === "slow") ? "▼ " : ""}esdp`;
    this.showSlow(servers);
    this.showRate(status);
    const [explored, started] = status.exploration;
    say($("exploration"), percent(started > 0 ? explored / started : 0));
    const limit = status.max_exploration === null ? "no limit" : `limit ${percent(status.max_exploration)}`;
    say($("exploration-note"), `of ${plural(started, "recent task")}, ${limit}`);
    const waiting = Object.values(status.waiting).reduce((sum, number) => sum + number, 0);
    say($("running"), inTens(status.running));
    say($("jobs-note"), `running, ${inTens(waiting)} waiting`);
    say($("regret"), digits(status.estimated_regret));
    say($("regret-note"), "net utility below the best by estimate, since the start");
    this.showAdvice(status);
    this.showDevices(status.devices);
    const up = duration(status.uptime_seconds);
    say($("foot"), `esdp ${status.version}, up ${up}, ${inTens(status.sequence)} events`);
  },

  showSlow(servers) {
    const slow = servers.filter((server) => server.verdict === "slow").sort((a, b) => a.factor - b.factor);
    const unknown = servers.filter((server) => server.verdict === "unknown").length;
    say($("slow"), inTens(slow.length));
    $("tile-slow").classList.toggle("bad", slow.length > 0);
    const named = slow.slice(0, 2).map((server) => `${server.name} ${times(server.factor)}`);
    const rest = slow.length > named.length ? `, ${slow.length - named.length} more` : "";
    const doubt = unknown > 0 ? `${inTens(unknown)} not known yet` : "all others are as usual or faster";
    say($("slow-names"), slow.length > 0 ? named.join(", ") + rest : doubt);
    const names = new Set(slow.map((server) => server.name));
    const found = slow.filter((server) => this.slowNames && !this.slowNames.has(server.name));
    this.slowNames = names;
    const some = found.slice(0, 3).map((server) => `${server.name}, ${times(server.factor)}`);
    if (some.length > 0) announce(`Slow: ${some.join("; ")}`);
  },

  showRate({ slot }) {
    const now = Date.now();
    const samples = this.samples;
    if (samples.length > 0 && slot < samples.at(-1).slot) samples.length = 0;
    samples.push({ now, slot });
    if (samples.length > SAMPLES) samples.shift();
    const since = samples.find((sample) => now - sample.now <= MINUTE) ?? samples[0];
    const elapsed = now - since.now;
    say($("rate"), elapsed >= 1500 ? inTens(((slot - since.slot) / elapsed) * MINUTE) : "…");
    const seconds = Math.max(1, Math.round(elapsed / 1000));
    say($("rate-note"), elapsed >= MINUTE * 0.9 ? "in the last minute" : `in the last ${seconds} s`);
    this.drawSpark(samples);
  },

  // Decisions per second over the samples, from the first to the last.
  drawSpark(samples) {
    if (samples.length < 3) return;
    const [first, last] = [samples[0].now, samples.at(-1).now];
    const buckets = Math.min(40, samples.length - 1);
    const counts = new Array(buckets).fill(0);
    for (let at = 1; at < samples.length; at += 1) {
      const place = Math.min(Math.floor(((samples[at].now - first) / (last - first)) * buckets), buckets - 1);
      counts[place] += samples[at].slot - samples[at - 1].slot;
    }
    const most = Math.max(...counts, 1);
    const x = (at) => ((at / Math.max(buckets - 1, 1)) * 120).toFixed(1);
    const points = counts.map((count, at) => `${x(at)},${(26 - (count / most) * 24).toFixed(1)}`);
    dress($("spark").firstElementChild, "points", points.join(" "));
  },

  showAdvice({ advice, mode }) {
    const { compared, followed, gain, interval } = advice;
    if (compared === 0) {
      say($("advice"), "–");
      say($("advice-note"), mode === "advise" ? "nothing compared yet" : "only in mode advise");
      return;
    }
    const sign = (value) => (value > 0 ? `+${digits(value)}` : digits(value));
    say($("advice"), sign(gain));
    const worth = `net utility (${sign(interval[0])} to ${sign(interval[1])})`;
    const share = `${percent(followed / compared)} of ${plural(compared, "task")}`;
    say($("advice-note"), `${worth}, ${share} followed`);
  },

  showDevices(devices) {
    const number = () => make("td", { class: "number" });
    const create = () =>
      make("tr", {}, make("th", { scope: "row" }), make("td", {}, bar()), number(), number());
    const key = ({ device }) => device;
    keepRows($("devices").tBodies[0], devices, key, create, (row, { device, used, capacity }) => {
      const [name, use, share, amount] = row.cells;
      say(name, device);
      fill(use.firstChild, capacity > 0 ? used / capacity : 0);
      say(share, percent(capacity > 0 ? used / capacity : 0));
      say(amount, `${inTens(used)} of ${inTens(capacity)}`);
    });
  },
};
