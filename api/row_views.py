"""The REST endpoints over what is stored: changes, documents, candidates, memories; all read-only.

Nothing here decides on a candidate: people do that in the console.
"""

from __future__ import annotations

from drf_spectacular.utils import extend_schema_view
from rest_framework.request import Request
from rest_framework.response import Response

from api.answers import item_of, rows_of
from api.endpoint import AgentView, respond_fitted
from api.fence import lowered_limit, shortened
from api.openapi import describe
from api.outputs import (
    CandidateItem,
    CandidatePage,
    ChangeItem,
    ChangePage,
    DocumentItem,
    DocumentPage,
    GapPage,
    MemoryItem,
    MemoryPage,
)
from api.serializers import CandidateParameters, GapParameters, MemoryParameters, RowParameters
from codememory.items import MOST_PARTS


class RowsView(AgentView):
    """A page of rows, oldest first."""

    kind = ""
    parameters = RowParameters

    def get(self, request: Request, project: str) -> Response:  # noqa: ARG002
        asked, chosen = self.asked(), self.project(project)
        return respond_fitted(
            lambda limit: rows_of(chosen, self.kind, limit, asked), asked["limit"], lowered_limit
        )


class ItemView(AgentView):
    """One item with what belongs to it."""

    kind = ""

    def get(self, request: Request, project: str, item_id: str) -> Response:  # noqa: ARG002
        self.asked()
        chosen = self.project(project)
        return respond_fitted(
            lambda most: item_of(chosen, self.kind, item_id, most), MOST_PARTS, shortened
        )


@extend_schema_view(
    get=describe("list_changes", "File changes, as Git shows them.", ChangePage, RowParameters)
)
class ChangesView(RowsView):
    kind = "changes"


@extend_schema_view(
    get=describe("get_change", "A logical change (L12) or one file change of it (F12).", ChangeItem)
)
class ChangeView(ItemView):
    kind = "changes"


@extend_schema_view(
    get=describe("list_documents", "The documents of HEAD.", DocumentPage, RowParameters)
)
class DocumentsView(RowsView):
    kind = "documents"


@extend_schema_view(get=describe("get_document", "A revision of a document.", DocumentItem))
class DocumentView(ItemView):
    kind = "documents"


@extend_schema_view(
    get=describe(
        "list_candidates", "What was proposed, by rule.", CandidatePage, CandidateParameters
    )
)
class CandidatesView(RowsView):
    kind = "candidates"
    parameters = CandidateParameters


@extend_schema_view(
    get=describe("get_candidate", "A candidate, its evidence, its decisions.", CandidateItem)
)
class CandidateView(ItemView):
    kind = "candidates"


@extend_schema_view(
    get=describe("list_memories", "What people promoted.", MemoryPage, MemoryParameters)
)
class MemoriesView(RowsView):
    kind = "memories"
    parameters = MemoryParameters


@extend_schema_view(get=describe("get_memory", "A memory and its evidence.", MemoryItem))
class MemoryView(ItemView):
    kind = "memories"


@extend_schema_view(
    get=describe("list_gaps", "What exists and was not read, and why.", GapPage, GapParameters)
)
class GapsView(RowsView):
    kind = "gaps"
    parameters = GapParameters
