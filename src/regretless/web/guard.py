"""Which requests are let in, and what every answer says to the browser.

A server on this machine can be reached by any page in the user's browser. So:

1. The Host header must name this machine: otherwise a foreign name that resolves to 127.0.0.1 would make that page's
   scripts same-origin (DNS rebinding).
2. The Origin header, if there is one, must be this server. Browsers also say in Sec-Fetch-Site where a request comes
   from.
3. A body is refused by its announced length before it is read; `endpoint` counts what actually arrives.
4. Answers forbid everything that the page does not need: outside hosts, inline scripts, frames.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Iterable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from regretless.web.endpoint import BODY_LIMIT, refusal_json

__all__ = ["Guard", "is_loopback"]

POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
_HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?")


def is_loopback(host: str) -> bool:
    """Whether a host name is this machine as seen from itself.

    >>> is_loopback("localhost"), is_loopback("127.0.0.1"), is_loopback("[::1]"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    address = _address(host)
    return host.lower() == "localhost" if address is None else address.is_loopback


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None


class Guard:
    """Middleware that refuses requests from elsewhere."""

    def __init__(self, app: ASGIApp, host: str = "127.0.0.1") -> None:
        self.app = app
        self.host = host.lower()

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

        why = self._why_not(scope)
        if why is not None:
            await refusal_json(*why)(scope, receive, send_guarded)
            return
        await self.app(scope, receive, send_guarded)

    def _why_not(self, scope: Scope) -> tuple[int, str, str] | None:
        hosts = _values(scope, b"host")
        if len(hosts) != 1 or not self._is_ours(hosts[0]):
            return 403, "forbidden", "this server answers only requests for the machine it runs on"
        for origin in _values(scope, b"origin"):
            if origin.lower() not in (f"http://{hosts[0]}".lower(), f"https://{hosts[0]}".lower()):
                return 403, "forbidden", "requests from other sites are refused"
        foreign = {"cross-site", "same-site"} & {each.lower() for each in _values(scope, b"sec-fetch-site")}
        if foreign and scope["path"].startswith("/api/"):
            return 403, "forbidden", "requests from other sites are refused"
        for length in _values(scope, b"content-length"):
            if not length.isdigit() or len(length) > 18 or int(length) > BODY_LIMIT:
                return 413, "too-large", f"the body has more than {BODY_LIMIT:,} bytes"
        return None

    def _is_ours(self, header: str) -> bool:
        match = _HOST.fullmatch(header)
        if match is None:
            return False
        name = match[1].lower()
        if is_loopback(name) or name.strip("[]") == self.host:
            return True
        if is_loopback(self.host):
            return False
        return _address(name) is not None or name == socket.gethostname().lower()  # served to a network on purpose


def _values(scope: Scope, name: bytes) -> list[str]:
    headers: Iterable[tuple[bytes, bytes]] = scope["headers"]
    return [value.decode("latin-1") for key, value in headers if key == name]
