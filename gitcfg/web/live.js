// Pages work without it: it fetches a page again when something has happened, and while one types in the filter.
"use strict";
(() => {
  const PAUSE = 2000, TYPING = 250;
  const own = document.currentScript.dataset.node;
  const state = document.getElementById("live");
  const say = text => { if (state && state.textContent !== text) state.textContent = text; };

  // Regions are taken over from the server's own page. The one that has the focus is left alone.
  const take = (fresh, region) => {
    const now = document.getElementById(region.id);
    if (!now || now.isEqualNode(region) || now.contains(document.activeElement)) return;
    for (const fold of region.querySelectorAll("details[id]")) {
      const was = now.querySelector(`#${CSS.escape(fold.id)}`);
      if (was) fold.open = was.open;
    }
    now.replaceWith(fresh.adoptNode(region));
  };
  let asked = 0;
  const fetched = async (address, wanted) => {
    const mine = ++asked;
    const answer = await fetch(address, { credentials: "same-origin", redirect: "error" });
    if (!answer.ok) throw new Error(String(answer.status));
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (mine === asked) for (const region of fresh.querySelectorAll(wanted)) take(document, region);
  };

  let due = null, busy = false, again = false;
  const refresh = () => {
    if (due === null && !document.hidden) due = setTimeout(renew, PAUSE);
  };
  const renew = async () => {
    due = null;
    if (busy) { again = true; return; }
    busy = true; again = false;
    try {
      await fetched(location.pathname + location.search, "[data-live]");
      say(" · live");
    } catch {
      say(" · the server does not answer");
    }
    busy = false;
    if (again) refresh();
  };
  // A page that nobody sees watches nothing: browsers have six connections for all windows of a server.
  let events = null;
  const watch = () => {
    events = new EventSource("/v1/events");
    events.onopen = () => say(" · live");
    events.onerror = () => say(" · not connected");
    for (const kind of ["checkin", "deploy", "release", "commit", "invalid", "pending", "another-key", "forgotten", "hold", "expired"]) {
      events.addEventListener(kind, event => {
        if (!own || !["checkin", "deploy"].includes(kind) || JSON.parse(event.data).node === own) refresh();
      });
    }
  };
  const leave = () => { if (events) events.close(); events = null; };
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) { leave(); return; }
    if (!events) watch();
    refresh();
  });
  addEventListener("pagehide", leave);
  if (!document.hidden) watch();

  for (const form of document.querySelectorAll("form[data-filter]")) {
    let typed = null;
    const filter = async () => {
      const query = new URLSearchParams(new FormData(form));
      for (const [name, value] of [...query]) if (!value) query.delete(name);
      const address = `${location.pathname}?${query}`;
      history.replaceState(null, "", address);
      try {
        await fetched(address, `#${CSS.escape(form.dataset.filter)}`);
      } catch {
        form.submit();
      }
    };
    form.addEventListener("input", () => { clearTimeout(typed); typed = setTimeout(filter, TYPING); });
    form.addEventListener("submit", event => { event.preventDefault(); clearTimeout(typed); filter(); });
  }
})();
