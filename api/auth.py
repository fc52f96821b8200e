"""Bearer tokens at the two doors: REST (Django REST framework) and MCP over HTTP.

Only the Authorization header counts; cookies and addresses never do.
"""

from __future__ import annotations

from asgiref.sync import sync_to_async
from django.contrib.auth.models import AnonymousUser
from django.db import close_old_connections
from mcp.server.auth.provider import AccessToken, TokenVerifier
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed, Throttled
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from api.errors import ScopeMissingError
from api.refusals import note_refusal
from api.throttle import stranger_waits
from codememory import tokens
from codememory.models import ApiToken, TokenScope

REALM = 'Bearer realm="codememory"'


class BearerAuthentication(BaseAuthentication):
    """Takes `Authorization: Bearer cmt_...`; the token is then `request.auth`."""

    def authenticate(self, request: Request) -> tuple[AnonymousUser, ApiToken] | None:
        header = get_authorization_header(request).decode("latin-1")
        kind, _, plain = header.partition(" ")
        token = tokens.verify(plain.strip()) if kind.lower() == "bearer" else None
        if token is None and (wait := stranger_waits(request.META.get("REMOTE_ADDR", ""))):
            raise Throttled(wait)
        if kind.lower() != "bearer":
            return None
        if token is None:
            note_refusal(header, request.META.get("REMOTE_ADDR", ""))
            raise AuthenticationFailed("The token is unknown, expired or revoked.")
        return AnonymousUser(), token

    def authenticate_header(self, request: Request) -> str:  # noqa: ARG002 -- DRF's signature
        return REALM


class HasScope(BasePermission):
    """The token has the scope that the endpoint needs."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        wanted = TokenScope(getattr(view, "scope", TokenScope.READ))
        self.message = str(ScopeMissingError(wanted.value))
        return isinstance(request.auth, ApiToken) and wanted in request.auth.scopes


class BearerVerifier(TokenVerifier):
    """What the MCP server asks for every HTTP request."""

    async def verify_token(self, token: str) -> AccessToken | None:
        # Not the thread-sensitive thread: all requests would wait in line for that one.
        return await sync_to_async(_verify, thread_sensitive=False)(token)


def _verify(plain: str) -> AccessToken | None:
    close_old_connections()
    try:
        row = tokens.verify(plain)
    finally:
        close_old_connections()
    if row is None:
        return None
    # `client_id` is the row's number: all that a tool needs to know whom it answers.
    return AccessToken(token=row.prefix, client_id=str(row.pk), scopes=list(row.scopes))
