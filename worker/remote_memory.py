"""Whether another installation, whose memory the tasks of this one use, lets its workers in."""

from perdure.client.client import Client
from perdure.errors import InvalidInput
from perdure.refusals import NotAuthenticated, NotPermitted, UnknownThing
from perdure.settings import Settings
from perdure.values.entries import Lane

_FIX = "set PERDURE_MEMORY_TOKEN to one that 'perdure tokens create' made there, with the scopes read and write"
_WITHIN = 10.0
"""Seconds that the service may take to say so."""


async def examined(settings: Settings) -> tuple[bool, str, str]:
    """Return whether a worker could write there, what was found, and what to do otherwise.

    Raises:
        StoreUnavailable: The service does not answer.
    """
    if settings.memory_url is None or settings.memory_token is None:
        return True, "this installation's own", ""
    async with Client(settings.memory_url, settings.memory_token, within=_WITHIN) as client:
        try:
            await client.activity(Lane.PATTERN, ["none"], user_id="perdure doctor")
            # Nobody's job: whoever may write is told that there is none.
            await client.job("none", user_id="perdure doctor")
        except UnknownThing as error:
            if error.field == "user_id":
                return False, f"{settings.memory_url}: the token is one user's, and tasks have many", _FIX
        except (NotAuthenticated, NotPermitted) as error:
            return False, f"{settings.memory_url}: {error}", _FIX
        except InvalidInput as error:
            return False, f"{settings.memory_url}: {error}", "give the address of a service: perdure serve"
    return True, f"{settings.memory_url} lets this installation's workers in", ""
