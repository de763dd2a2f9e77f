// The service: requests with the token, and its events, which come again by themselves after a break.

const TOKEN = "esdp-token";
// The service says something at least every 10 seconds; a connection that is silent for longer is dead.
const SILENCE = 25_000;

class ApiFailure extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

const api = {
  token: sessionStorage.getItem(TOKEN) ?? "",

  keep(token) {
    this.token = token.trim();
    if (this.token) sessionStorage.setItem(TOKEN, this.token);
    else sessionStorage.removeItem(TOKEN);
  },

  // The link that a service prints at its first start has a token. It is kept for this tab, and does not stay
  // in the address, which goes into the history, bookmarks and pictures of the screen.
  takeFromAddress() {
    const address = new URL(location.href);
    const token = address.searchParams.get("token");
    if (token === null) return;
    this.keep(token);
    address.searchParams.delete("token");
    history.replaceState(null, "", address);
  },

  headers(more = {}) {
    return this.token ? { authorization: `Bearer ${this.token}`, ...more } : more;
  },

  async send(method, path) {
    let answer;
    try {
      answer = await fetch(path, { method, headers: this.headers() });
    } catch {
      throw new ApiFailure(0, "the service does not answer");
    }
    const body = await answer.json().catch(() => null);
    if (!answer.ok) throw new ApiFailure(answer.status, body?.message ?? `status ${answer.status}`);
    return body;
  },

  get(path) {
    return this.send("GET", path);
  },

  post(path) {
    return this.send("POST", path);
  },
};

// Reads one event: lines up to an empty one.
function parseEvent(text) {
  const event = { id: null, kind: "message", data: "" };
  for (const line of text.split("\n")) {
    const at = line.indexOf(":");
    if (at <= 0) continue;
    const value = line.slice(at + 1).replace(/^ /, "");
    if (line.startsWith("id:")) event.id = value;
    else if (line.startsWith("event:")) event.kind = value;
    else if (line.startsWith("data:")) event.data += value;
  }
  return event.data ? event : null;
}

// `EventSource` cannot send a token, so the stream is read by hand. Ends when the connection does.
async function readEvents(last, onOpen, onEvent) {
  const quiet = new AbortController();
  let timer = setTimeout(() => quiet.abort(), SILENCE);
  try {
    const headers = api.headers(last.id === null ? {} : { "last-event-id": last.id });
    const answer = await fetch("/v1/events", { headers, signal: quiet.signal, cache: "no-store" });
    if (!answer.ok) throw new ApiFailure(answer.status, "the events cannot be read");
    onOpen();
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let buffer = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(() => quiet.abort(), SILENCE);
      buffer += value;
      const parts = buffer.split("\n\n");
      buffer = parts.pop();
      for (const part of parts) {
        const event = parseEvent(part);
        if (!event) continue;
        if (event.id !== null) last.id = event.id;
        onEvent(event);
      }
    }
  } finally {
    clearTimeout(timer);
  }
}

const wait = (millis) => new Promise((done) => setTimeout(done, millis));

// Follows the events for ever. `onState` hears `live`, `lost` and `token`.
async function follow(onState, onEvent) {
  const last = { id: null };
  let delay = 500;
  for (;;) {
    try {
      await readEvents(last, () => {
        delay = 500;
        onState("live");
      }, onEvent);
      onState("lost");
    } catch (failure) {
      if (failure.status === 401 || failure.status === 403) {
        onState("token");
        await tokenGiven();
        continue;
      }
      onState("lost");
    }
    await wait(delay);
    delay = Math.min(delay * 2, 10_000);
  }
}

let tokenWaiters = [];

function tokenGiven() {
  return new Promise((done) => tokenWaiters.push(done));
}

function giveToken(token) {
  api.keep(token);
  const waiters = tokenWaiters;
  tokenWaiters = [];
  for (const done of waiters) done();
}
