"""How the sources, their units and the reasons of gaps are called on the dashboard."""

from __future__ import annotations

NAMES: dict[str, str] = {"git": "Git history", "documents": "Documents"}
UNITS: dict[str, str] = {"git": "commits", "documents": "documents"}
MEANINGS = {
    "OVERSIZE": "Larger than the policy's limit; its size and ids are known.",
    "BINARY": "No text: kept as a fact without lines.",
    "EXCLUDED": "Left out by the policy; no byte is read.",
    "PROTECTED": "May hold secrets; no byte is ever read.",
    "MISSING_OBJECT": "Not in this clone; nothing is fetched.",
    "OBJECT_CORRUPT": "Its content does not have its hash.",
    "UNSUPPORTED_FORMAT": "A text format that is not read yet.",
    "UNSUPPORTED_ENCODING": "No text in an encoding that is read.",
    "UNSAFE_PATH": "A path that could lead out of the project.",
    "INVALID_TREE": "Git's directory listing is broken.",
    "SYMLINK_NOT_FOLLOWED": "A link; what it points to is not read.",
    "SUBMODULE_NOT_READ": "Another repository: only its id is kept.",
    "NOT_REGULAR": "Neither a file nor a directory.",
    "ALTERNATE_NOT_ALLOWED": "Objects in another repository's folder.",
    "GITDIR_OUTSIDE_PROJECT": "Its Git directory lies elsewhere.",
    "SHALLOW_BOUNDARY": "Parents are not in this clone.",
    "UNBORN_HEAD": "There is no commit yet.",
    "RENAME_LIMIT": "Too many files at once to look for renames.",
    "PARSER_LIMIT": "More structure than is taken apart.",
    "PARSE_ERROR": "Could not be taken apart.",
    "NO_GRAMMAR": "No grammar: text only, no symbols.",
    "BUDGET": "More than a batch may hold; cut, and counted.",
    "DEADLINE": "Took longer than it may.",
    "CHANGED_DURING_READ": "Changed while it was read.",
    "NORMALISATION_UNKNOWN": "Line ends or filters cannot be told.",
    "REDACTION_FAILED": "Secrets could not be cut out: not stored.",
}
