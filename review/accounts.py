"""Sign-in, the one-time link that sets a password, and a person's own page."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth import login, update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import PasswordChangeForm, SetPasswordForm
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView, LogoutView
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from codememory import audit
from codememory.people import actor_of, end_sign_in_link, find_sign_in_link
from review.access import KEYS_COOKIE, signed_in
from review.forms import SignInForm

MODEL_BACKEND = "django.contrib.auth.backends.ModelBackend"
YEAR = 365 * 24 * 3600


@method_decorator(never_cache, name="dispatch")
class SignIn(LoginView):
    """Django's sign-in with our form, and an audit row for each success and failure."""

    form_class = SignInForm
    template_name = "registration/login.html"
    redirect_authenticated_user = True

    def form_valid(self, form: Any) -> HttpResponse:
        answer = super().form_valid(form)
        audit.record("sign-in", actor=actor_of(form.get_user()))
        return answer

    def form_invalid(self, form: Any) -> HttpResponse:
        known = User.objects.filter(username=form.cleaned_data.get("username", "")).first()
        # An unknown name may be a password typed into the wrong field: it is not written down.
        subject = f"user {known.pk}" if known else "unknown user"
        audit.record("sign-in.failed", subject=subject, address=self.request.META["REMOTE_ADDR"])
        return self.render_to_response(self.get_context_data(form=form), status=401)


@method_decorator(never_cache, name="dispatch")
class SignOut(LogoutView):
    """Django's sign-out with an audit row; POST only."""

    http_method_names = ["post", "options"]

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.user.is_authenticated:
            audit.record("sign-out", actor=actor_of(signed_in(request)))
        return super().post(request, *args, **kwargs)


def pause_sign_in(
    request: HttpRequest, response: HttpResponse | None, credentials: dict[str, Any]
) -> HttpResponse:
    """Answer while too many failures pause sign-in (named by AXES_LOCKOUT_CALLABLE)."""
    del response, credentials  # what the page says is the same as for every failure
    form = SignInForm(request, data=request.POST)
    answer = render(request, "registration/login.html", {"form": form}, status=429)
    answer["Retry-After"] = str(int(settings.AXES_COOLOFF_TIME * 3600))
    return answer


@never_cache
@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def start(request: HttpRequest, token: str) -> HttpResponse:
    """Set the password of a one-time link's account, and sign in. Opening it uses nothing up."""
    link = find_sign_in_link(token)
    if link is None:
        return render(request, "registration/link_ended.html", status=404)
    user = link.user
    form = SetPasswordForm(user, request.POST or None)
    if request.method != "POST" or not form.is_valid():
        context = {"form": form, "account": user}
        status = 422 if form.is_bound else 200
        return render(request, "registration/start.html", context, status=status)
    with transaction.atomic():
        if not end_sign_in_link(link):
            return render(request, "registration/link_ended.html", status=404)
        form.save()
        audit.record("sign-in-link.used", actor=actor_of(user), subject=f"user {user.pk}")
    login(request, user, backend=MODEL_BACKEND)
    return redirect("review:home")


@never_cache
@login_required
@sensitive_post_parameters()
def account(request: HttpRequest) -> HttpResponse:
    """Show a person's account; a changed password ends their other sessions."""
    user = signed_in(request)
    form = PasswordChangeForm(user, request.POST or None)
    if request.method == "POST" and form.is_valid():
        with transaction.atomic():
            form.save()
            audit.record("password.change", actor=actor_of(user), subject=f"user {user.pk}")
        update_session_auth_hash(request, user)
        return redirect("review:account")
    keys_off = request.COOKIES.get(KEYS_COOKIE) == "off"
    status = 422 if form.errors else 200
    context = {"form": form, "keys_off": keys_off, "place": "account"}
    return render(request, "registration/account.html", context, status=status)


@never_cache
@login_required
@require_POST
def switch_keys(request: HttpRequest) -> HttpResponse:
    """Switch single-key shortcuts on or off in this browser."""
    answer = redirect("review:account")
    if request.POST.get("keys") == "off":
        answer.set_cookie(
            KEYS_COOKIE, "off", YEAR, httponly=True, samesite="Lax", secure=settings.HTTPS
        )
    else:
        answer.delete_cookie(KEYS_COOKIE)
    return answer
