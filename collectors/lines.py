"""Lines of a file as byte ranges: CRLF, a lone CR and LF each end one."""

from __future__ import annotations

import re

_LINE_END = re.compile(rb"\r\n|\r|\n")


class Lines:
    """0-based lines of `content` from byte `first`; `ends` are before the line ends."""

    def __init__(self, content: bytes, first: int = 0) -> None:
        self.content = content
        found = [(match.start(), match.end()) for match in _LINE_END.finditer(content, first)]
        self.starts = [first, *(after for _, after in found)]
        self.ends = [*(before for before, _ in found), len(content)]

    def __len__(self) -> int:
        return len(self.starts)

    def text(self, line: int) -> bytes:
        return self.content[self.starts[line] : self.ends[line]]

    def is_blank(self, line: int) -> bool:
        return not self.text(line).strip()
