"""What an answer does not know: gaps of coverage and of verification, each with its reason."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import Count

from codememory.checkout import Checkout
from codememory.models import GapRecord, SourceKind
from codememory.paths import path_digest, shown_path

HISTORY_REASONS = ("SHALLOW_BOUNDARY",)


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
    rows = GapRecord.objects.filter(scope_id=checkout.scope_id)
    if boundary := rows.filter(reason="SHALLOW_BOUNDARY").count():
        gaps.append(_gap("SHALLOW", "history before a shallow boundary is not here", boundary))
    return gaps + _skipped(checkout, paths)


def _skipped(checkout: Checkout, paths: Sequence[bytes]) -> list[dict[str, Any]]:
    """Gaps on the asked paths, by path and reason."""
    if not paths:
        return []
    found = (
        GapRecord.objects.filter(
            scope_id=checkout.scope_id, path__digest__in=[path_digest(path) for path in paths]
        )
        .values_list("path__raw", "reason")
        .annotate(n=Count("pk"))
        .order_by("path__raw", "reason")
    )
    gaps = [
        _gap(
            "SKIPPED_FILES",
            f"{shown_path(bytes(raw))}: {count} versions not read ({reason})",
            count,
            path=shown_path(bytes(raw)),
            skipped_for=reason,
        )
        for raw, reason, count in found
    ]
    for path in paths:
        path_class, rule = checkout.policy.classify(path)
        if path_class in {"EXCLUDED", "PROTECTED"}:
            text = f"{shown_path(path)} is never read ({path_class}, rule {rule})"
            gaps.append(
                _gap("SKIPPED_FILES", text, path=shown_path(path), skipped_for=path_class.value)
            )
    return gaps


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
    for rule in rules:
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
    if changes:
        gaps.append(_gap("TEXTUAL_ONLY", "changes are compared as text: no symbols are read yet"))
    lost = [
        i["id"] for i in (*rules, *changes, *others) if i["verdict_method"] == "SOURCE_UNAVAILABLE"
    ]
    if lost:
        gaps.append(
            _gap("SOURCE_UNAVAILABLE", f"the source of {', '.join(lost)} is gone", len(lost))
        )
    return gaps


def coverage(checkout: Checkout, git: dict[str, Any], documents: dict[str, Any]) -> dict[str, Any]:
    """Return the frontier an answer rests on."""
    return {
        "head": checkout.head.oid,
        "branch": checkout.head.branch,
        SourceKind.GIT.value: {k: git[k] for k in ("state", "reachable", "processed")},
        SourceKind.DOCUMENTS.value: {k: documents[k] for k in ("state", "reachable", "processed")},
    }
