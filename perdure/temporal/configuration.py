"""Temporal's own client configuration: environment variables, profiles, TLS, API keys. Connects to nothing."""

import os

from temporalio.envconfig import ClientConfigProfile

from perdure.errors import InvalidInput


def correction(*variables: str) -> str:
    """Return what to do about a configuration that cannot be used.

    Args:
        variables: The variables that may be wrong, of which those that are set are named; none: any.
    """
    chosen = sorted(
        name for name in os.environ if name in variables or (not variables and name.startswith("TEMPORAL_"))
    )
    return "correct Temporal's client configuration" + (f": {', '.join(chosen)}" if chosen else "")


def temporal_address() -> str | None:
    """Return the address in Temporal's client configuration, if there is one.

    Raises:
        InvalidInput: The configuration cannot be read.
    """
    try:
        return ClientConfigProfile.load().address
    except RuntimeError as error:
        raise InvalidInput("temporal", f"its client configuration cannot be read: {error}", fix=correction()) from error
