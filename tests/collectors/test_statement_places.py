"""What the headings and the path of a sentence say of it; all sentences are our own."""

# ruff: noqa: RUF001 (Turkish has a dotless i)

from __future__ import annotations

import pytest

from collectors.documents import read_document
from collectors.policy import Policy
from collectors.statements import find_statements

POLICY = Policy(redaction_key=b"k" * 32)
RULE = "Every job must be idempotent."

PLAN_HEADINGS = [
    "To do", "ToDo list", "Road map", "Project plan", "Rollout plan", "Release plan for 2.0",
    "Feature plan", "Q3 plan", "Plans for 2026", "Plan: refunds", "Plan / Roadmap", "Phase 2",
    "Wishlist", "Not yet implemented", "Things to do", "Product road map 2027", "3. Migration plan",
    "Phase 3: moving the queue", "Q4 2026", "Long-term goals", "Refunds (planned)",
    "Export — not implemented", "Coming next", "Remaining work", "Milestone 4: search", "Backlog",
    "Yapılacaklar listesi", "Proje planı", "Geliştirme planı", "Faz 2: iadeler", "2. Aşama",
    "Ürün yol haritası", "Henüz yapılmayanlar", "Sonraki adımlar", "İstek listesi",
]  # fmt: skip
OTHER_HEADINGS = [
    "Planning permission", "Explain plan output", "Query plan", "Pricing plans", "Planner",
    "Incident response plan", "Plan for failure", "Plan to throw one away", "How we plan",
    "What to do when a job fails", "Disaster recovery plan", "Your current plan", "Phases of a job",
    "Futures and promises", "Sorgu planı", "Abonelik planları", "Planlayıcı",
]  # fmt: skip
PLAN_PATHS = [
    "docs/yol-haritasi.md", "docs/yol-haritası.md", "docs/planlar/iade.md", "docs/plans/q3.md",
    "ROADMAP.md", "docs/road-map.md", "TODO.md", "docs/release-plan.md", "docs/wishlist.md",
]  # fmt: skip
OTHER_PATHS = ["docs/query-plan.md", "docs/pricing-plans.md", "docs/planner.md", "docs/planning.md"]
DEAD_HEADINGS = [
    "Deprecated", "Deprecated rules", "Obsolete", "Removed features", "Imports (deprecated)",
    "No longer in force", "Previous decisions", "Kullanımdan kaldırılanlar", "Eski kurallar",
]  # fmt: skip


def _modalities(heading: str, path: str = "docs/notes.md", sentence: str = RULE) -> list[str]:
    text = f"# {heading}\n\n{sentence}\n".encode()
    document = read_document(path.encode(), "0" * 40, text, POLICY)
    return [statement.modality for statement in find_statements(document)]


@pytest.mark.parametrize("heading", PLAN_HEADINGS)
def test_a_heading_of_plans_makes_a_rule_planned(heading: str) -> None:
    assert _modalities(heading) == ["PLAN"]


@pytest.mark.parametrize("heading", OTHER_HEADINGS)
def test_a_heading_about_another_plan_leaves_a_rule_as_it_is(heading: str) -> None:
    assert _modalities(heading) == ["REQUIREMENT"]


@pytest.mark.parametrize("path", PLAN_PATHS)
def test_a_document_of_plans_makes_a_rule_planned(path: str) -> None:
    assert _modalities("Jobs", path) == ["PLAN"]


@pytest.mark.parametrize("path", OTHER_PATHS)
def test_a_document_about_another_plan_leaves_a_rule_as_it_is(path: str) -> None:
    assert _modalities("Jobs", path) == ["REQUIREMENT"]


@pytest.mark.parametrize("heading", ["Proposal for jobs", "RFC: jobs", "Jobs (draft)", "Öneri: iş"])
def test_a_heading_of_proposals_makes_a_rule_proposed(heading: str) -> None:
    assert _modalities(heading) == ["PROPOSAL"]


@pytest.mark.parametrize("heading", DEAD_HEADINGS)
def test_under_what_holds_no_more_nothing_is_a_statement(heading: str) -> None:
    assert _modalities(heading) == []


def test_a_policy_about_deprecation_is_in_force() -> None:
    assert _modalities("Deprecation policy") == ["REQUIREMENT"]
