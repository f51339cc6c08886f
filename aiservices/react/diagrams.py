"""The loop as a picture."""

from __future__ import annotations

from .setup import Setup


def diagram(setup: Setup) -> str:
    """Mermaid text: nodes, the condition between them, and where a run waits for somebody."""
    lines = [
        "flowchart TD",
        "    start([start]) --> agent[agent]",
        "    agent --> calls{tool calls?}",
        "    calls -- no --> stop([end])",
    ]
    if setup.approvals:
        lines += [
            "    calls -- yes --> guarded{approval needed?}",
            "    guarded -- no --> action[action]",
            "    guarded -- yes --> wait[/interrupted/]",
            "    wait -- resume --> action",
        ]
    else:
        lines.append("    calls -- yes --> action[action]")
    steps = "" if setup.max_steps is None else f" or {setup.max_steps} steps"
    lines += [
        f"    action --> done{{immediate{steps}?}}",
        "    done -- no --> agent",
        "    done -- yes --> stop",
    ]
    return "\n".join(lines)
