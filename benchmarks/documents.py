"""How fast documents are read and searched for statements: `documents.py FOLDER...`."""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path

from collectors.documents import is_document, read_document
from collectors.policy import Policy
from collectors.statements import find_statements


def main(folders: list[str]) -> None:
    policy = Policy(redaction_key=b"benchmark" * 4)
    counts: Counter[str] = Counter()
    reading = finding = 0.0
    slowest = (0.0, "")
    for folder in folders:
        for path in sorted(Path(folder).rglob("*")):
            if not path.is_file() or not is_document(bytes(path)):
                continue
            content = path.read_bytes()
            started = time.process_time()
            document = read_document(bytes(path.relative_to(folder)), "0" * 40, content, policy)
            read = time.process_time()
            found = find_statements(document)
            ended = time.process_time()
            reading += read - started
            finding += ended - read
            slowest = max(slowest, (ended - started, str(path)))
            counts["documents"] += 1
            counts["bytes"] += len(content)
            counts["segments"] += len(document.segments)
            counts["statements"] += len(found)
            counts.update(f"gap {gap.reason}" for gap in document.gaps)
            counts.update(f"modality {one.modality}" for one in found)
    for name, count in counts.items():
        print(f"{name}: {count}")
    megabytes = counts["bytes"] / 1e6
    print(f"read: {reading:.2f} s of processor, {megabytes / max(reading, 1e-9):.1f} MB/s")
    print(f"statements: {finding:.2f} s of processor, {megabytes / max(finding, 1e-9):.1f} MB/s")
    print(f"slowest: {slowest[0]:.3f} s, {slowest[1]}")


if __name__ == "__main__":
    main(sys.argv[1:])
