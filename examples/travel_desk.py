"""A travel desk that books flight, hotel and car, and undoes what it booked when one of them fails.

Offline it is played by a scripted model; a real one is named on the command line:

    python examples/travel_desk.py openai:gpt-5-mini
"""

import sys
from dataclasses import dataclass, field
from typing import Protocol

import aiservices
from aiservices import ChatModel, Result, ToolCall, ToolError, system_message, tool
from aiservices.testing import ScriptedChatModel


@dataclass
class Booking:
    id: str
    what: str


@dataclass
class Agency:
    """The world: what is booked, and what is sold out."""

    sold_out: set[str] = field(default_factory=set)
    booked: dict[str, Booking] = field(default_factory=dict)

    def _book(self, kind: str, city: str) -> Booking:
        if kind in self.sold_out:
            raise ToolError(f"There is no {kind} left in {city}.")
        booking = Booking(f"{kind[:2].upper()}-{len(self.booked) + 1}", f"{kind} in {city}")
        self.booked[booking.id] = booking
        print(f"  booked    {booking.id}: {booking.what}")
        return booking

    def _cancel(self, booking: Booking) -> None:
        del self.booked[booking.id]
        print(f"  cancelled {booking.id}: {booking.what}")

    @tool
    def book_flight(self, city: str) -> Booking:
        """Book a flight to a city."""
        return self._book("flight", city)

    @book_flight.compensation
    def cancel_flight(self, result: Booking) -> None:
        self._cancel(result)

    @tool
    def book_hotel(self, city: str, nights: int = 1) -> Booking:
        """Book a hotel in a city."""
        return self._book("hotel", city)

    @book_hotel.compensation
    def cancel_hotel(self, result: Booking) -> None:
        self._cancel(result)

    @tool
    def book_car(self, city: str) -> Booking:
        """Book a car in a city."""
        return self._book("car", city)


@system_message("You are a travel desk. Book everything the traveller asks for, or nothing.")
class TravelDesk(Protocol):
    def plan(self, wish: str) -> Result[str]: ...


def script() -> ScriptedChatModel:
    """What a model would do: two bookings in one answer, then the car, then the truth."""
    return ScriptedChatModel(
        [
            ToolCall("c1", "book_flight", '{"city": "Rome"}'),
            ToolCall("c2", "book_hotel", '{"city": "Rome", "nights": 3}'),
        ],
        ToolCall("c3", "book_car", '{"city": "Rome"}'),
        "There is no car left in Rome, so I booked nothing. Shall I try without a car?",
    )


def main(chat_model: str | ChatModel | None = None) -> Agency:
    agency = Agency(sold_out={"car"})
    desk = aiservices.create(
        TravelDesk,
        chat_model=chat_model or script(),
        tools=[agency],
        compensation="tool_error",
        parallel_tools=False,
    )
    result = desk.plan("Three nights in Rome next week: a flight, a hotel and a car, please.")
    for execution in result.tool_executions:
        undone = execution.compensation is not None and execution.compensation.undone
        outcome = "rolled back" if undone else "failed" if execution.is_error else "done"
        print(f"  {execution.call.name}: {outcome}")
    print(result.content)
    return agency


if __name__ == "__main__":
    main(*sys.argv[1:2])
