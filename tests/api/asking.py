"""What the tests ask every tool and every endpoint; whatever is new has to be entered here.

A tool's argument or a path's parameter that nobody has entered makes the tests fail.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from mcp_types import Tool

from api.schema_view import document

# Of an id: one that no project has. A new kind of id is entered here, and is then swapped.
ABSENT = {"evidence_id": "S999999999", "item_id": "C999999999", "run_id": "R999999999"}
# Of every other argument or parameter: what is given where one must be.
GIVEN: dict[str, Any] = {
    "query": "cache",
    "q": "cache",
    "task": "change the cache",
    "subject": "cache.py",
}
# What may be left out and names nothing of a project.
OTHERS = {
    *("intent", "symbols", "symbol", "budget", "limit", "kinds", "kind", "sources"),
    *("states", "state", "types", "type", "modalities", "modality", "reason"),
}
PLACES = {"path", "paths", "cursor"}  # these do, and have tests of their own
KNOWN = {"project", *ABSENT, *GIVEN, *OTHERS, *PLACES}


@dataclass(frozen=True, slots=True)
class Operation:
    """A method and an address of the OpenAPI document."""

    method: str
    path: str
    query: tuple[str, ...]
    required: tuple[str, ...]

    @property
    def ids(self) -> list[str]:
        return [name for name in re.findall(r"{(\w+)}", self.path) if name != "project"]

    def address(self, project: str, item_id: str | None = None, **more: str) -> str:
        path = self.path.replace("{project}", project)
        for name in self.ids:
            path = path.replace(f"{{{name}}}", item_id or ABSENT[name])
        asked = {name: GIVEN[name] for name in self.required} | more
        query = "&".join(f"{name}={value}" for name, value in asked.items())
        return f"{path}?{query}" if query else path


def operations() -> list[Operation]:
    """Every operation that the OpenAPI document has, with its parameters."""
    found = []
    for path, methods in document()["paths"].items():
        for method, about in methods.items():
            named = {p["name"]: p for p in about.get("parameters", [])}
            assert set(named) <= KNOWN, f"enter the parameters of {path}"
            query = tuple(name for name, p in named.items() if p["in"] == "query")
            required = tuple(name for name in query if named[name].get("required"))
            found.append(Operation(method, path, query, required))
    return found


def arguments_of(tool: Tool, **known: str) -> dict[str, Any]:
    """Arguments by which the tool can be called; `known` ids take the place of absent ones."""
    names = set(tool.input_schema["properties"])
    assert names <= KNOWN, f"enter the arguments of {tool.name}"
    ids = {name: known.get(name, absent) for name, absent in ABSENT.items() if name in names}
    wanted = set(tool.input_schema.get("required", [])) & set(GIVEN)
    return ids | {name: GIVEN[name] for name in wanted}
