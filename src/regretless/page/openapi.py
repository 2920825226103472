"""The OpenAPI description of the API, from the same tables that check requests."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from regretless import __version__
from regretless.page.endpoint import Endpoint
from regretless.page.schema import Schema

__all__ = ["openapi"]

ERROR: Schema = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message", "field", "position"],
            "properties": {
                "code": {"type": "string"},
                "message": {"type": "string", "description": "one sentence"},
                "field": {"type": ["string", "null"]},
                "position": {"type": ["integer", "null"]},
            },
        }
    },
}


def openapi(endpoints: Sequence[Endpoint], prefix: str) -> dict[str, Any]:
    """The description of these endpoints, in OpenAPI 3.1."""
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in endpoints:
        paths.setdefault(prefix + endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Regretless",
            "version": __version__,
            "description": "Set up, solve, browse, lock and practise hold'em spots. Errors are one sentence each.",
        },
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": {"Error": ERROR},
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The token in the address that `regretless serve` prints. The page has it as a "
                    "cookie. Requests without it are answered with 403, unless the server runs with --no-token.",
                }
            },
        },
    }


def _operation(endpoint: Endpoint) -> dict[str, Any]:
    media = "text/event-stream" if endpoint.streams else "application/json"
    refused = {
        "description": "refused",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
    }
    operation: dict[str, Any] = {
        "summary": endpoint.summary,
        "operationId": re.sub(r"\W+", "_", f"{endpoint.method.lower()}{endpoint.path}").strip("_"),
        "parameters": [_parameter(name, "path", {"type": "string"}) for name in re.findall(r"\{(\w+)\}", endpoint.path)]
        + [_parameter(name, "query", schema) for name, schema in endpoint.query.items()],
        "responses": {
            str(endpoint.status): {"description": "done", "content": {media: {"schema": endpoint.answer}}},
            "4XX": refused,
        },
    }
    if endpoint.body is not None:
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": endpoint.body}}}
    return operation


def _parameter(name: str, where: str, schema: Schema) -> dict[str, Any]:
    required = where == "path" or "default" not in schema
    return {"name": name, "in": where, "required": required, "schema": schema}
