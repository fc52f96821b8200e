"""What the REST endpoints accept: bounded parameters, and no unknown ones."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from api import inputs


class Parameters(serializers.Serializer[Any]):
    """Query parameters; a misspelt name is an error to correct, not one to ignore."""

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        unknown = sorted(set(self.initial_data) - set(self.fields))
        if unknown:
            raise serializers.ValidationError(dict.fromkeys(unknown, "Unknown parameter."))
        return attrs


class SearchParameters(Parameters):
    q = serializers.CharField(max_length=inputs.MAX_QUESTION)
    kind = serializers.ListField(
        child=serializers.ChoiceField(choices=inputs.KINDS), default=list, max_length=4
    )
    path = serializers.CharField(max_length=inputs.MAX_PATH, default=None, trim_whitespace=False)
    limit = serializers.IntegerField(
        min_value=1, max_value=inputs.MAX_LIMIT, default=inputs.DEFAULT_LIMIT
    )
    cursor = serializers.CharField(max_length=inputs.MAX_CURSOR, default=None)


class ContextParameters(Parameters):
    task = serializers.CharField(max_length=inputs.MAX_QUESTION)
    path = serializers.ListField(
        child=serializers.CharField(max_length=inputs.MAX_PATH, trim_whitespace=False),
        default=list,
        max_length=inputs.MAX_NAMES,
    )
    symbol = serializers.ListField(
        child=serializers.CharField(max_length=inputs.MAX_NAME),
        default=list,
        max_length=inputs.MAX_NAMES,
    )
    intent = serializers.CharField(max_length=40, default=None)
    budget = serializers.IntegerField(
        min_value=inputs.MIN_BUDGET, max_value=inputs.MAX_BUDGET, default=inputs.DEFAULT_BUDGET
    )
    cursor = serializers.CharField(max_length=inputs.MAX_CURSOR, default=None)
