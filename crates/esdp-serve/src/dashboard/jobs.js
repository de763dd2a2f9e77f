// Jobs: those that wait, run or are over, page by page; one of them, and how urgent it is.

const JOBS_PER_PAGE = 100;
// The service looks at some 20,000 jobs at a time, so a rare name among a million takes some requests.
const MOST_REQUESTS = 60;
const STATES = { waiting: "waits", running: "runs", over: "over" };

// In a sentence: why it waits, or where it runs.
function whyOrWhere({ state, reason, detail, placements, started }) {
  if (state === "waiting") return `${REASONS[reason] ?? reason}${detail ? `: ${detail}` : ""}`;
  if (!placements) return "";
  const places = placements.map(({ server, count }) => (count > 1 ? `${server} ×${inTens(count)}` : server));
  const more = places.length > 4 ? `, ${places.length - 4} more` : "";
  return `since slot ${inTens(started)} on ${places.slice(0, 4).join(", ")}${more}`;
}

const jobsView = {
  // Where the pages begin that were turned so far; the last one is shown.
  cursors: [null],
  next: null,
  jobs: [],
  asked: 0,
  typing: null,

  start() {
    const anew = () => {
      this.cursors = [null];
      // No page of an earlier search is turned to.
      this.next = null;
      this.load().then(() => announce($("jobs-summary").textContent)).catch((failure) => this.fail(failure));
    };
    for (const id of ["job-state", "job-port"]) $(id).addEventListener("change", anew);
    for (const id of ["job-name", "job-server"]) {
      $(id).addEventListener("input", () => {
        clearTimeout(this.typing);
        this.typing = setTimeout(anew, 250);
      });
    }
    const turn = () =>
      this.load()
        .then(() => {
          $("jobs-region").scrollTop = 0;
          announce($("jobs-page").textContent);
        })
        .catch((failure) => this.fail(failure));
    $("jobs-next").addEventListener("click", () => {
      if (!this.next) return;
      this.cursors.push(this.next);
      this.next = null;
      turn();
    });
    $("jobs-back").addEventListener("click", () => {
      if (this.cursors.length < 2) return;
      this.cursors.pop();
      turn();
    });
    jobView.start();
  },

  path(cursor, limit) {
    const filters = { limit: String(limit) };
    const values = {
      state: $("job-state").value,
      port: $("job-port").value,
      server: $("job-server").value.trim(),
      name: $("job-name").value.trim(),
      cursor: cursor ?? "",
    };
    for (const [key, value] of Object.entries(values)) if (value) filters[key] = value;
    return `/v1/jobs?${new URLSearchParams(filters)}`;
  },

  async load() {
    this.asked += 1;
    const mine = this.asked;
    const found = [];
    let cursor = this.cursors.at(-1);
    for (let request = 0; request < MOST_REQUESTS; request += 1) {
      const page = await api.get(this.path(cursor, JOBS_PER_PAGE - found.length));
      // Another search has begun meanwhile.
      if (mine !== this.asked) return;
      found.push(...page.jobs);
      cursor = page.next ?? null;
      if (found.length >= JOBS_PER_PAGE || cursor === null) break;
      say($("jobs-summary"), "Searching");
    }
    this.jobs = found;
    this.next = cursor;
    this.show();
  },

  // What somebody points at or has the focus in stays.
  async refresh() {
    const region = $("jobs-region");
    if (region.contains(document.activeElement) || region.matches(":hover")) return;
    await this.load();
  },

  fail(failure) {
    if (!(failure instanceof ApiFailure)) throw failure;
    say($("jobs-summary"), `Not found: ${failure.message}.`);
  },

  // The job types with how many jobs wait, for the filter; a list that somebody has open is left alone.
  takeTypes(queues) {
    const select = $("job-port");
    if (document.activeElement === select) return;
    const types = ["", ...Object.keys(queues)];
    const isSame = (type, at) => select.options[at].value === type;
    if (types.length !== select.options.length || !types.every(isSame)) {
      const chosen = select.value;
      select.replaceChildren(...types.map((type) => make("option", { value: type })));
      select.value = types.includes(chosen) ? chosen : "";
    }
    for (const option of select.options) {
      say(option, option.value ? `${option.value} (${inTens(queues[option.value])})` : "All types");
    }
  },

  show() {
    const page = this.cursors.length;
    const shown = this.jobs.length > 0 ? `page ${inTens(page)}` : "";
    say($("jobs-page"), shown);
    // A button that is really disabled would lose the focus.
    dress($("jobs-back"), "aria-disabled", String(page < 2));
    dress($("jobs-next"), "aria-disabled", String(this.next === null));
    $("jobs-region").hidden = this.jobs.length === 0;
    say($("jobs-summary"), this.sentence());
    keepRows($("jobs").tBodies[0], this.jobs, ({ id }) => id, () => this.create(), (row, job) =>
      this.update(row, job),
    );
  },

  // How many wait, and why.
  sentence() {
    const reasons = Object.entries(board.status?.waiting ?? {});
    const all = reasons.reduce((sum, [, count]) => sum + count, 0);
    const parts = reasons.map(([reason, count]) => `${inTens(count)} ${REASONS[reason] ?? reason}`);
    const count = plural(all, "job waits", "jobs wait");
    const wait = all > 0 ? `${count}: ${parts.join(", ")}.` : "Nothing waits.";
    const isFound = this.jobs.length > 0 || (all === 0 && this.path(null, 1).endsWith("1&state=waiting"));
    return isFound ? wait : `No such job. ${wait}`;
  },

  create() {
    const open = make("button", { type: "button", class: "name" });
    open.addEventListener("click", () => jobView.open(open.textContent));
    const cell = (kind) => make("td", { class: kind });
    return make("tr", {}, make("th", { scope: "row" }, open), cell("wide"), cell("wide"), cell("number"),
      cell("number wide"), cell("number wide"), cell("reasons"));
  },

  update(row, job) {
    say(row.cells[0].firstChild, job.id);
    dress(row.cells[0].firstChild, "title", job.id);
    const whole = (number) => (number === undefined ? "" : inTens(number));
    const weight = job.weight === undefined ? "" : String(job.weight);
    const texts = [job.port ?? "", STATES[job.state], whole(job.position), whole(job.age), weight];
    [...texts, whyOrWhere(job)].forEach((text, at) => say(row.cells[at + 1], text));
  },
};

const jobView = {
  name: null,
  job: null,

  start() {
    $("job-close").addEventListener("click", () => $("job").close());
    $("job").addEventListener("close", () => {
      this.name = null;
    });
    $("job-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.change().catch((failure) => say($("job-said"), `Not changed: ${failure.message}.`));
    });
  },

  path() {
    return `/v1/jobs/${encodeURIComponent(this.name)}`;
  },

  async open(name) {
    this.name = name;
    say($("job-said"), "");
    say($("job-title"), name);
    $("job-facts").replaceChildren();
    $("job-form").hidden = true;
    $("job").showModal();
    await this.refresh(true);
  },

  async refresh(opened = false) {
    if (this.name === null) return;
    const name = this.name;
    let job;
    try {
      job = await api.get(this.path());
    } catch (failure) {
      if (!(failure instanceof ApiFailure)) throw failure;
      if (name === this.name) say($("job-said"), `Not found: ${failure.message}.`);
      return;
    }
    if (name === this.name) this.show(job, opened);
  },

  show(job, opened) {
    this.job = job;
    $("job-form").hidden = job.state !== "waiting";
    if (opened) $("job-weight").value = String(job.weight ?? 1);
    const { work, seconds } = job.expected ?? {};
    const expected = work === undefined ? seconds && duration(seconds) : `${digits(work)} of work`;
    const facts = [
      ["State", STATES[job.state]],
      ["Type", job.port],
      ["Tenant", job.tenant],
      ["Priority", job.weight],
      ["Position", job.position && `${inTens(job.position)} of ${inTens(job.queue)}`],
      ["Age", job.age !== undefined && plural(job.age, "slot")],
      ["Expected", expected],
      ["Features", job.features?.join(", ")],
      [job.state === "waiting" ? "Why" : "Where", whyOrWhere(job)],
      ...(job.placements ?? []).map(({ server, ticket, count, reported }) =>
        [`Ticket ${ticket}`, `${server}: outcomes of ${inTens(reported)} of ${plural(count, "task")}`]),
    ];
    const known = facts.filter(([, fact]) => fact || fact === 0);
    const term = ([name, fact]) => make("div", {}, make("dt", {}, name), make("dd", {}, String(fact)));
    $("job-facts").replaceChildren(...known.map(term));
  },

  async change() {
    const weight = Number($("job-weight").value);
    const { job } = await api.send("PATCH", this.path(), { weight }, { "if-match": this.job.tag });
    this.show(job, true);
    say($("job-said"), `Done: position ${inTens(job.position)} of ${inTens(job.queue)}.`);
    await jobsView.load();
  },
};
