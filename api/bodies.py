"""Reads the JSON bodies of requests: bounded, and without the liberties that parsers differ in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import IO, Any, NoReturn

from rest_framework import status
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import JSONParser

MAX_BODY_BYTES = 16 * 1024  # a request names a few sources; nothing longer is read


class BodyTooLargeError(APIException):
    """The body is longer than any request of this interface."""

    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_detail = f"A body has at most {MAX_BODY_BYTES} bytes."
    default_code = "body_too_large"


class StrictJsonParser(JSONParser):
    """UTF-8 JSON without NaN, infinities and repeated keys, nested as deep as Python can follow."""

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,  # noqa: ARG002 -- DRF's signature
        parser_context: Mapping[str, Any] | None = None,  # noqa: ARG002
    ) -> dict[str, Any]:
        raw = stream.read(MAX_BODY_BYTES + 1)
        if len(raw) > MAX_BODY_BYTES:
            raise BodyTooLargeError
        try:
            parsed: dict[str, Any] = json.loads(
                raw.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_refuse
            )
        except (ValueError, RecursionError):
            raise ParseError("The body is not acceptable JSON.") from None
        return parsed


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is repeated")
    return found


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)
