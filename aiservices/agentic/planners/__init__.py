"""The planners of the framework, one a file.

Those that are exported here are for `planned(...)`, as they are or with options by `functools.partial`; the
others have builders.
"""

from .blackboard import Blackboard
from .debate import Debate, unanimous, unanimous_last_word
from .intentions import Desire, Intentions
from .voting import Voting, average, highest, majority

__all__ = [
    "Blackboard",
    "Debate",
    "Desire",
    "Intentions",
    "Voting",
    "average",
    "highest",
    "majority",
    "unanimous",
    "unanimous_last_word",
]
