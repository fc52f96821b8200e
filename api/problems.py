"""Errors as application/problem+json (RFC 9457), for every REST endpoint."""

from __future__ import annotations

import logging
import math
from typing import Any

from django.http import Http404, HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.views import defaults
from rest_framework import exceptions
from rest_framework.response import Response

from api.errors import BAD_REQUEST, FAILED, NOT_FOUND, THROTTLED, Problem, problem_of

logger = logging.getLogger(__name__)
CONTENT_TYPE = "application/problem+json"
BELOW = "/api/"
RETRY_AFTER = "5"
TITLES = {
    400: "Bad request",
    401: "Not authenticated",
    403: "Forbidden",
    404: "Not found",
    405: "Method not allowed",
    406: "Not acceptable",
    409: "Conflict",
    413: "Too large",
    415: "Unsupported media type",
    429: "Too many requests",
    500: "Server error",
    503: "Unavailable",
}


def problem_response(error: Exception, _: dict[str, Any]) -> Response:
    """DRF's exception handler: every error becomes one of our problems."""
    if isinstance(error, exceptions.APIException):
        return _known_to_drf(error)
    problem = NOT_FOUND if isinstance(error, Http404) else problem_of(error)
    if problem is None or problem.status == FAILED.status:
        logger.error("a REST request failed", exc_info=error)
    answer = respond(problem or FAILED)
    if answer.status_code == 503:
        answer["Retry-After"] = RETRY_AFTER
    return answer


def body_of(problem: Problem, **more: Any) -> dict[str, Any]:
    """The members of RFC 9457, with our fixed `code`."""
    return {
        "type": "about:blank",
        "title": TITLES.get(problem.status, "Error"),
        "status": problem.status,
        "code": problem.code,
        "detail": problem.detail,
        **more,
    }


def respond(problem: Problem, **more: Any) -> Response:
    return Response(body_of(problem, **more), status=problem.status, content_type=CONTENT_TYPE)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """Django's answer to what it refuses before any view, such as a foreign Host."""
    return _plain(request, BAD_REQUEST) or defaults.bad_request(request, exception)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    return _plain(request, NOT_FOUND) or defaults.page_not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponseBase:
    return _plain(request, FAILED) or defaults.server_error(request)


def _plain(request: HttpRequest, problem: Problem) -> HttpResponseBase | None:
    """The problem where an agent asks; None anywhere else, where people read pages."""
    if not request.path_info.startswith(BELOW):
        return None
    return JsonResponse(body_of(problem), status=problem.status, content_type=CONTENT_TYPE)


def _known_to_drf(error: exceptions.APIException) -> Response:
    if isinstance(error, exceptions.Throttled):
        answer = respond(THROTTLED)
        answer["Retry-After"] = str(math.ceil(getattr(error, "wait", None) or 1))
        return answer
    status, code = error.status_code, str(error.default_code).upper()
    if isinstance(error, exceptions.ValidationError):
        parameters = Problem(400, "INVALID_PARAMETERS", "Some parameters are not acceptable.")
        return respond(parameters, errors=error.detail)
    answer = respond(Problem(status, code, str(error.detail)))
    if header := getattr(error, "auth_header", None):
        answer["WWW-Authenticate"] = header
    return answer
