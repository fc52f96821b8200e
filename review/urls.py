"""Addresses of the console, included by codememory.urls."""

from __future__ import annotations

from django.urls import path

from review import accounts, views

app_name = "review"
urlpatterns = [
    path("", views.home, name="home"),
    path("keys/", views.keys, name="keys"),
    path("projects/", views.projects, name="projects"),
    path("projects/<slug:slug>/review/", views.queue, name="queue"),
    path("projects/<slug:slug>/candidates/<int:number>/", views.candidate, name="candidate"),
    path("projects/<slug:slug>/candidates/<int:number>/promote", views.promote, name="promote"),
    path("projects/<slug:slug>/candidates/<int:number>/reject", views.reject, name="reject"),
    path("projects/<slug:slug>/candidates/<int:number>/undo", views.undo, name="undo"),
    path("accounts/", accounts.account, name="account"),
    path("accounts/login/", accounts.SignIn.as_view(), name="login"),
    path("accounts/logout/", accounts.SignOut.as_view(), name="logout"),
    path("accounts/keys/", accounts.switch_keys, name="switch_keys"),
    path("accounts/start/<str:token>/", accounts.start, name="start"),
]
