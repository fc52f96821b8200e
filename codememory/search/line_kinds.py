"""What a path and a line are for search: code, comment, test, documentation, change log, settings.

Guesses by name and shape alone, used only to weigh fields; nothing else may rest on them.
"""

from __future__ import annotations

import re
from enum import StrEnum


class PathKind(StrEnum):
    CODE = "code"
    TEST = "test"
    DOC = "doc"
    CHANGELOG = "chg"
    CONFIG = "cfg"


_CHANGELOG = re.compile(
    r"(?:^|/)(?:changes|changelogs?|news|history|releases?|release[-_]?notes)(?:\.\w+)?$"
    r"|(?:^|/)(?:changes|changelogs?|news|newsfragments|releasenotes)(?:\.d)?/",
    re.IGNORECASE,
)
_TEST = re.compile(
    r"(?:^|/)(?:tests?|testing|testsuite|specs?|__tests__|fixtures)/"
    r"|(?:^|/)(?:test_[^/]*|conftest|[^/]*[._-](?:test|tests|spec))\.\w+$",
    re.IGNORECASE,
)
_DOC = re.compile(
    r"\.(?:md|markdown|mdx|rst|txt|adoc|asciidoc|org|tex|html?)$|(?:^|/)docs?/"
    r"|(?:^|/)(?:readme|authors|license|contributing|copying|todo)[^/]*$",
    re.IGNORECASE,
)
_CONFIG = re.compile(
    r"\.(?:toml|ya?ml|cfg|conf|ini|json|lock|xml|properties|env|in|mk|cmake|nix|gradle)$"
    r"|(?:^|/)(?:makefile|dockerfile|jenkinsfile|cmakelists\.txt|\.[^/.]+|setup\.py|"
    r"requirements[^/]*\.txt)$",
    re.IGNORECASE,
)
_COMMENT = re.compile(
    r"\s*(?:#(?!include|define|if|endif|else|pragma)|//|/\*|\*(?:\s|/|$)|--\s|;;|<!--|%\s"
    r"|\"\"\"|''{2})"
)
_PROSE = re.compile(
    "\\s*[A-Za-z`*'(\"-][\\w`'\u2019(),/.:-]*(?:\\s+[\\w`'\"(),/.:;*\u2019=-]+){3,}\\s*$"
)
_CODE_MARK = re.compile(
    r"[=;{}]|\w\(|:\s*$|^\s*(?:import|from|return|if|for|while|def|class|raise|assert|with|elif"
    r"|else|except|try|yield|async|await|not|and|or)\b"
)
DEFINITION = re.compile(
    r"^[ \t]*(?:(?:export|default|public|private|protected|static|async|abstract|final|pub"
    r"(?:\([a-z]+\))?|unsafe|extern|inline|const|virtual|override)[ \t]+)*"
    r"(?:def|class|function\*?|func|fn|struct|interface|trait|enum|union|module|namespace|type"
    r"|macro_rules!|impl|sub|proc|record|object|protocol)[ \t]+(?:\([^)]*\)[ \t]*)?"
    r"([A-Za-z_$][\w$]*)",
    re.MULTILINE,
)
C_DEFINITION = re.compile(r"^[A-Za-z_][\w \t*]*?\b([A-Za-z_]\w*)\([^;]*$", re.MULTILINE)
_C_PATH = re.compile(r"\.(?:c|h|cc|cpp|cxx|hpp|hh|java|cs|m|mm)$", re.IGNORECASE)


def path_kind(path: str) -> PathKind:
    """The first that fits: a change log below docs/ is a change log."""
    if _CHANGELOG.search(path):
        return PathKind.CHANGELOG
    if _TEST.search(path):
        return PathKind.TEST
    if _CONFIG.search(path):
        return PathKind.CONFIG
    return PathKind.DOC if _DOC.search(path) else PathKind.CODE


def is_comment(line: str) -> bool:
    """A comment mark, or a sentence in the middle of code (a docstring's body)."""
    if _COMMENT.match(line):
        return True
    return _CODE_MARK.search(line) is None and _PROSE.match(line) is not None


def definitions(text: str, path: str) -> list[str]:
    """Names that lines of this text define."""
    names = DEFINITION.findall(text)
    if _C_PATH.search(path):
        names += C_DEFINITION.findall(text)
    return names
