// What is read when. Events say that something is new; figures are read at most once per second, and less
// often where reading them takes long, so that thousands of servers neither stall this page nor keep the
// service busy.

const PACE = 1000;
// Reading takes at most this share of the time.
const EFFORT = 0.1;
// Without events, figures are read all the same.
const IDLE = 10_000;

const board = {
  status: null,
  servers: [],
  paused: false,
  news: true,
  last: 0,
  pause: PACE,
  reading: false,

  async refresh(now = false) {
    if (this.reading || (!now && (this.paused || document.hidden))) return;
    this.reading = true;
    this.news = false;
    const started = performance.now();
    try {
      const paths = ["/v1/status", "/v1/servers", "/v1/channels"];
      const [figures, { servers }, { channels }] = await Promise.all(paths.map((path) => api.get(path)));
      this.status = figures;
      this.servers = servers;
      heatView.take(channels);
      this.show(false);
      this.complain(figures.degraded ? `Nothing can be written: ${figures.degraded}` : "");
      $("token-part").hidden = true;
    } catch (failure) {
      if (failure.status === 401 || failure.status === 403) this.askToken();
      else if (failure instanceof ApiFailure) this.complain(`Not up to date: ${failure.message}.`);
      else throw failure;
    } finally {
      this.reading = false;
      this.last = performance.now();
      this.pause = Math.max(PACE, (this.last - started) / EFFORT);
    }
  },

  // `anew`: somebody has asked for another order.
  show(anew) {
    if (!this.status) return;
    const described = this.status.mode !== null;
    $("board").hidden = !described;
    $("empty-part").hidden = described;
    if (!described) {
      say($("headline"), "waits for a cluster");
      return;
    }
    overview.show(this.status, this.servers);
    heatView.show(serversView.show(this.servers, anew), anew);
    detailView.show();
  },

  complain(text) {
    $("notice").hidden = !text;
    say($("notice"), text);
  },

  askToken() {
    $("token-change").hidden = false;
    if (!$("token-part").hidden) return;
    $("token-part").hidden = false;
    $("board").hidden = true;
    say($("headline"), api.token ? "the token was refused" : "needs a token");
    $("token").focus();
  },

  hear({ kind, data }) {
    this.news = true;
    if (kind === "slot" && !this.paused) {
      decisionsView.take(JSON.parse(data));
      this.decided = true;
    }
    // Without an id it says that something was missed; then all is read anew, which `news` does for the rest.
    if (kind === "reset" || kind === "cluster") decisionsView.load().catch(() => {});
  },

  link(state) {
    const texts = {
      live: "Live", lost: "Reconnecting", token: "No token", connecting: "Connecting", paused: "Paused",
    };
    if (state !== "paused") this.linked = state;
    // What is shown may be from before the break.
    if (state === "live") this.news = true;
    const shown = this.paused && state === "live" ? "paused" : state;
    if ($("link").dataset.state === shown) return;
    if (shown === "lost") announce("The connection is lost. Reconnecting.");
    else if ($("link").dataset.state === "lost") announce("Connected again.");
    $("link").dataset.state = shown;
    say($("link-text"), texts[shown]);
  },

  tick() {
    if (this.decided && !document.hidden) {
      this.decided = false;
      decisionsView.show();
    }
    const since = performance.now() - this.last;
    if ((this.news && since >= this.pause) || since >= IDLE) this.refresh();
  },

  start() {
    serversView.start((name) => detailView.open(name));
    heatView.start();
    detailView.start();
    for (const [id, kind] of [["search", "input"], ["verdict", "change"]]) {
      $(id).addEventListener(kind, () => {
        this.show(true);
        announce($("shown").textContent);
      });
    }
    $("reason").addEventListener("change", () => this.show(false));
    $("pause").addEventListener("click", () => {
      this.paused = !this.paused;
      $("pause").setAttribute("aria-pressed", String(this.paused));
      this.link(this.paused ? "paused" : this.linked);
      if (!this.paused) decisionsView.load().catch(() => {});
      this.refresh();
    });
    $("token-change").addEventListener("click", () => {
      $("token-part").hidden = false;
      $("token").focus();
    });
    $("token-form").addEventListener("submit", (event) => {
      event.preventDefault();
      const token = $("token").value;
      $("token").value = "";
      $("token-part").hidden = true;
      giveToken(token);
      this.refresh(true).then(() => decisionsView.load()).catch(() => {});
    });
    document.addEventListener("visibilitychange", () => this.refresh());
    this.refresh(true);
    decisionsView.load().catch(() => {});
    follow((state) => this.link(state), (event) => this.hear(event));
    setInterval(() => this.tick(), 200);
  },
};

api.takeFromAddress();
board.start();
