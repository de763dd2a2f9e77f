// The last decisions, and why their jobs went where they did.

const KEPT_DECISIONS = 40;

const decisionsView = {
  slots: [],
  chosen: null,
  // Until somebody chooses, the first decision that started something is explained.
  explained: false,

  async load() {
    const { slots } = await api.get(`/v1/slots?limit=${KEPT_DECISIONS}`);
    for (const slot of slots) this.take(slot, new Date(slot.at));
    this.show();
  },

  take(slot, at = new Date()) {
    if (this.slots.some((known) => known.slot === slot.slot)) return;
    this.slots.push({ ...slot, when: at });
    this.slots.sort((a, b) => b.slot - a.slot);
    this.slots.length = Math.min(this.slots.length, KEPT_DECISIONS);
  },

  forget() {
    this.slots = [];
  },

  show() {
    const create = (slot) => this.create(slot);
    keepRows($("decisions").tBodies[0], this.slots, (slot) => slot.slot, create, (row, slot) =>
      row.classList.toggle("chosen", slot.slot === this.chosen),
    );
    const first = this.slots.find((slot) => slot.placements.length > 0);
    if (!this.explained && first) {
      this.explained = true;
      this.explain(first.slot);
    }
  },

  create(slot) {
    const several = ({ count }) => (count > 1 ? ` ×${count}` : "");
    const places = slot.placements.map((place) => `${place.job} on ${place.server}${several(place)}`);
    const more = places.length > 3 ? `, ${places.length - 3} more` : "";
    const started = places.length > 0 ? places.slice(0, 3).join(", ") + more : "nothing";
    const advised = slot.advice && places.length > 0 ? "advised: " : "";
    const button = make("button", { type: "button", "aria-label": `Why: slot ${slot.slot}` }, "Why");
    button.addEventListener("click", () => {
      this.explain(slot.slot, true);
    });
    return make(
      "tr",
      {},
      make("th", { scope: "row", class: "number" }, inTens(slot.slot)),
      make("td", { class: "time" }, clock(slot.when)),
      make("td", { class: places.length > 0 ? "" : "muted" }, advised + started),
      make("td", { class: "number" }, inTens(slot.held.length + (slot.held_more ?? 0))),
      make("td", {}, button),
    );
  },

  async explain(number, asked = false) {
    this.chosen = number;
    this.explained = true;
    this.show();
    let slot;
    try {
      slot = await api.get(`/v1/slots/${number}`);
    } catch (failure) {
      $("why-body").replaceChildren(make("p", {}, `Slot ${number} cannot be read: ${failure.message}.`));
      return;
    }
    if (this.chosen !== number) return;
    say($("why-title"), `Why here: slot ${inTens(number)}`);
    const parts = slot.why.map((why) => this.reason(why));
    if (parts.length === 0) parts.push(make("p", { class: "muted" }, "Nothing was started in this slot."));
    if (slot.held.length > 0) parts.push(...this.held(slot));
    $("why-body").replaceChildren(...parts);
    if (asked) $("why").focus({ preventScroll: false });
  },

  // In a sentence.
  verdict({ outcomes, estimate, runner_up: rival }) {
    if (outcomes === 0) return "Nothing is known of it yet: its speed is worth knowing.";
    const better = rival ? rival.estimate - estimate : 0;
    if (better >= 0.005) {
      const expected = `${rival.server} is expected to be better by ${better.toFixed(2)}`;
      return `${expected}, but it was full, or this one is worth exploring.`;
    }
    return better > 0 ? "As good as the best of its job type." : "The best of its job type by estimate.";
  },

  // One start on one server.
  reason(why) {
    const term = (name, text) => make("div", {}, make("dt", {}, name), make("dd", {}, text));
    const rival = why.runner_up;
    return make(
      "article",
      { class: "reason" },
      make("h4", {}, `${why.job} on ${why.server}${why.count > 1 ? ` ×${why.count}` : ""}`),
      make("p", {}, this.verdict(why)),
      make(
        "dl",
        {},
        term("Expected", why.estimate.toFixed(3)),
        term("Bonus for doubt", why.bonus === null ? "unlimited" : `± ${why.bonus.toFixed(3)}`),
        term("Cost", why.cost.toFixed(3)),
        term("Outcomes", `${inTens(why.outcomes)}${why.pending > 0 ? ` (${why.pending} open)` : ""}`),
        term("Next best", rival ? `${rival.server}, ${rival.estimate.toFixed(3)}` : "none"),
        term("Scarcest device", why.binding ?? "none"),
      ),
    );
  },

  held(slot) {
    const shown = slot.held.slice(0, 5);
    const more = slot.held.length + (slot.held_more ?? 0) - shown.length;
    const items = shown.map(({ job, reason, detail }) =>
      make("li", {}, make("strong", {}, job), `: ${REASONS[reason] ?? reason} (${detail})`),
    );
    if (more > 0) items.push(make("li", { class: "muted" }, `${inTens(more)} more`));
    return [make("h4", {}, "Why not"), make("ul", {}, ...items)];
  },
};
