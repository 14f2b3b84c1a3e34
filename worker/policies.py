"""The write policies of an installation."""

from perdure.errors import InvalidInput
from perdure.memory.policies import POLICIES, WritePolicy, read_policies
from perdure.settings import Settings


def policies_of(settings: Settings) -> dict[str, WritePolicy]:
    """Return the write policies: those that every installation has, and what its file makes of them.

    Raises:
        InvalidInput: The file cannot be read; naming the field.
    """
    if settings.write_policies is None:
        return dict(POLICIES)
    try:
        text = settings.write_policies.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput("write_policies", f"{settings.write_policies} cannot be read: {error}") from error
    return read_policies(text, settings.write_policies.name)
