"""What an operator says about an OpenID provider counts: the claim that names the user, and where the keys are."""

from pathlib import Path

import pytest

from perdure.refusals import NotAuthenticated
from tests.conftest import clean_settings
from tests.support.issuer import AUDIENCE, issuer
from worker.access.authentication import provider_of


async def test_the_user_is_named_by_the_claim_that_is_set(tmp_path: Path) -> None:
    with issuer() as known:
        given = {"oidc_issuer": known.url, "oidc_audience": AUDIENCE, "oidc_user_claim": "email"}
        one = provider_of(clean_settings(tmp_path, **given))
        assert one
        caller = await one.caller(known.token(email="ada@example.org", scope="perdure:read"))
        assert caller.user_id == "ada@example.org"
        for nobody in (None, "", 7, ["ada@example.org"]):
            with pytest.raises(NotAuthenticated):
                await one.caller(known.token(email=nobody, scope="perdure:read"))


async def test_keys_are_fetched_from_where_is_set_and_nobody_is_asked_for_the_place(
    tmp_path: Path,
) -> None:
    with issuer() as known:
        known.keys_url = "http://keys.example.org/keys"
        given = {"oidc_issuer": known.url, "oidc_audience": AUDIENCE}
        token = known.token(scope="perdure:read")
        one = provider_of(clean_settings(tmp_path, **given, oidc_keys_url=f"{known.url}/keys"))
        assert one
        assert (await one.caller(token)).user_id == "ada"
        misled = provider_of(clean_settings(tmp_path, **given))
        assert misled
        with pytest.raises(Exception, match="openid provider"):
            await misled.caller(token)
