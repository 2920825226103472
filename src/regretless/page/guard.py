"""Which requests are let in, and what every answer says to the browser.

A server on this machine can be reached by every user of the machine, and by any page in the user's browser. So:

1. The Host header must be a name or an address of this machine, or one that `serve` was given: otherwise a foreign name
   that resolves to 127.0.0.1 would make that page's scripts same-origin (DNS rebinding).
2. The Origin header, if there is one, must be this server. Browsers also say in Sec-Fetch-Site where a request comes
   from.
3. Every request must carry the server's token. The address that `serve` prints has it as `?token=…`; the first visit
   exchanges it for a cookie and a redirect to the same address without it. Scripts send `Authorization: Bearer …`.
4. A body is refused by its announced length before it is read; `endpoint` counts what actually arrives.
5. Answers forbid everything that the page does not need: outside hosts, inline scripts, frames.
"""

from __future__ import annotations

import ipaddress
import re
import secrets
import socket
from base64 import b64encode
from collections.abc import Iterable, Sequence
from hashlib import sha256
from html import escape
from urllib.parse import unquote

from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from regretless.page.endpoint import BODY_LIMIT, refusal_json

__all__ = ["Guard", "is_loopback", "new_token"]

# The style of the page without a token, which gets no other file.
_REFUSED_STYLE = (
    "body{max-width:36rem;margin:15vh auto;padding:0 1rem;font:1rem/1.5 system-ui,sans-serif}"
    "h1{font-size:1.4rem;line-height:1.2}"
)
_STYLE_HASH = b64encode(sha256(_REFUSED_STYLE.encode()).digest()).decode()
POLICY = (
    f"default-src 'self'; style-src 'self' 'sha256-{_STYLE_HASH}'; img-src 'self' data:; object-src 'none'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
NEEDS_TOKEN = (
    "this server needs its token: open the address that regretless serve printed, which ends in ?token=…, "
    "or send Authorization: Bearer with the token"
)
_REFUSED_PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="color-scheme" content="light dark">
<meta name="viewport" content="width=device-width"><title>Regretless</title>
<style>{style}</style>{refresh}</head>
<body>
<h1>This page needs the token of its server</h1>
<p>Open the address that <code>regretless serve</code> printed in its terminal: it ends in <code>?token=…</code>. Each
server has a token of its own, so a tab or bookmark of an earlier one needs this once; then its links work again.</p>
</body>
</html>
"""
_HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?")


def new_token() -> str:
    """A token that nobody guesses: 32 random bytes as URL-safe text."""
    return secrets.token_urlsafe(32)


def is_loopback(host: str) -> bool:
    """Whether a host name is this machine as seen from itself.

    >>> is_loopback("localhost"), is_loopback("127.0.0.1"), is_loopback("[::1]"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    address = _address(host)
    return host.lower() == "localhost" if address is None else address.is_loopback


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


class Guard:
    """Middleware that refuses requests from elsewhere, and those without the token unless it is None."""

    def __init__(
        self, app: ASGIApp, *, token: str | None, host: str = "127.0.0.1", other_hosts: Sequence[str] = ()
    ) -> None:
        self.app = app
        self.token = token
        self.is_local = is_loopback(host)
        names = (host, *other_hosts) if self.is_local else (host, socket.gethostname(), *other_hosts)
        self.known_hosts = {each.lower().strip("[]") for each in names}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [*message["headers"], *HEADERS]
                names = {name for name, _ in headers}
                if b"cache-control" not in names:
                    stored = b"no-store" if scope["path"].startswith("/api/") else b"no-cache"
                    headers.append((b"cache-control", stored))
                message = {**message, "headers": headers}
            await send(message)

        answer = self._refusal(scope)
        await (self.app if answer is None else answer)(scope, receive, send_guarded)

    def _refusal(self, scope: Scope) -> Response | None:
        """Why a request is not let in, or the redirect that lets the next one in."""
        hosts = _values(scope, b"host")
        match = _HOST.fullmatch(hosts[0]) if len(hosts) == 1 else None
        if match is None or not self._is_ours(match[1].lower(), scope):
            return _forbidden("this server answers only requests for the machine it runs on")
        for origin in _values(scope, b"origin"):
            if origin.lower() not in (f"http://{hosts[0]}".lower(), f"https://{hosts[0]}".lower()):
                return _forbidden("requests from other sites are refused")
        foreign = {"cross-site", "same-site"} & {each.lower() for each in _values(scope, b"sec-fetch-site")}
        if foreign and scope["path"].startswith("/api/"):
            return _forbidden("requests from other sites are refused")
        if self.token is not None:
            cookie = f"regretless-{match[2] or 80}"  # browsers send a host's cookies to each of its ports
            if scope["method"] == "GET" and self._is_token(*_query_tokens(scope)):
                return _redirect(scope, f"{cookie}={self.token}; Path=/; HttpOnly; SameSite=Strict")
            if not self._is_token(*_bearers(scope), *_cookies(scope, cookie)):
                return _without_token(scope)
        for length in _values(scope, b"content-length"):
            if not length.isdigit() or len(length) > 18 or int(length) > BODY_LIMIT:
                return refusal_json(413, "too-large", f"the body has more than {BODY_LIMIT:,} bytes")
        return None

    def _is_token(self, *texts: str) -> bool:
        """Whether one of the texts is the token; how long that takes tells nothing about it."""
        token = (self.token or "").encode()
        return any(secrets.compare_digest(text.encode(), token) for text in texts)

    def _is_ours(self, host: str, scope: Scope) -> bool:
        if is_loopback(host) or host.strip("[]") in self.known_hosts:
            return True
        address, reached = _address(host), scope.get("server") or ("", None)
        return not self.is_local and address is not None and address == _address(str(reached[0]))


def _forbidden(sentence: str) -> Response:
    return refusal_json(403, "forbidden", sentence)


def _without_token(scope: Scope) -> Response:
    """A page for people, JSON for scripts.

    A browser keeps a `SameSite=Strict` cookie back when a link on another site leads here, so that page loads its
    address once more by itself.
    """
    reads_pages = any("text/html" in each for each in _values(scope, b"accept"))
    if scope["method"] != "GET" or not reads_pages or scope["path"].startswith(("/api/", "/static/")):
        return _forbidden(NEEDS_TOKEN)
    refresh = ""
    if "cross-site" in _values(scope, b"sec-fetch-site"):
        refresh = f'<meta http-equiv="refresh" content="0; url={escape(_without_query_token(scope))}">'
    return HTMLResponse(_REFUSED_PAGE.format(style=_REFUSED_STYLE, refresh=refresh), 403)


def _redirect(scope: Scope, cookie: str) -> Response:
    headers = {"location": _without_query_token(scope), "set-cookie": cookie, "cache-control": "no-store"}
    return Response(status_code=303, headers=headers)


def _without_query_token(scope: Scope) -> str:
    path = "/" + scope["raw_path"].decode("latin-1").lstrip("/\\")  # "//name" would lead to another host
    query = "&".join(part for part in _query(scope) if not part.startswith("token="))
    return f"{path}?{query}" if query else path


def _query(scope: Scope) -> list[str]:
    return [part for part in scope["query_string"].decode("latin-1").split("&") if part]


def _query_tokens(scope: Scope) -> list[str]:
    return [unquote(part.removeprefix("token=")) for part in _query(scope) if part.startswith("token=")]


def _bearers(scope: Scope) -> list[str]:
    parts = (each.partition(" ") for each in _values(scope, b"authorization"))
    return [token.strip() for scheme, _, token in parts if scheme.lower() == "bearer"]


def _cookies(scope: Scope, name: str) -> list[str]:
    parts = (part.strip() for each in _values(scope, b"cookie") for part in each.split(";"))
    return [part.removeprefix(f"{name}=") for part in parts if part.startswith(f"{name}=")]


def _values(scope: Scope, name: bytes) -> list[str]:
    headers: Iterable[tuple[bytes, bytes]] = scope["headers"]
    return [value.decode("latin-1") for key, value in headers if key == name]
