"use strict";

// Everything that comes from a session is inserted as text.
const state = document.getElementById("state");

function cell(row, text) {
  row.insertCell().textContent = text === null || text === undefined ? "" : String(text);
}

async function list() {
  const answer = await fetch("/api/sessions?limit=100");
  if (answer.status === 401) {
    state.textContent = "This address needs a new code: run `antiphon open` in a terminal.";
    return;
  }
  if (!answer.ok) {
    state.textContent = "The sessions cannot be listed: " + (await answer.json()).detail;
    return;
  }
  const page = await answer.json();
  const table = document.querySelector("table");
  for (const session of page.sessions) {
    const row = table.tBodies[0].insertRow();
    cell(row, session.title || session.id);
    cell(row, session.agent || session.format);
    cell(row, new Date(session.changed_at).toLocaleString());
    cell(row, session.status);
    cell(row, session.events);
  }
  table.hidden = page.sessions.length === 0;
  state.textContent = page.total === 0
    ? "No sessions have been kept yet; `antiphon sync` copies your agents' sessions."
    : page.sessions.length + " of " + page.total;
}

list().catch(() => { state.textContent = "The server does not answer."; });
