"""Reading a declaration: a Protocol's methods become `MethodSpec`s, once, with all complaints."""

from .answers import Answer, AnswerForm
from .protocols import ServiceSpec, read_service
from .specs import MessageSource, MethodSpec, Part

__all__ = ["Answer", "AnswerForm", "MessageSource", "MethodSpec", "Part", "ServiceSpec", "read_service"]
