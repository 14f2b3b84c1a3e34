"""Temporal's own client configuration: environment variables, profiles, TLS, API keys. Connects to nothing."""

from temporalio.envconfig import ClientConfigProfile

from perdure.errors import InvalidInput


def temporal_address() -> str | None:
    """Return the address in Temporal's client configuration, if there is one.

    Raises:
        InvalidInput: The configuration cannot be read.
    """
    try:
        return ClientConfigProfile.load().address
    except RuntimeError as error:
        raise InvalidInput("temporal", f"its client configuration cannot be read: {error}") from error
