// Outcomes that are doubted. An operator accepts or drops them.

const asideView = {
  take(outcomes) {
    $("aside-part").hidden = outcomes.length === 0;
    say($("aside-count"), plural(outcomes.length, "outcome"));
    const newest = [...outcomes].sort((a, b) => b.id - a.id);
    keepRows(
      $("aside").tBodies[0],
      newest,
      (outcome) => outcome.id,
      (outcome) => this.create(outcome),
      (row, outcome) => this.update(row, outcome),
    );
  },

  create(outcome) {
    const button = (what, text) => {
      const node = make("button", { type: "button", "aria-label": `${text} outcome ${outcome.id}` }, text);
      node.addEventListener("click", () => this.settle(outcome, what));
      return node;
    };
    return make(
      "tr",
      {},
      make("th", { scope: "row" }),
      make("td"),
      make("td"),
      make("td", { class: "number" }),
      make("td", { class: "number" }),
      make("td"),
      make("td", {}, button("accept", "Accept"), " ", button("drop", "Drop")),
    );
  },

  update(row, outcome) {
    const isPlain = (speed) => speed === 0 || (speed >= 0.01 && speed < 1e6);
    const size = (speed) => (isPlain(speed) ? digits(speed) : speed.toExponential(1));
    const believed = outcome.believed === null ? "nothing" : size(outcome.believed);
    const more = outcome.times > 1 ? `; said ${inTens(outcome.times)} times` : "";
    const source = outcome.source || "anyone";
    const speed = size(outcome.speed);
    const texts = [outcome.port, outcome.server, source, speed, believed, outcome.detail + more];
    texts.forEach((text, at) => say(row.cells[at], text));
  },

  async settle(outcome, what) {
    try {
      await api.post(`/v1/outcomes/aside/${outcome.id}/${what}`);
      say($("aside-said"), what === "accept" ? "Accepted; it is learned." : "Dropped.");
      await board.refresh(true);
    } catch (failure) {
      say($("aside-said"), `Not done: ${failure.message}.`);
    }
  },
};
