"""People as agents: a run waits for their answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ..errors import ConfigurationError
from ..templates import Template, TemplateError, compile_template
from .agents import Agent
from .needs import Need
from .node import Here, Waiting
from .outcomes import Pending


class Human(Agent):
    """A person who is asked once for each call; the answer is the output."""

    is_person = True

    def __init__(
        self, name: str, question: str, *, output_key: str | None = None, inputs: Sequence[str] = ()
    ) -> None:
        super().__init__(name=name, description=question, output_key=output_key)
        if isinstance(inputs, str):
            raise ConfigurationError(f"{self.name}: inputs are the names of keys: give ({inputs!r},)")
        self._needs = tuple(Need(key) for key in inputs)
        self._question = self._compiled(question)

    def _compiled(self, question: str) -> Template:
        try:
            template = compile_template(question)
        except TemplateError as error:
            raise ConfigurationError(f"{self.name}: its question: {error}") from error
        unknown = template.required - set(self.inputs)
        if unknown:
            raise ConfigurationError(
                f"{self.name}: its question uses {', '.join(sorted(unknown))}: name what it shows in inputs="
            )
        return template

    @property
    def needs(self) -> tuple[Need, ...]:
        return self._needs

    async def perform(self, here: Here, inputs: Mapping[str, Any]) -> Any:
        run, place = here.run, here.place
        pending_id = f"{place.path}#{place.id}"
        for answer in run.answer_to(pending_id):
            return answer
        question = self._question.render(inputs, datetime.now().astimezone())
        run.wait_for(place.numbers, Pending(pending_id, self.name, question, inputs))
        raise Waiting


def human_in_the_loop(
    name: str, *, question: str = "", output_key: str | None = None, inputs: Sequence[str] = ()
) -> Agent:
    """A step that a person answers: the run is suspended until `resume` brings the answer.

    `question` may be a template over `inputs`, the keys of what the person is shown. The answer, a value that
    JSON can hold, is written under `output_key`.
    """
    return Human(name, question, output_key=output_key, inputs=inputs)
