"""The names in the JSON of messages: see `wire`."""

from __future__ import annotations

from typing import Final

VERSION: Final = 1
UNKNOWN_FIELDS: Final = "unknown_fields"

MESSAGE_FIELDS: Final = {
    "system": frozenset({"type", "text", "attributes"}),
    "user": frozenset({"type", "contents", "name", "attributes"}),
    "ai": frozenset({"type", "text", "thinking", "tool_calls", "images", "attributes"}),
    "tool_result": frozenset({"type", "tool_call_id", "tool_name", "contents", "is_error", "attributes"}),
    "custom": frozenset({"type", "attributes"}),
}
TOOL_CALL_FIELDS: Final = frozenset({"id", "name", "arguments", "attributes"})
_MEDIA_FIELDS: Final = frozenset({"type", "url", "data", "media_type", "attributes"})
CONTENT_FIELDS: Final = {
    "text": frozenset({"type", "text", "attributes"}),
    "image": _MEDIA_FIELDS | {"detail"},
    "audio": _MEDIA_FIELDS,
    "video": _MEDIA_FIELDS,
    "pdf": _MEDIA_FIELDS | {"file_name"},
}
