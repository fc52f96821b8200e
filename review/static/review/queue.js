// The list of the queue: next and previous move in it and load the pane beside it. Without this
// file both are forms, and a claim is a link to its page.
"use strict";
(() => {
  const list = document.querySelector(".items[data-pane]");
  const pane = document.getElementById("peek");
  if (!list || !pane) return;
  const DELAY = 80; // a held key moves through rows without asking for each of them
  const kept = new Map(); // panes that were asked for, by number
  let waiting = 0;
  let wanted = "";

  const rows = () => [...list.children];
  const at = () => list.querySelector("[data-here]");
  const isWide = () => pane.checkVisibility();

  const load = (number) => {
    if (!kept.has(number)) {
      const address = new URL(list.dataset.pane, location.href);
      address.searchParams.set("at", number);
      const answer = fetch(address, { credentials: "same-origin", redirect: "error" }).then((found) => {
        if (!found.ok) throw new Error(`the pane of C${number}: ${found.status}`);
        return found.text();
      });
      answer.catch(() => kept.delete(number));
      kept.set(number, answer);
    }
    return kept.get(number);
  };

  const show = async (number) => {
    try {
      const text = await load(number);
      if (wanted !== number) return; // moved on meanwhile
      pane.replaceChildren(...new DOMParser().parseFromString(text, "text/html").body.childNodes);
      pane.dataset.number = number;
      pane.inert = false;
      reveal();
      const next = at()?.nextElementSibling?.dataset.number;
      if (next) load(next).catch(() => {});
    } catch {
      if (wanted === number) location.assign(addressOf(number)); // the whole page says what is wrong
    }
  };

  // Words that are cited far down in their evidence come into view; the row still says the claim.
  const reveal = () => {
    const box = pane.querySelector(".scroll");
    const cited = box?.querySelector("mark");
    if (!cited) return;
    const beyond = cited.getBoundingClientRect().bottom - box.getBoundingClientRect().bottom;
    if (beyond > 0) box.scrollTop += beyond + box.clientHeight / 2;
  };

  const addressOf = (number) => {
    const address = new URL(location.href);
    const kept = new URL(list.dataset.pane, location.href).searchParams;
    for (const [name, value] of kept) address.searchParams.set(name, value);
    address.searchParams.delete("upto");
    address.searchParams.set("at", number);
    return address;
  };

  const moveTo = (row) => {
    const old = at();
    if (!row || row === old) return;
    for (const [attribute, selector] of [["aria-keyshortcuts", ".pick input"], ["aria-current", ".claim"]]) {
      const from = old?.querySelector(selector);
      const value = from?.getAttribute(attribute) ?? (attribute === "aria-current" ? "true" : "x");
      from?.removeAttribute(attribute);
      row.querySelector(selector)?.setAttribute(attribute, value);
    }
    old?.removeAttribute("data-here");
    row.setAttribute("data-here", "");
    const number = row.dataset.number;
    const upTo = document.querySelector("[name=upto]");
    if (upTo) upTo.value = number;
    row.querySelector(".claim").focus({ preventScroll: true });
    row.scrollIntoView({ block: "nearest" });
    wanted = number;
    history.replaceState(null, "", addressOf(number));
    clearTimeout(waiting);
    if (!isWide()) return;
    pane.inert = true; // what it still shows is another candidate: nothing decides on that one now
    waiting = setTimeout(show, DELAY, number);
  };

  document.addEventListener("click", (event) => {
    const step = event.target.closest("[data-step]");
    if (step) {
      const found = rows();
      const next = found[found.indexOf(at()) + Number(step.dataset.step)];
      if (next) moveTo(next);
      else if (step.dataset.step === "1") document.querySelector(".pager [rel=next]")?.click();
      event.preventDefault();
      return;
    }
    // A mouse on a claim shows it beside the list; Enter, or a second click, opens its page.
    const claim = event.target.closest(".items .claim");
    if (!claim || !event.detail || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const row = claim.closest("li");
    if (isWide() && row !== at()) {
      event.preventDefault();
      moveTo(row);
    }
  });

  document.getElementById("sort")?.addEventListener("change", (event) => event.target.form.requestSubmit());
  const arriving = list.querySelector("[autofocus]");
  arriving?.focus({ preventScroll: true });
  reveal();
})();
