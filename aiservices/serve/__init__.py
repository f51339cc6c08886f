"""Doors to the web."""

from .sse import server_sent_events

__all__ = ["server_sent_events"]
