"""What the console accepts: the queue's filters, the two forms of a decision, a reason."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm

from codememory.models import KnowledgeType, Modality
from review.actions import MAX_REASON, Shown

SIGN_IN_FAILED = (
    "That user name and password do not match. After 5 tries sign-in pauses for 15 minutes."
)
STATES = [
    ("pending", "Open"),
    ("promoted", "Promoted"),
    ("rejected", "Rejected"),
    ("any", "All"),
]


class SignInForm(AuthenticationForm):
    """One message for every failure: a wrong password, an unknown or disabled account, a pause."""

    error_messages = {"invalid_login": SIGN_IN_FAILED, "inactive": SIGN_IN_FAILED}


class QueueForm(forms.Form):
    """The queue's address: every part is optional, and an unknown value is refused."""

    state = forms.ChoiceField(choices=STATES, required=False)
    type = forms.ChoiceField(choices=KnowledgeType.choices, required=False)
    modality = forms.ChoiceField(choices=Modality.choices, required=False)
    q = forms.CharField(max_length=200, required=False)
    after = forms.RegexField(r"^[01]\.[0-9]{1,18}$", required=False)
    at = forms.IntegerField(min_value=0, max_value=2**63 - 1, required=False)


class ShownForm(forms.Form):
    """Says what the reviewer had in view when they decided."""

    version = forms.IntegerField(min_value=1, max_value=2**31 - 1)
    shown = forms.RegexField(r"^[0-9a-f]{64}$")
    back = forms.ChoiceField(choices=[("queue", "queue"), ("page", "page")], required=False)

    def value(self) -> Shown:
        """Return it; the form must be valid."""
        return Shown(self.cleaned_data["version"], bytes.fromhex(self.cleaned_data["shown"]))


class RejectForm(ShownForm):
    reason = forms.CharField(max_length=MAX_REASON, required=False)

    def clean_reason(self) -> Any:
        return " ".join(self.cleaned_data["reason"].split())
