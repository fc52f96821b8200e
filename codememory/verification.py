"""What an answer does not know: gaps of coverage and of verification, each with its reason."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import Count, Q

from codememory.checkout import Checkout
from codememory.models import (
    EvidenceLink,
    FileChange,
    GapRecord,
    Policy,
    Run,
    RunState,
    SourceKind,
    WorktreeDocument,
)
from codememory.path_filter import at_or_below, of_paths
from codememory.paths import shown_path
from codememory.symbol_lookup import textual_only
from collectors.values import GapReason

BOUNDARY = GapReason.SHALLOW_BOUNDARY.value


def _gap(reason: str, text: str, count: int | None = None, **more: Any) -> dict[str, Any]:
    return {"reason": reason, "count": count, "text": text, **more}


def coverage_gaps(checkout: Checkout, paths: Sequence[bytes]) -> list[dict[str, Any]]:
    """Return what of the project, and of the asked paths, was not read."""
    gaps = []
    if checkout.refused is not None:
        gaps.append(
            _gap(
                "SOURCE_UNAVAILABLE",
                f"the repository cannot be read now ({checkout.refused.reason}); "
                "code is not compared with what is there",
            )
        )
    if waiting := checkout.not_processed():
        gaps.append(
            _gap("NOT_YET_PROCESSED", f"{waiting} commits of HEAD are not collected yet", waiting)
        )
    if waiting := _documents_waiting(checkout):
        text = f"{waiting} documents of HEAD are not collected yet"
        gaps.append(_gap("NOT_YET_PROCESSED", text, waiting))
    if (boundary := _shallow_boundary(checkout)) is not None:
        gaps.append(_gap("SHALLOW", "history before a shallow boundary is not here", boundary))
    return gaps + _skipped(checkout, paths)


def _documents_waiting(checkout: Checkout) -> int:
    """How many allowed documents of HEAD are not stored as it has them."""
    same = {"scope_id": checkout.scope_id, "worktree_id": checkout.worktree.pk}
    done = Run.objects.filter(**same, source=SourceKind.DOCUMENTS, state=RunState.DONE)
    if not checkout.is_readable or done.filter(head_oid=checkout.head.oid).exists():
        return 0
    policy = Policy.objects.filter(scope_id=checkout.scope_id).latest("generation")
    if SourceKind.DOCUMENTS not in policy.sources:
        return 0
    rows = WorktreeDocument.objects.filter(**same)
    stored = rows.values_list("path__raw", "revision__object_oid")
    entries = ((checkout.tree.get(bytes(raw)), oid) for raw, oid in stored)
    read = sum(entry is not None and entry.oid == oid for entry, oid in entries)
    return max(0, checkout.document_count() - read)


def _shallow_boundary(checkout: Checkout) -> int | None:
    """How many commits have parents that are not here; None where history is whole."""
    snapshot = checkout.snapshot
    if snapshot is not None and not snapshot.is_shallow:
        return None  # a clone that was shallow once may have been completed since
    rows = GapRecord.objects.filter(scope_id=checkout.scope_id, reason=BOUNDARY)
    return rows.values("commit_oid").distinct().count() or None


def _skipped(checkout: Checkout, paths: Sequence[bytes]) -> list[dict[str, Any]]:
    """Gaps on the asked paths, by path and reason."""
    gaps = [
        _gap(
            "SKIPPED_FILES",
            f"{shown_path(path)}: {count} versions not read ({reason})",
            count,
            path=shown_path(path),
            skipped_for=reason,
        )
        for path in paths
        for reason, count in _gaps_of(checkout.scope_id, path)
    ]
    for path in paths:
        path_class, rule = checkout.policy.classify(path)
        if path_class in {"EXCLUDED", "PROTECTED"}:
            text = f"{shown_path(path)} is never read ({path_class}, rule {rule})"
            gaps.append(
                _gap("SKIPPED_FILES", text, path=shown_path(path), skipped_for=path_class.value)
            )
    return gaps


def _gaps_of(scope_id: int, path: bytes) -> list[tuple[str, int]]:
    """Count the versions of a file, or of what lies below a folder, that were not read, by reason.

    Documents are recorded by path; history by object, since each is read once for all its paths.
    """
    asked = at_or_below(scope_id, path)
    changes = FileChange.objects.filter(scope_id=scope_id).filter(of_paths(asked))
    by_object = Q()
    for side in ("old_oid", "new_oid"):
        by_object |= Q(object_oid__in=changes.values(f"content_change__{side}"))
    rows = GapRecord.objects.filter(scope_id=scope_id)
    rows = rows.filter(Q(path_id__in=asked) | Q(by_object, path=None))
    found = rows.values_list("reason").annotate(n=Count("object_oid", distinct=True))
    return [(reason, max(count, 1)) for reason, count in found.order_by("reason")]


def verification_gaps(
    checkout: Checkout,
    paths: Sequence[bytes],
    rules: Sequence[dict[str, Any]],
    changes: Sequence[dict[str, Any]],
    others: Iterable[dict[str, Any]],
) -> list[dict[str, Any]]:
    """Return everything the answer leaves open; never hidden, sometimes empty but for coverage."""
    gaps = coverage_gaps(checkout, paths)
    if rules or changes:
        gaps.append(
            _gap("NO_EXECUTION_RECORD", "no recorded run of tests says that any of this passes")
        )
    with_code = _rules_with_code(checkout, rules)
    for rule in rules:
        if rule["id"] not in with_code:
            gaps.append(
                _gap(
                    "RULE_WITHOUT_IMPLEMENTATION_LINK",
                    f"{rule['id']} is linked to its document only, to no code that carries it out",
                    claim=rule["id"],
                )
            )
        if rule["verdict"] == "HISTORICAL":
            gaps.append(
                _gap(
                    "LINK_BROKEN",
                    f"the evidence of {rule['id']} no longer stands in its document",
                    claim=rule["id"],
                )
            )
    contents = {int(i[1:].partition(".")[0]) for c in changes for i in c["evidence_ids"]}
    if textual := textual_only(checkout.scope_id, contents):
        text = f"{textual} of the {len(contents)} shown contents are compared as text only"
        gaps.append(_gap("TEXTUAL_ONLY", f"{text}: no symbols were read of them", textual))
    lost = [
        i["id"] for i in (*rules, *changes, *others) if i["verdict_method"] == "SOURCE_UNAVAILABLE"
    ]
    if lost:
        gaps.append(
            _gap("SOURCE_UNAVAILABLE", f"the source of {', '.join(lost)} is gone", len(lost))
        )
    return gaps


def _rules_with_code(checkout: Checkout, rules: Sequence[dict[str, Any]]) -> set[str]:
    """The rules that cite a piece of code: a segment that was cut from a commit's change."""
    numbers = [int(rule["id"][1:]) for rule in rules]
    cited = EvidenceLink.objects.filter(
        scope_id=checkout.scope_id, memory_id__in=numbers, segment__revision__kind=SourceKind.GIT
    )
    return {f"M{pk}" for pk in cited.values_list("memory_id", flat=True)}


def coverage(checkout: Checkout, git: dict[str, Any], documents: dict[str, Any]) -> dict[str, Any]:
    """Return the frontier an answer rests on."""
    return {
        "head": checkout.head.oid,
        "branch": checkout.head.branch,
        SourceKind.GIT.value: {k: git[k] for k in ("state", "reachable", "processed")},
        SourceKind.DOCUMENTS.value: {k: documents[k] for k in ("state", "reachable", "processed")},
    }
