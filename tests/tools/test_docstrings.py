"""What a docstring says reaches the model as the tool's description and those of its parameters: TOOL-40."""

from __future__ import annotations

import warnings
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from aiservices import ToolContext
from aiservices.tools import Tool, tool
from aiservices.tools.docstrings import read_docstring
from tests.tools.given import properties

GOOGLE = """Tell the weather.

    Args:
        city: The city.
        units: The units.
    """
STYLES = {
    "Google": GOOGLE,
    "Google, no blank line above": """Tell the weather.
    Args:
        city: The city.
        units: The units.
    """,
    "Google, a blank line below": """Tell the weather.

    Args:

        city: The city.
        units: The units.
    """,
    "Google, types and more sections": """Tell the weather.

    Args:
        city (str): The city.
        units (str, optional): The units.

    Returns:
        str: What the weather is.

    Raises:
        ValueError: Never.
    """,
    "Google, keyword arguments": """Tell the weather.

    Args:
        city: The city.

    Keyword Args:
        units: The units.
    """,
    "NumPy": """Tell the weather.

    Parameters
    ----------
    city : str
        The city.

    Other Parameters
    ----------------
    units : str, optional
        The units.

    Returns
    -------
    str
        What the weather is.
    """,
    "Sphinx": """Tell the weather.

    :param city: The city.
    :param str units: The units.
    :returns: What the weather is.
    """,
    "Sphinx, no blank line": """Tell the weather.
    :param city: The city.
    :param units: The units.
    """,
    "Epydoc": """Tell the weather.

    @param city: The city.
    @param units: The units.
    """,
}


def weather(docstring: str | None) -> Tool[..., Any]:
    def weather(city: str, *, units: str = "C", ctx: ToolContext) -> str:
        return f"{city} {units} {ctx.service}"

    weather.__doc__ = docstring
    return tool(weather)


def told(docstring: str | None) -> tuple[str, dict[str, str | None]]:
    made = weather(docstring)
    return made.spec.description, {
        name: schema.get("description") for name, schema in properties(made).items()
    }


@pytest.mark.parametrize("style", STYLES)
def test_the_usual_styles_are_understood(style: str) -> None:
    assert told(STYLES[style]) == ("Tell the weather.", {"city": "The city.", "units": "The units."})


def test_a_docstring_that_begins_with_a_section_has_no_summary() -> None:
    docstring = "Args:\n        city: The city.\n        units: The units.\n    "
    assert told(docstring) == ("", {"city": "The city.", "units": "The units."})
    assert told("Args:\n    city: The city.\nReturns:\n    str: It.") == (
        "",
        {"city": "The city.", "units": None},
    )


@pytest.mark.parametrize("docstring", [None, "", "   \n  "])
def test_without_a_docstring_there_is_no_description_and_the_name_must_do(docstring: str | None) -> None:
    """So it is with an f-string in the docstring's place, which Python does not keep."""
    assert told(docstring) == ("", {"city": None, "units": None})
    assert weather(docstring).name == "weather"


def test_an_injected_parameter_appears_nowhere_though_it_is_documented() -> None:
    description, parameters = told(GOOGLE.replace("units: The", "ctx: The call.\n        units: The"))
    assert description == "Tell the weather."
    assert parameters == {"city": "The city.", "units": "The units."}


def test_a_documented_parameter_that_does_not_exist_is_a_warning_and_nothing_more() -> None:
    with pytest.warns(UserWarning, match=r"tool 'weather' describes 'town', which is no parameter"):
        made = weather(GOOGLE.replace("city:", "town:"))
    assert set(properties(made)) == {"city", "units"}


def test_two_lines_of_description_stay_two_lines_and_further_paragraphs_belong_to_it() -> None:
    """Row 251."""
    description, _ = told(
        "Tell the weather\n    of a city.\n\n    Note: only today's.\n\n    Args:\n        city: It.\n"
    )
    assert description == "Tell the weather\nof a city.\n\nNote: only today's."


def test_what_the_annotation_says_wins_over_the_docstring() -> None:
    @tool
    def f(
        city: Annotated[str, Field(description="An IATA code.")], units: Annotated[str, Field(max_length=1)]
    ) -> None:
        """Do.

        Args:
            city: The city.
            units: The units.
        """

    shown = properties(f)
    assert shown["city"]["description"] == "An IATA code."
    assert shown["units"]["description"].startswith("The units.")


def test_names_that_share_a_description_in_numpy_style_all_get_it() -> None:
    documentation = read_docstring("Add.\n\nParameters\n----------\na, b : int\n    A number.\n")
    assert documentation.parameters == {"a": "A number.", "b": "A number."}


def test_attributes_of_a_class_are_no_parameters() -> None:
    assert read_docstring("A thing.\n\nAttributes:\n    size: How large.\n").parameters == {}


def test_a_given_description_wins_and_an_empty_one_counts() -> None:
    def f() -> None:
        """From the docstring."""

    assert tool(f).spec.description == "From the docstring."
    assert tool(description="Given.")(f).spec.description == "Given."
    assert tool(description="")(f).spec.description == ""


def test_a_description_is_sent_whole_however_long_as_no_limit_is_known() -> None:
    """TOOL-41: no model of ours declares a limit; schema and sections are not counted as description."""
    docstring = "x" * 3000 + "\n\n    Args:\n        city: The city.\n"
    assert told(docstring) == ("x" * 3000, {"city": "The city.", "units": None})


@given(st.text(alphabet=st.sampled_from("Args:\n pram-city@x.,—\t=")) | st.text())
def test_no_docstring_breaks_a_tool(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        description, _ = told(text)
    assert isinstance(description, str)
