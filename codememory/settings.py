"""The one settings file; a value from the environment passes a strict reader or is refused."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

from codememory import database, env, home

ROOT = Path(__file__).resolve().parent.parent
VERSION = "0.1.0"
CODEMEMORY_HOME = home.folder()


def _secret(variable: str, file: str) -> tuple[str, str]:
    """The secret and where it came from; without a home yet, one for this process alone."""
    if given := env.text(variable):
        return given, "environment"
    if kept := home.read_secret(CODEMEMORY_HOME, file):
        return kept, "home"
    return secrets.token_urlsafe(48), "process"


SECRET_KEY, SECRET_KEY_ORIGIN = _secret("SECRET_KEY", home.SECRET_KEY)
_redaction_key, REDACTION_KEY_ORIGIN = _secret("CODEMEMORY_REDACTION_KEY", home.REDACTION_KEY)
CODEMEMORY_REDACTION_KEY = _redaction_key.encode()

DEBUG = env.boolean("CODEMEMORY_DEBUG", default=False)
ALLOWED_HOSTS = env.words("CODEMEMORY_ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.words("CODEMEMORY_TRUSTED_ORIGINS", [])

INSTALLED_APPS = [
    "codememory",  # before Django's own, so that its commands (`test`) win
    "review",
    "api",
    "django.contrib.admin.apps.SimpleAdminConfig",  # tables load with their addresses
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_q",
    "rest_framework",
    "drf_spectacular",
    "axes",
    "csp",
    "django_htmx",
]
MIGRATION_MODULES = {"codememory": "migrations"}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "codememory.session_limits.SessionLimits",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
]
ROOT_URLCONF = "codememory.urls"
ASGI_APPLICATION = "api.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ROOT / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# No pool: threads that end without closing would keep its places (the interfaces run in threads).
# What serves requests keeps sessions that were closed, see codememory.kept_connections.
DATABASES = {"default": database.database_settings(CODEMEMORY_HOME)}
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "codememory_cache",
    }
}

# The queue only carries a run's number. A lease starts when a row is fetched, not when it runs, so
# `retry` stays above timeout * (2 + queue_limit / workers).
CODEMEMORY_WORKERS = env.integer("CODEMEMORY_WORKERS", default=2)
Q_CLUSTER: dict[str, Any] = {
    "name": "codememory",
    "orm": "default",
    "broker_class": "codememory.broker.DatabaseClockBroker",
    "workers": CODEMEMORY_WORKERS,
    "queue_limit": 2,
    "bulk": 1,
    "poll": 0.5,
    "timeout": 300,
    "retry": 1200,
    "max_attempts": 1,
    "ack_failures": True,
    "daemonize_workers": False,
    "recycle": 100,
    "max_rss": 160_000,  # in KiB; a worker has 110,000 at first, which it shares with the others
    "save_limit": 500,
    "catch_up": False,
    "label": "Queue",
}

LANGUAGE_CODE = "en-gb"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"
STATIC_URL = "/static/"
WHITENOISE_USE_FINDERS = True

AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "/accounts/login/"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = LOGIN_URL
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = 0.25  # hours
AXES_RESET_ON_SUCCESS = True
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_VERBOSE = False
AXES_LOCKOUT_CALLABLE = "review.accounts.pause_sign_in"

# Behind HTTPS everything below is on. On 127.0.0.1 a browser would not send a Secure cookie over
# http everywhere, so these are off there and Django's warnings about them are answered here.
HTTPS = env.boolean("CODEMEMORY_HTTPS", default=False)
SESSION_COOKIE_NAME = "__Host-codememory-session" if HTTPS else "codememory-session"
SESSION_COOKIE_AGE = 8 * 3600  # after the last change of it
CODEMEMORY_SESSION_IDLE_SECONDS = 2 * 3600
CODEMEMORY_SESSION_SECONDS = 12 * 3600  # after signing in, whatever happened since
SESSION_COOKIE_SECURE = HTTPS
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_NAME = "__Host-codememory-csrf" if HTTPS else "codememory-csrf"
CSRF_COOKIE_SECURE = HTTPS
CSRF_COOKIE_HTTPONLY = True
CSRF_COOKIE_SAMESITE = "Strict"
SECURE_SSL_REDIRECT = HTTPS
# Only where a proxy on this machine sets X-Forwarded-Proto and -For itself, for every request.
CODEMEMORY_TRUST_PROXY = env.boolean("CODEMEMORY_TRUST_PROXY", default=False)
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if CODEMEMORY_TRUST_PROXY else None
USE_X_FORWARDED_HOST = False
DATA_UPLOAD_MAX_MEMORY_SIZE = 1 << 20
DATA_UPLOAD_MAX_NUMBER_FIELDS = 1_000
FILE_UPLOAD_HANDLERS: list[str] = []  # no page takes files
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_HSTS_PRELOAD = HTTPS
SILENCED_SYSTEM_CHECKS = (
    [] if HTTPS else ["security.W004", "security.W008", "security.W012", "security.W016"]
)
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
}

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "CodeMemory",
    "DESCRIPTION": "Engineering memory for coding agents.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
}

# Everything goes to stderr: with --json, stdout holds one document and nothing else.
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    "loggers": {
        "codememory": {"level": env.text("CODEMEMORY_LOG_LEVEL", "WARNING").upper()},
        "django-q": {"handlers": ["stderr"], "level": "INFO", "propagate": False},
    },
}
