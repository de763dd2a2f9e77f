// Shows the servers by what was learned of them; uses the public API only.
"use strict";

const order = { slow: 0, usual: 1, fast: 2, unknown: 3 };

function cell(row, text) {
  row.insertCell().textContent = text;
}

async function show() {
  const [status, servers] = await Promise.all(
    ["/v1/status", "/v1/servers"].map(async (path) => (await fetch(path)).json()),
  );
  document.getElementById("status").textContent =
    `Slot ${status.slot}, ${status.running} jobs run, mode ${status.mode ?? "none: no cluster yet"}`;
  const body = document.getElementById("servers");
  body.replaceChildren();
  servers.servers.sort((a, b) => order[a.verdict] - order[b.verdict] || (a.factor ?? 1) - (b.factor ?? 1));
  for (const server of servers.servers) {
    const row = body.insertRow();
    cell(row, server.name);
    cell(row, server.verdict);
    cell(row, server.factor === null ? "" : `${server.factor.toFixed(2)} x`);
    cell(row, Math.round(server.count));
  }
}

show();
setInterval(show, 2000);
