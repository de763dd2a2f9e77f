// One server: its speeds by job type, and what an operator can do about it.

const detailView = {
  name: null,

  start() {
    $("detail-close").addEventListener("click", () => $("detail").close());
    $("detail").addEventListener("close", () => {
      this.name = null;
    });
    $("detail-drain").addEventListener("click", () => {
      const drained = board.servers.find((server) => server.name === this.name)?.drained;
      this.act(drained ? "undrain" : "drain", drained ? "It takes jobs again." : "It takes nothing new.");
    });
    $("detail-reset").addEventListener("click", (press) => {
      // What was learned cannot be brought back: asked twice.
      if (press.target.dataset.sure !== this.name) {
        press.target.dataset.sure = this.name;
        say(press.target, "Really forget?");
        return;
      }
      this.calm();
      this.act("reset", "Forgotten; it will be tried again.");
    });
  },

  calm() {
    const reset = $("detail-reset");
    delete reset.dataset.sure;
    say(reset, "Forget its speeds");
  },

  async act(what, done) {
    try {
      await api.post(`/v1/servers/${encodeURIComponent(this.name)}/${what}`);
      say($("detail-said"), done);
      await board.refresh(true);
    } catch (failure) {
      say($("detail-said"), `Not done: ${failure.message}.`);
    }
  },

  open(name) {
    this.name = name;
    this.calm();
    say($("detail-said"), "");
    this.show();
    $("detail").showModal();
  },

  show() {
    const server = board.servers.find((known) => known.name === this.name);
    if (this.name === null) return;
    if (!server) {
      $("detail").close();
      return;
    }
    say($("detail-title"), server.name);
    say($("detail-text"), this.sentence(server));
    say($("detail-drain"), server.drained ? "Undrain" : "Drain");
    const columns = heatView.columns.filter((column) => heatView.cells.get(server.name)?.has(column.name));
    const number = () => make("td", { class: "number" });
    const create = () =>
      make("tr", {}, make("th", { scope: "row" }), number(), make("td"), number(), number());
    keepRows($("detail-channels"), columns, (column) => column.name, create, (row, column) => {
      const channel = heatView.cells.get(server.name).get(column.name);
      const tried = channel.count > 0;
      const unit = channel.unit === "utility" ? "" : ` ${channel.unit}`;
      const interval = tried && channel.interval ? channel.interval.map(digits).join(" to ") : "never tried";
      const mean = tried ? digits(channel.mean) + unit : "";
      const texts = [column.name, mean, interval, inTens(channel.count), inTens(channel.pending)];
      texts.forEach((text, at) => say(row.cells[at], text));
    });
  },

  sentence(server) {
    const labels = server.labels.length > 0 ? ` Labels: ${server.labels.join(", ")}.` : "";
    const use = Object.entries(server.capacity ?? {}).map(([device, all]) => {
      const free = server.free?.[device] ?? all;
      return `${device} ${inTens(all - free)} of ${inTens(all)}`;
    });
    const used = use.length > 0 ? ` In use: ${use.join(", ")}.` : "";
    if (server.factor === null) return `Nothing is known of its speed yet.${labels}${used}`;
    const [low, high] = server.interval;
    const interval = `95 % interval ${low.toFixed(2)} to ${high.toFixed(2)}`;
    const told = `${VERDICTS[server.verdict].text}: ${times(server.factor)} the usual speed (${interval})`;
    return `${told}, from ${plural(Math.round(server.count), "outcome")}.${labels}${used}`;
  },
};
