"""The turns of a conversation with a language model: its input, its replies and its tool calls. Pure values."""

from pydantic import Field, JsonValue

from perdure.model import Model


class ToolSpec(Model):
    """A tool as a model sees it."""

    name: str
    description: str
    parameters: dict[str, JsonValue]
    """JSON Schema of its arguments."""


class ToolUse(Model):
    """A tool call that a model wants to have made."""

    id: str
    """The id by which its output refers to it."""
    tool: str
    arguments: str
    """As the model wrote them: JSON, if it made no mistake."""


class Instruction(Model):
    """What the model is told from outside its own turns."""

    text: str


class Reply(Model):
    """What the model said, and the calls that it wants."""

    text: str = ""
    calls: tuple[ToolUse, ...] = ()


class ToolOutput(Model):
    """The result of a tool call."""

    id: str
    """The id of the call."""
    text: str


Message = Instruction | Reply | ToolOutput


class Usage(Model):
    """Tokens that a model has read and written, as its provider counts them."""

    read: int = Field(default=0, ge=0)
    written: int = Field(default=0, ge=0)

    @property
    def total(self) -> int:
        """Both together."""
        return self.read + self.written


class Replied(Model):
    """A model's turn."""

    reply: Reply
    usage: Usage
    declined: bool = False
    """Whether it refuses to answer."""
    is_cut: bool = False
    """Whether it ended before it was through."""
