// Keeps the badge of the top bar as it is now: asks every ten seconds while the page is looked at.
// Its word is replaced only when it changed, so that a screen reader says it only then.
"use strict";
(() => {
  const EVERY = 10_000;
  const badge = document.querySelector(".status[data-source]");
  if (!badge) return;

  const take = (text) => {
    const fresh = new DOMParser().parseFromString(text, "text/html").querySelector(".status");
    if (!fresh) return;
    const part = (of, name) => of.querySelector(name);
    if (badge.className !== fresh.className) {
      badge.className = fresh.className;
      part(badge, "svg").replaceWith(document.adoptNode(part(fresh, "svg")));
    }
    for (const name of [".status-word", ".status-fact"]) {
      const now = part(fresh, name).textContent;
      if (part(badge, name).textContent !== now) part(badge, name).textContent = now;
    }
    badge.title = fresh.title;
  };

  const ask = async () => {
    if (document.hidden) return;
    // Unattended: it does not keep a session alive that nobody uses.
    const headers = { "X-Unattended": "yes" };
    const answer = await fetch(badge.dataset.source, { headers, redirect: "manual" }).catch(() => null);
    if (answer?.ok) take(await answer.text());
    else if (answer) clearInterval(timer); // signed out, or no longer a member
  };

  const timer = setInterval(ask, EVERY);
  document.addEventListener("visibilitychange", ask);
})();
