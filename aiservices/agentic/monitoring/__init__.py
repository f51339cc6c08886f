"""What has run, kept for looking at: as values, and as a page for a browser."""

from .calls import CallStatus, MonitoredCall, MonitoredRun
from .monitor import Monitor, Redact

__all__ = ["CallStatus", "Monitor", "MonitoredCall", "MonitoredRun", "Redact"]
