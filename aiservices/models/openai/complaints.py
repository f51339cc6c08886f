"""Reading the error objects of OpenAI's language, wherever they come: as a body, an answer, in a stream."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..failures import Failure


def complaint_in(data: Mapping[str, Any]) -> object:
    """The error object that came in place of an answer or of one of its pieces, else `None`."""
    if error := data.get("error"):
        return error
    return data if data.get("object") == "error" or data.get("type") == "error" else None


def failure_from(
    error: object,
    *,
    status: int | None = None,
    request_id: str | None = None,
    retry_after: float | None = None,
) -> Failure:
    """The failure that an error object, or a server's own idea of one, speaks of."""
    text, code, details = str(error or ""), None, None
    if isinstance(error, Mapping):
        # Where the code is a number it is the status, and the type says more.
        told = [str(error[key]) for key in ("code", "type") if error.get(key)]
        code = next((word for word in told if not word.isdigit()), None)
        if status is None:
            status = next((int(word) for word in told if word.isdigit()), None)
        text = str(error.get("message") or error.get("detail") or error.get("error") or code or "")
        details = _filter_details(error)
    return Failure(
        text, status=status, code=code, request_id=request_id, retry_after=retry_after, details=details
    )


def _filter_details(error: Mapping[str, Any]) -> dict[str, Any] | None:
    inner = error.get("innererror")
    return {"innererror": inner} if isinstance(inner, Mapping) else None
