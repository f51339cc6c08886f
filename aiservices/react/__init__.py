"""The ReAct executor: an agent without a declaration, with threads, hooks, skills and approvals.

agent = react(chat_model="openai:gpt-5-mini", tools=[search])
agent.invoke("Who wrote Emma?").final_response
"""

from ..skills import Skill, SkillInjector, Unload, load_skills
from .building import react
from .channels import Channel
from .decisions import Approve, Decision, Edit, Refuse
from .executor import AgentExecutor
from .policies import MessageWindow, Summary
from .sessions import Session
from .state import AgentState, NodeOutput, Snapshot, StopReason
from .subagents import as_tool

__all__ = [
    "AgentExecutor",
    "AgentState",
    "Approve",
    "Channel",
    "Decision",
    "Edit",
    "MessageWindow",
    "NodeOutput",
    "Refuse",
    "Session",
    "Skill",
    "SkillInjector",
    "Snapshot",
    "StopReason",
    "Summary",
    "Unload",
    "as_tool",
    "load_skills",
    "react",
]
