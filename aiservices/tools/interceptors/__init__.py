"""Interceptors that come with the framework: one behaviour in each file."""

from .allowing import Allow, Deny
from .approving import Approval
from .guarding import ToolGuardrails
from .limiting import RateLimit
from .retrying import RetryCalls
from .timing import TimeLimit

__all__ = ["Allow", "Approval", "Deny", "RateLimit", "RetryCalls", "TimeLimit", "ToolGuardrails"]
