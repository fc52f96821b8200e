"""What the REST endpoints accept: bounded parameters and bodies, and no unknown ones."""

from __future__ import annotations

from typing import Any, Self

from django.core.validators import ProhibitNullCharactersValidator, RegexValidator
from django.http import QueryDict
from rest_framework import serializers
from rest_framework.validators import ProhibitSurrogateCharactersValidator

from api import inputs
from codememory.listing import GAP_REASONS
from codememory.models import CandidateState, KnowledgeType, MemoryState, Modality, SourceKind


class Parameters(serializers.Serializer[Any]):
    """Query parameters; a misspelt name is an error to correct, not one to ignore."""

    @classmethod
    def of_query(cls, query: QueryDict) -> Self:
        """Read a query: a list is a name given several times, everything else is given once."""
        fields = cls().fields
        values: dict[str, Any] = {}
        for name, given in query.lists():
            is_list = isinstance(fields.get(name), serializers.ListField)
            values[name] = given if is_list or len(given) > 1 else given[0]
        return cls(data=values)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        unknown = sorted(set(self.initial_data) - set(self.fields))
        if unknown:
            raise serializers.ValidationError(dict.fromkeys(unknown, "Unknown parameter."))
        return attrs


def _choices(values: list[str] | tuple[str, ...]) -> serializers.ListField:
    child = serializers.ChoiceField(choices=list(values))
    return serializers.ListField(child=child, default=list, max_length=len(values))


NO_NUL = RegexValidator(r"^[^\u0000]*$")  # PostgreSQL's text cannot hold it; the schema says so


def _text(most: int, **options: Any) -> serializers.CharField:
    return serializers.CharField(
        min_length=1, max_length=most, trim_whitespace=False, validators=[NO_NUL], **options
    )


class QuestionField(serializers.CharField):
    """Any text that is not empty: what no column holds separates words when it is read."""

    def __init__(self) -> None:
        super().__init__(min_length=1, trim_whitespace=False)
        refusing = (ProhibitNullCharactersValidator, ProhibitSurrogateCharactersValidator)
        self.validators = [each for each in self.validators if not isinstance(each, refusing)]


class SearchParameters(Parameters):
    q = QuestionField()
    kind = _choices(inputs.KINDS)
    path = _text(inputs.MAX_PATH, default=None)
    limit = serializers.IntegerField(
        min_value=1, max_value=inputs.MAX_LIMIT, default=inputs.DEFAULT_LIMIT
    )
    cursor = _text(inputs.MAX_CURSOR, default=None)


class ContextParameters(Parameters):
    task = QuestionField()
    path = serializers.ListField(
        child=_text(inputs.MAX_PATH), default=list, max_length=inputs.MAX_NAMES
    )
    symbol = serializers.ListField(
        child=_text(inputs.MAX_NAME), default=list, max_length=inputs.MAX_NAMES
    )
    intent = _text(inputs.MAX_INTENT, default=None)
    budget = serializers.IntegerField(
        min_value=inputs.MIN_BUDGET, max_value=inputs.MAX_BUDGET, default=inputs.DEFAULT_BUDGET
    )
    cursor = _text(inputs.MAX_CURSOR, default=None)


class HistoryParameters(Parameters):
    subject = _text(inputs.MAX_PATH)
    limit = serializers.IntegerField(
        min_value=1, max_value=inputs.MAX_ROWS, default=inputs.DEFAULT_ROWS
    )
    cursor = _text(inputs.MAX_CURSOR, default=None)


class RowParameters(Parameters):
    path = _text(inputs.MAX_PATH, default=None)
    limit = serializers.IntegerField(
        min_value=1, max_value=inputs.MAX_ROWS, default=inputs.DEFAULT_ROWS
    )
    cursor = _text(inputs.MAX_CURSOR, default=None)


class CandidateParameters(RowParameters):
    state = _choices(CandidateState.values)
    type = _choices(KnowledgeType.values)
    modality = _choices(Modality.values)


class MemoryParameters(RowParameters):
    state = _choices(MemoryState.values)
    type = _choices(KnowledgeType.values)
    modality = _choices(Modality.values)


class GapParameters(RowParameters):
    reason = _choices(GAP_REASONS)


class RunRequest(Parameters):
    """The body that asks for runs; without sources, all that the owner allows."""

    sources = _choices(SourceKind.values)


# drf-spectacular cannot say that an object has no other members.
RUN_REQUEST_SCHEMA = {
    "type": "object",
    "description": "Without sources, all that the owner allows.",
    "properties": {
        "sources": {
            "type": "array",
            "items": {"type": "string", "enum": SourceKind.values},
            "maxItems": len(SourceKind.values),
        }
    },
    "additionalProperties": False,
}
