"""Reading a declaration: a Protocol's methods become `MethodSpec`s, once, with all complaints."""

from .answers import Answer, AnswerForm, Delivery
from .decorated import refilled
from .hints import is_written_by_user
from .protocols import ServiceSpec, read_service, read_whole_service
from .specs import MessageSource, MethodSpec, Needs, Part, Stub

__all__ = [
    "Answer",
    "AnswerForm",
    "Delivery",
    "MessageSource",
    "MethodSpec",
    "Needs",
    "Part",
    "ServiceSpec",
    "Stub",
    "is_written_by_user",
    "read_service",
    "read_whole_service",
    "refilled",
]
