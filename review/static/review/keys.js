// Single keys. There is no list of actions here: a key clicks (or focuses) the first visible
// element that names it in aria-keyshortcuts, so that keys and page cannot disagree.
"use strict";
(() => {
  const FIELDS = "input:not([type=checkbox], [type=radio]), select, textarea";
  const PAUSE = 1500; // between the two keys of a pair, in milliseconds
  let first = { key: "", at: 0 }; // the key pressed before, if it begins a pair
  let isLeaving = false; // a second press must not act while the first one's answer is on its way

  // As aria-keyshortcuts names it: a letter with Shift is "Shift+P"; "?" is what is typed.
  const named = (event) =>
    event.shiftKey && /^\p{L}$/u.test(event.key) ? `Shift+${event.key.toUpperCase()}` : event.key;

  const find = (key, attribute = "aria-keyshortcuts") =>
    [...document.querySelectorAll(`[${attribute}]`)].find((element) => {
      const names = element.getAttribute(attribute);
      const isNamed = attribute === "data-keys" ? names === key : names.split(" ").includes(key);
      return isNamed && !element.disabled && !element.closest("[inert]") && element.checkVisibility({ visibilityProperty: true });
    });

  // The second key of a pair: "g" and then "q".
  const second = (event) => {
    const pair = `${first.key} ${event.key}`;
    const isPair = first.key && event.timeStamp - first.at < PAUSE;
    first = { key: event.key, at: event.timeStamp };
    return isPair ? find(pair, "data-keys") : undefined;
  };

  const press = (event) => {
    if (event.defaultPrevented || event.isComposing || event.repeat || isLeaving) return;
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const focused = document.activeElement;
    if (focused?.matches(FIELDS)) {
      if (event.key === "Escape") focused.blur();
      return;
    }
    // Enter and Escape belong to the control that has the focus, if any has.
    if (event.key === "Enter" && focused?.matches("a, button, summary")) return;
    const target = second(event) ?? find(named(event));
    if (!target) return;
    event.preventDefault();
    if (target.matches(FIELDS)) target.focus();
    else target.click();
  };

  document.addEventListener("keydown", press);
  document.addEventListener("submit", (event) => { isLeaving = !event.defaultPrevented; });
  window.addEventListener("pageshow", () => { isLeaving = false; });
  document.querySelector("[data-here]")?.scrollIntoView({ block: "center" });
})();
