"""Builds `engineering_context`: seven sections about a task, bounded, judged and cited."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import F

from codememory.change_results import change_results
from codememory.checkout import Checkout
from codememory.claim_results import candidate_results, memory_results, section_results
from codememory.models import Candidate, EntryKind, FileChange, Memory, MemoryState, Project
from codememory.narrowing import applies, applies_to
from codememory.path_filter import at_or_below, of_paths
from codememory.paths import raw_path, shown_path
from codememory.question import Question, ask, rule_matches
from codememory.search.query import Page, search_each
from codememory.search.query import search as find
from codememory.status import document_coverage, git_coverage
from codememory.symbol_lookup import changes_of_symbols
from codememory.verification import coverage, verification_gaps

RULES, CHANGES, INTENT, CANDIDATES = 20, 12, 6, 4
RULES_ASKED = 50  # memories that a question's terms reach, before the rule's own test
PATH_CHANGES = 4  # newest changes of an asked path, whatever their words
PROVENANCE_BYTES = 160  # about what one cited id adds to the provenance
FIXED_BYTES = 900  # about what gaps, coverage and the frame take
BYTES_A_TOKEN = 4  # estimate: UTF-8 bytes / 4 over-counts code by a tenth
INTENT_SHARE = 0.5  # of the best score: weaker texts are no documented intent of this task
CHANGE_SHARE = 0.35
INTENDED = ("PLAN", "PROPOSAL")  # what is only meant to be: no rule, whoever kept it
ALWAYS_ONE = ("applicable_rules", "relevant_changes")


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """What is asked: a task in words, and optionally paths and symbols it is about."""

    task: str
    paths: tuple[bytes, ...] = ()
    symbols: tuple[str, ...] = ()
    intent: str | None = None
    budget: int = 4000  # estimated tokens of the answer
    offset: int = 0  # changes that earlier pages gave

    @property
    def text(self) -> str:
        """The words by which texts and changes are found."""
        paths = " ".join(path.decode("utf-8", "replace") for path in self.paths)
        return " ".join([self.task, self.intent or "", *self.symbols, paths]).strip()


@dataclass(slots=True)
class _Budget:
    """Counts the answer's bytes; what does not fit is named in `omitted`."""

    left: int
    omitted: dict[str, int] = field(default_factory=dict)

    def take(self, section: str, items: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        taken: list[dict[str, Any]] = []
        for position, item in enumerate(items):
            size = len(json.dumps(item, ensure_ascii=False).encode())
            size += PROVENANCE_BYTES * len(item["evidence_ids"])
            # The first rule and the first change come whatever their size: an answer without
            # them would hide that there are any, and its continuation would never move on.
            if size > self.left and (taken or section not in ALWAYS_ONE):
                self.omitted[section] = len(items) - position
                break
            self.left -= size
            taken.append(item)
        return taken


def over_budget(answer: Mapping[str, Any], budget: int) -> str | None:
    """Say that an answer is larger than was asked for, and why; None where it is not."""
    size = len(json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode())
    tokens = -(-size // BYTES_A_TOKEN)
    if tokens <= budget:
        return None
    return (
        f"About {tokens} tokens, more than the {budget} asked for: gaps, coverage, the best rule "
        "and the best change come whatever the budget."
    )


def build_context(project: Project, request: ContextRequest) -> tuple[dict[str, Any], int | None]:
    """Return the answer and the offset of its continuation (None: there is no more)."""
    question = ask(project.scope_id, request.text)
    with Checkout(project) as checkout:
        budget = _Budget(max(0, request.budget * BYTES_A_TOKEN - FIXED_BYTES))
        kept, elsewhere = _kept(checkout, question, request)
        plans = [item for item in kept if item["modality"] in INTENDED]
        rules = [item for item in kept if item["modality"] not in INTENDED]
        rules = budget.take("applicable_rules", rules[:RULES])
        found, has_more = _changes(checkout, question, request)
        changes = budget.take("relevant_changes", found)
        intent = budget.take("documented_intent", [*plans, *_intent(checkout, question)])
        links = budget.take("current_code_links", _code_links(checkout, request, changes))
        answer: dict[str, Any] = {
            "applicable_rules": rules,
            "current_code_links": links,
            "relevant_changes": changes,
            "documented_intent": intent,
            "conflicts": _conflicts(checkout, rules),
            "verification_gaps": verification_gaps(
                checkout, request.paths, [*rules, *plans], changes, intent
            ),
            "provenance": _provenance([*rules, *changes, *intent]),
            "omitted": [
                {"section": name, "count": count, "reason": "BUDGET"}
                for name, count in budget.omitted.items()
            ]
            + _elsewhere(elsewhere),
            "coverage": coverage(checkout, git_coverage(checkout), document_coverage(checkout)),
        }
    is_cut = len(changes) < len(found) or has_more
    return answer, request.offset + len(changes) if is_cut and changes else None


def _find(
    checkout: Checkout, question: Question, kind: str, most: int, path: bytes | None = None
) -> Page:
    known = {checkout.scope_id: question.known}
    return find([checkout.scope_id], question.text, [kind], path, most, known=known)


def _kept(
    checkout: Checkout, question: Question, request: ContextRequest
) -> tuple[list[dict[str, Any]], list[Memory]]:
    """Active memories that the task is about, by their own words: rules, and plans kept as such.

    Beside them those that are narrowed to a path or a symbol which the question does not touch.
    """
    page = _find(checkout, question, EntryKind.MEMORY, RULES_ASKED)
    rows = Memory.objects.filter(scope_id=checkout.scope_id, state=MemoryState.ACTIVE)
    memories = rows.in_bulk([hit.target_id for hit in page.hits])
    statements = {pk: memory.statement for pk, memory in memories.items()}
    shares = rule_matches(checkout.scope_id, question, statements)
    results = memory_results(checkout, [pk for pk, share in shares.items() if share])
    matched, elsewhere = [], []
    for hit in page.hits:
        result = results.get(hit.target_id)
        if result is None:
            continue
        memory, share = memories[hit.target_id], shares[hit.target_id]
        if not applies(memory, request.text, request.paths, request.symbols):
            elsewhere.append(memory)
            continue
        matched.append({**result, "score": round(hit.score, 4), "match": round(share, 3)})
    matched.sort(key=lambda item: (-item["match"], item["id"]))
    return matched, elsewhere


def _elsewhere(memories: Sequence[Memory]) -> list[dict[str, Any]]:
    """Say which rules with these words hold elsewhere only, and where."""
    if not memories:
        return []
    rules = [{"id": f"M{memory.pk}", "applies_to": applies_to(memory)} for memory in memories]
    left = {"section": "applicable_rules", "count": len(rules), "reason": "NARROWED"}
    return [{**left, "rules": rules}]


def _changes(
    checkout: Checkout, question: Question, request: ContextRequest
) -> tuple[list[dict[str, Any]], bool]:
    """Changes found by the words, and the newest ones of the asked paths; and is there more?"""
    only = frozenset(request.paths)
    scores: dict[int, float] = {}
    for path in request.paths or (None,):
        wanted = request.offset + CHANGES + 1
        page = _find(checkout, question, EntryKind.CHANGE, wanted, path)
        best = page.hits[0].score if page.hits else 0.0
        for hit in page.hits:
            if hit.score >= best * CHANGE_SHARE:
                scores[hit.target_id] = max(hit.score, scores.get(hit.target_id, 0.0))
    by_words = sorted(scores, key=lambda pk: (-scores[pk], -pk))
    # What changed last of an asked symbol or path comes whatever its words: in the middle of the
    # first page, below the best hits and before the weak ones.
    by_symbol = changes_of_symbols(checkout.scope_id, request.symbols, PATH_CHANGES)
    by_path = newest_changes(checkout, request.paths, PATH_CHANGES)
    newest = list(dict.fromkeys([*by_symbol, *by_path]))[:CHANGES]
    head = [pk for pk in by_words[: CHANGES - len(newest)] if pk not in newest]
    tail = [pk for pk in by_words if pk not in newest and pk not in head]
    ranked = [*head, *newest, *tail][request.offset :]
    shown = change_results(checkout, ranked[:CHANGES], question.weights, only)
    results = [
        {
            **shown[pk],
            "score": round(scores.get(pk, 0.0), 4),
            "found_by": _found_by(pk, scores, by_symbol),
        }
        for pk in ranked[:CHANGES]
        if pk in shown
    ]
    return results, len(ranked) > CHANGES


def _found_by(pk: int, scores: Mapping[int, float], by_symbol: Sequence[int]) -> str:
    return "symbol" if pk in by_symbol else "words" if pk in scores else "path"


def newest_changes(checkout: Checkout, paths: Sequence[bytes], most: int) -> list[int]:
    """Return the logical changes that touched each file or folder last, the newest first."""
    found: list[int] = []
    for path in paths:
        # `+ 0`: with the plain column the planner walks all commits back until it has found some.
        rows = (
            FileChange.objects.filter(scope_id=checkout.scope_id, logical_change__isnull=False)
            .filter(of_paths(at_or_below(checkout.scope_id, path)))
            .order_by((F("commit_id") + 0).desc(), "pk")
            .values_list("logical_change_id", flat=True)
        )
        found += list(dict.fromkeys(rows[: most * 4]))[:most]
    return found


def _intent(checkout: Checkout, question: Question) -> list[dict[str, Any]]:
    """What documents say about it: sections as observed, candidates as provisional."""
    items: list[dict[str, Any]] = []
    most_of = {EntryKind.SECTION.value: INTENT, EntryKind.CANDIDATE.value: CANDIDATES}
    most = max(most_of.values())
    found = search_each(checkout.scope_id, question.text, list(most_of), most, question.known)
    for kind, of_kind in found.items():
        best = of_kind[0].score if of_kind else 0.0
        hits = [hit for hit in of_kind[: most_of[kind]] if hit.score >= best * INTENT_SHARE]
        show = section_results if kind == EntryKind.SECTION else candidate_results
        results = show(checkout, [hit.target_id for hit in hits])
        for hit in hits:
            result = results.get(hit.target_id)
            # A promoted candidate is among the rules, a rejected one was decided against.
            if result is not None and result["standing"] in {"observed", "provisional"}:
                items.append({**result, "score": round(hit.score, 4)})
    return items


def _code_links(
    checkout: Checkout, request: ContextRequest, changes: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Files of now: those asked for, and those in which relevant changes still stand."""
    links: dict[str, dict[str, Any]] = {}
    for path in request.paths:
        current = checkout.current(path)
        name = shown_path(path) or ""
        links[name] = {
            "path": name,
            "is_present": current is not None or checkout.has_folder(path),
            "is_dirty": bool(current and current.is_dirty),
            "object_id": current.oid if current else None,
            "evidence_ids": [],
        }
    for change in changes:
        if change["verdict"] != "CURRENT_SUPPORTED":
            continue
        name = change["verdict_path"] or change["new_path"]
        current = checkout.current(raw_path(name)) if name else None
        if current is None:
            continue
        link = links.setdefault(
            name,
            {
                "path": name,
                "is_present": True,
                "is_dirty": current.is_dirty,
                "object_id": current.oid,
                "evidence_ids": [],
            },
        )
        link["evidence_ids"] += [i for i in change["evidence_ids"] if i.startswith("A")][:2]
    return list(links.values())


def _conflicts(checkout: Checkout, rules: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rules that contradict each other's subject, or whose evidence changed since promotion."""
    conflicts: list[dict[str, Any]] = []
    ids = [int(rule["id"][1:]) for rule in rules]
    memories = Memory.objects.filter(scope_id=checkout.scope_id).in_bulk(ids)
    for rule in rules:
        memory = memories[int(rule["id"][1:])]
        if rule["verdict"] in {"RECHECK_REQUIRED", "HISTORICAL"}:
            text = f"{rule['id']} is active, but its source now reads otherwise"
            conflicts.append({"kind": "EVIDENCE_CHANGED", "ids": [rule["id"]], "text": text})
        if not memory.subject:
            continue
        same = {"scope_id": checkout.scope_id, "subject": memory.subject}
        others = Memory.objects.filter(**same, state=MemoryState.ACTIVE).exclude(pk=memory.pk)
        pending = Candidate.objects.filter(**same, state="PENDING").exclude(pk=memory.candidate_id)
        rivals = [f"M{pk}" for pk in others.values_list("pk", flat=True)[:5]]
        rivals += [f"C{pk}" for pk in pending.values_list("pk", flat=True)[:5]]
        if rivals:
            text = f"{rule['id']} and {', '.join(rivals)} speak of the same subject"
            conflicts.append({"kind": "SAME_SUBJECT", "ids": [rule["id"], *rivals], "text": text})
    return conflicts


def _provenance(items: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """One line for each cited evidence id: where it is from."""
    lines: dict[str, dict[str, Any]] = {}
    for item in items:
        for evidence_id in item["evidence_ids"]:
            lines.setdefault(
                evidence_id,
                {
                    "evidence_id": evidence_id,
                    "source": "git" if item["kind"] == "change" else "documents",
                    "commit": item["commit"],
                    "path": item["old_path"]
                    if evidence_id.startswith("B") and item["old_path"]
                    else item["new_path"] or item["old_path"],
                    "of": item["id"],
                },
            )
    return list(lines.values())


def request_digest(project: Project, request: ContextRequest) -> str:
    """Identify a question, so that a cursor of another one is refused."""
    parts = [project.slug, request.text, *map(repr, request.paths)]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]
