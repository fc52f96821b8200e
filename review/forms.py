"""What the console accepts: the queue's filters, the forms of a decision, a batch, members."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm

from codememory.models import NarrowKind, Role
from review.batches import MAX_BATCH, BatchAction
from review.outcomes import Shown
from review.terms import MAX_PLACE, Terms
from review.words import MAX_REASON, one_line

SIGN_IN_FAILED = (
    "That user name and password do not match. After 5 tries sign-in pauses for 15 minutes."
)
STATES = [
    ("pending", "Open"),
    ("deferred", "Deferred"),
    ("promoted", "Promoted"),
    ("rejected", "Rejected"),
    ("superseded", "Superseded"),
    ("any", "All"),
]
FLAGS = [
    ("INSTRUCTION_LIKE", "addresses an AI"),
    ("UNTRUSTED_INSTRUCTIONS", "from an instruction file"),
]
LARGEST = 2**63 - 1
_NUMBERS = r"(?:[0-9]{1,18}(?:-[0-9]{1,18})*)?"
_PIECE = r"[0-9]{1,18}\.[0-9]{1,18}"
_PICK = re.compile(rf"([0-9]{{1,18}})\.([0-9]{{1,9}})\.([0-9a-f]{{64}})\.({_NUMBERS})")


class SignInForm(AuthenticationForm):
    """One message for every failure: a wrong password, an unknown or disabled account, a pause."""

    error_messages = {"invalid_login": SIGN_IN_FAILED, "inactive": SIGN_IN_FAILED}


class NumbersField(forms.Field):
    """Numbers of rows, as often as the address names them; at most a batch of them."""

    widget = forms.MultipleHiddenInput

    def to_python(self, value: Any) -> list[int]:
        texts = value or []
        if len(texts) > MAX_BATCH or not all(re.fullmatch(r"[0-9]{1,18}", t) for t in texts):
            raise forms.ValidationError("not numbers of candidates")
        return [int(text) for text in texts]


class ShownForm(forms.Form):
    """Says what the reviewer had in view when they decided."""

    version = forms.IntegerField(min_value=1, max_value=2**31 - 1)
    shown = forms.RegexField(r"^[0-9a-f]{64}$")
    rivals = forms.RegexField(rf"^{_NUMBERS}$", required=False, max_length=400)
    seen = forms.RegexField(rf"^(?:{_PIECE}(?:-{_PIECE})*)?$", required=False, max_length=500_000)
    said = forms.RegexField(r"^[a-z_]+\.[A-Z]+\.[A-Z_-]*\.[0-9]*$", required=False, max_length=400)
    back = forms.ChoiceField(choices=[("queue", "queue"), ("page", "page")], required=False)
    sure = forms.ChoiceField(choices=[("yes", "yes")], required=False)

    def value(self) -> Shown:
        """Return it for a decision that does not depend on rivals; the form must be valid."""
        return Shown(self.cleaned_data["version"], bytes.fromhex(self.cleaned_data["shown"]))

    def value_with_rivals(self) -> Shown:
        """Return it for a decision that makes a memory beside others."""
        shown = self.value()
        return Shown(shown.version, shown.digest, numbers_in(self.cleaned_data["rivals"]))

    @property
    def is_sure(self) -> bool:
        """Whether they were asked once more, and meant it."""
        return bool(self.cleaned_data["sure"])

    @property
    def evidence_seen(self) -> set[str]:
        """The evidence that was in view, as "segment.start"."""
        return {key for key in self.cleaned_data["seen"].split("-") if key}


class ReasonForm(ShownForm):
    """A decision with a reason; whether one is required the action says."""

    reason = forms.CharField(max_length=MAX_REASON, required=False)

    def clean_reason(self) -> str:
        return one_line(self.cleaned_data["reason"])


class SupersedeForm(ShownForm):
    memory = forms.IntegerField(min_value=1, max_value=LARGEST)


class ConfirmForm(ShownForm):
    """A second reviewer's promotion of what was endorsed."""

    endorsement = forms.IntegerField(min_value=1, max_value=LARGEST)


class TermsForm(ShownForm):
    """A promotion on other terms: what is wrong with them the action says.

    `memory` is what it supersedes; `again` shows the form once more with what was typed.
    """

    wording = forms.CharField(max_length=20_000, required=False, strip=False)
    narrow_kind = forms.ChoiceField(
        choices=[("", "Everywhere"), *NarrowKind.choices], required=False
    )
    narrow_to = forms.CharField(max_length=MAX_PLACE, required=False, strip=False)
    context = forms.CharField(max_length=MAX_REASON, required=False)
    memory = forms.IntegerField(min_value=1, max_value=LARGEST, required=False)
    again = forms.ChoiceField(choices=[("yes", "yes")], required=False)

    def terms(self, part: str) -> Terms:
        """What was typed; the part that the form was opened for is never left out silently."""
        said = self.cleaned_data
        return Terms(
            wording=said["wording"],
            narrow_kind=said["narrow_kind"],
            narrow_to=said["narrow_to"],
            context=said["context"] or (" " if part == "context" else ""),
        )


class MergeForm(ShownForm):
    """Into which candidate or memory (C5, M3), and what of it was in view."""

    into = forms.RegexField(r"^(?:[CM][0-9]{1,18}\|[0-9A-Za-z.]{1,90})?$", required=False)

    @property
    def target(self) -> tuple[str, str]:
        name, _, seen = self.cleaned_data["into"].partition("|")
        return name, seen


class TargetForm(forms.Form):
    """The address of the merging form: which other candidate or memory to show too."""

    into = forms.CharField(max_length=20, required=False)


class PreviewForm(forms.Form):
    """What is to be previewed: an action and the selected candidates."""

    action = forms.ChoiceField(choices=[(action.value, action.value) for action in BatchAction])
    c = NumbersField(required=False)


@dataclass(frozen=True, slots=True)
class Pick:
    """A candidate of a confirmed batch, with what its preview showed."""

    number: int
    shown: Shown


class PicksField(forms.Field):
    widget = forms.MultipleHiddenInput

    def to_python(self, value: Any) -> list[Pick]:
        found = [_PICK.fullmatch(text) for text in value or []]
        if len(found) > MAX_BATCH or not all(found):
            raise forms.ValidationError("not a preview of this console")
        return [
            Pick(int(m[1]), Shown(int(m[2]), bytes.fromhex(m[3]), numbers_in(m[4])))
            for m in found
            if m
        ]


class BatchForm(forms.Form):
    """The confirmation of a preview."""

    action = forms.ChoiceField(choices=[(action.value, action.value) for action in BatchAction])
    pick = PicksField()
    reason = forms.CharField(required=False)


class BatchUndoForm(forms.Form):
    batch = forms.UUIDField()


class AddMemberForm(forms.Form):
    name = forms.CharField(max_length=150)
    role = forms.ChoiceField(choices=Role.choices)


class MemberForm(forms.Form):
    """A member as the form showed them: `was` is their role then."""

    was = forms.ChoiceField(choices=Role.choices)


class RoleForm(MemberForm):
    role = forms.ChoiceField(choices=Role.choices)


class SecondReviewerForm(forms.Form):
    second_reviewer = forms.ChoiceField(choices=[("on", "on"), ("off", "off")])


def numbers_in(text: str) -> frozenset[int]:
    return frozenset(int(number) for number in text.split("-") if number)
