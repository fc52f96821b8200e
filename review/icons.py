"""The console's icons: our own drawings on a 16 px grid, as paths of strokes."""

from __future__ import annotations

ICONS: dict[str, tuple[str, ...]] = {
    "back": ("M10 3 5 8l5 5",),
    "up": ("M3 10l5-5 5 5",),
    "down": ("M3 6l5 5 5-5",),
    "forward": ("M6 3l5 5-5 5",),
    "search": ("M11.5 7a4.5 4.5 0 1 1-9 0 4.5 4.5 0 0 1 9 0", "M10.5 10.5 14 14"),
    "tick": ("M3 8.4l3.2 3.2L13 4.6",),
    "cross": ("M4 4l8 8M12 4l-8 8",),
    "undo": ("M3 6.5h6.5a3.5 3.5 0 0 1 0 7H6", "M5.5 3.5 2.7 6.5l2.8 3"),
    "warning": ("M8 2.2 14.3 13.3H1.7z", "M8 6.3v3.4M8 11.4v.1"),
    "document": ("M4 1.8h5.2L12.5 5v9.2H4z", "M9 2v3.2h3.2M6 8.5h4M6 11h4"),
    "queue": ("M2.5 4h7M2.5 8h5M2.5 12h5", "M9.5 10.5l2 2 3-4"),
    "layers": ("M2 4.2 8 1.8l6 2.4-6 2.4z", "M2 8l6 2.4L14 8M2 11.6 8 14l6-2.4"),
    "lock": ("M3.2 7h9.6v6.8H3.2z", "M5.2 7V5a2.8 2.8 0 0 1 5.6 0v2"),
}
