"""The console's single keys: the one list from which pages and the page of keys take them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shortcut:
    """A key: `key` as aria-keyshortcuts names it, `cap` as it is drawn, and what it does.

    Two keys pressed one after the other stand with a space between them.
    """

    name: str
    key: str
    cap: str
    what: str


MOVE = (
    Shortcut("next", "j", "j", "next candidate"),
    Shortcut("previous", "k", "k", "previous candidate"),
    Shortcut("open", "Enter", "↵", "open the current candidate"),
    Shortcut("back", "Escape", "Esc", "leave a field; back to the queue"),
    Shortcut("search", "/", "/", "search"),
    Shortcut("keys", "?", "?", "this page"),
)
GO = (  # two keys, one after the other
    Shortcut("go_queue", "g q", "g q", "go to the queue"),
    Shortcut("go_decided", "g d", "g d", "go to what was decided: the audit trail"),
    Shortcut("go_knowledge", "g k", "g k", "go to the knowledge"),
)
DECIDE = (
    Shortcut("promote", "p", "p", "promote as it is"),
    Shortcut("plan", "l", "l", "promote a plan as a plan"),
    Shortcut("supersede", "s", "s", "promote, and end the memory it replaces"),
    Shortcut("edit", "e", "e", "edit the wording, then promote"),
    Shortcut("narrow", "n", "n", "promote into a narrower scope: a path or a symbol"),
    Shortcut("context", "t", "t", "promote as depending on context"),
    Shortcut("merge", "m", "m", "merge into a candidate or memory that says the same"),
    Shortcut("reject", "r", "r", "reject: goes to the reason, Enter there sends it"),
    Shortcut("defer", "d", "d", "defer, with the reason if one is written"),
    Shortcut("claim", "c", "c", "claim the current candidate, or release it"),
    Shortcut("undo", "u", "u", "undo the last decision"),
)
SELECT = (
    Shortcut("select", "x", "x", "select the current candidate, or give it up"),
    Shortcut("select_to", "Shift+X", "⇧x", "select from the last selected one up to here"),
    Shortcut("promote_all", "Shift+P", "⇧p", "preview promoting the selected"),
    Shortcut("reject_all", "Shift+R", "⇧r", "preview rejecting the selected"),
    Shortcut("defer_all", "Shift+D", "⇧d", "preview deferring the selected"),
)
GROUPS = (("Move", MOVE), ("Go", GO), ("Decide", DECIDE), ("Several at once", SELECT))
SHORTCUTS = {shortcut.name: shortcut for _, group in GROUPS for shortcut in group}
