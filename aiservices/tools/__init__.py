"""Tools: functions that a model may ask for, how they are run, and how they are undone."""

from ..context import ToolContext
from ..errors import ToolError
from ..messages import ToolExecution, ToolSpec
from .compensating import CompensationMode, because_of, because_of_tools, undo_all, undo_late
from .execution import DrivenInterceptor, Interceptor, ToolExecutor, ToolInterceptor
from .functions import ReturnBehavior, Tool, tool
from .identifying import ids_in, with_unique_ids
from .interceptors import Allow, Approval, Deny, RateLimit, RetryCalls, TimeLimit, ToolGuardrails
from .leases import LEASE_SECONDS
from .ledger import Done, Effect, Ledger, Round
from .limits import DEFAULT_LIMITS, Limits, check_calls, check_reasks, check_tokens, in_time, remaining
from .log import CompensationLog
from .offering import Assortment, Offering, ToolProvider, ToolRequest
from .outcomes import ToolOutcome
from .policies import Policies, Policy
from .recovering import Recovery, arecover, recover
from .registry import NO_TOOLS, ToolLike, ToolRegistry, ToolSource, tools_of
from .rounds import in_turns, is_immediate, refuse_calls, run_calls, run_round
from .searching import EmbeddingToolSearch, KeywordToolSearch, ToolSearch
from .toolbox import DEFAULT_TOOLBOX, Caller, Toolbox

__all__ = [
    "DEFAULT_LIMITS",
    "DEFAULT_TOOLBOX",
    "LEASE_SECONDS",
    "NO_TOOLS",
    "Allow",
    "Approval",
    "Assortment",
    "Caller",
    "CompensationLog",
    "CompensationMode",
    "Deny",
    "Done",
    "DrivenInterceptor",
    "Effect",
    "EmbeddingToolSearch",
    "Interceptor",
    "KeywordToolSearch",
    "Ledger",
    "Limits",
    "Offering",
    "Policies",
    "Policy",
    "RateLimit",
    "Recovery",
    "RetryCalls",
    "ReturnBehavior",
    "Round",
    "TimeLimit",
    "Tool",
    "ToolContext",
    "ToolError",
    "ToolExecution",
    "ToolExecutor",
    "ToolGuardrails",
    "ToolInterceptor",
    "ToolLike",
    "ToolOutcome",
    "ToolProvider",
    "ToolRegistry",
    "ToolRequest",
    "ToolSearch",
    "ToolSource",
    "ToolSpec",
    "Toolbox",
    "arecover",
    "because_of",
    "because_of_tools",
    "check_calls",
    "check_reasks",
    "check_tokens",
    "ids_in",
    "in_time",
    "in_turns",
    "is_immediate",
    "recover",
    "refuse_calls",
    "remaining",
    "run_calls",
    "run_round",
    "tool",
    "tools_of",
    "undo_all",
    "undo_late",
    "with_unique_ids",
]
