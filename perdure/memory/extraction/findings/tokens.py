"""Finds keys and tokens in a text by their own form: prefixes, JWTs, private keys, connection strings. Pure."""

import itertools
import re
from collections.abc import Iterator
from typing import cast

from detect_secrets.plugins.artifactory import ArtifactoryDetector
from detect_secrets.plugins.aws import AWSKeyDetector
from detect_secrets.plugins.azure_storage_key import AzureStorageKeyDetector
from detect_secrets.plugins.base import RegexBasedDetector
from detect_secrets.plugins.cloudant import CloudantDetector
from detect_secrets.plugins.discord import DiscordBotTokenDetector
from detect_secrets.plugins.github_token import GitHubTokenDetector
from detect_secrets.plugins.gitlab_token import GitLabTokenDetector
from detect_secrets.plugins.high_entropy_strings import Base64HighEntropyString
from detect_secrets.plugins.ibm_cloud_iam import IbmCloudIamDetector
from detect_secrets.plugins.ibm_cos_hmac import IbmCosHmacDetector
from detect_secrets.plugins.jwt import JwtTokenDetector
from detect_secrets.plugins.mailchimp import MailchimpDetector
from detect_secrets.plugins.openai import OpenAIDetector
from detect_secrets.plugins.pypi_token import PypiTokenDetector
from detect_secrets.plugins.sendgrid import SendGridDetector
from detect_secrets.plugins.slack import SlackDetector
from detect_secrets.plugins.softlayer import SoftlayerDetector
from detect_secrets.plugins.square_oauth import SquareOAuthDetector
from detect_secrets.plugins.stripe import StripeDetector
from detect_secrets.plugins.telegram_token import TelegramBotTokenDetector
from detect_secrets.plugins.twilio import TwilioKeyDetector

from perdure.memory.extraction.findings.finding import Finding, FoldedText, Kind
from perdure.memory.extraction.patterns import regex

_DETECTORS: tuple[type[RegexBasedDetector], ...] = (
    ArtifactoryDetector,
    AWSKeyDetector,
    AzureStorageKeyDetector,
    CloudantDetector,
    DiscordBotTokenDetector,
    GitHubTokenDetector,
    GitLabTokenDetector,
    IbmCloudIamDetector,
    IbmCosHmacDetector,
    JwtTokenDetector,
    MailchimpDetector,
    OpenAIDetector,
    PypiTokenDetector,
    SendGridDetector,
    SlackDetector,
    SoftlayerDetector,
    SquareOAuthDetector,
    StripeDetector,
    TelegramBotTokenDetector,
    TwilioKeyDetector,
)
"""Those of detect-secrets whose patterns take time in proportion to the text. ``_CONNECTION`` and ``_PRIVATE_KEY``
stand for its detectors of passwords in addresses and of private keys, whose finding is less than what has to go."""

_DENIED = tuple(pattern for detector in _DETECTORS for pattern in cast("list[re.Pattern[str]]", detector.denylist))

_PREFIXED = regex(
    r"(?<![^\W_])(?:"
    r"(?:sk|pk|rk|ak)-(?:[a-z]{2,10}\d{0,2}-)?[\w-]{10,}|(?:sk|pk|rk|whsec|price)_(?:live_|test_)?\w{12,}"
    r"|gh[a-z]_\w{12,}|github_pat_\w{12,}|gl[a-z]{2,6}-[\w-]{12,}"
    r"|xox[a-z]-[\w-]{10,}|xapp-[\w-]{10,}|(?:https://)?hooks\.slack\.com/services/[\w/]+"
    r"|(?:AKIA|ASIA|ABIA|ACCA|AROA|AIDA)[A-Z0-9]{12,}|AIza[\w-]{16,}|ya29\.[\w-]{10,}|GOCSPX-[\w-]{10,}"
    r"|npm_\w{12,}|pypi-[\w-]{12,}|SG\.[\w-]{6,}\.[\w-]{6,}|hf_\w{12,}|dop_v\d_\w{12,}|shp[a-z]{2}_\w{12,}"
    r"|sq0[a-z]{3}-[\w-]{10,}|hv[sb]\.[\w-]{12,}|dckr_pat_[\w-]{10,}|AGE-SECRET-KEY-1\w{10,}|key-[0-9a-z]{20,}"
    r"|lin_api_\w{10,}|ntn_\w{10,}|figd_[\w-]{10,}|tskey-[\w-]{10,}|r8_\w{12,}|gsk_\w{12,}"
    r"|sntry[su]_\w{10,}|glsa_\w{10,}"
    r"|xkeysib-[\w-]{10,}|PMAK-[\w-]{10,}|NRAK-\w{10,}|EAA[A-Za-z0-9]{16,}|[\w-]{4,20}\.atlasv1\.[\w-]{10,}"
    r"|[a-z]{2,12}[_-](?:live|test|prod|pat|api|key|secret|token)[_-](?=\w*\d)[A-Za-z0-9]{10,}"
    r")"
)
_JWT = regex(r"eyJ[\w-]{6,}={0,2}\.[\w-]{6,}={0,2}(?:\.[\w-]+={0,2}){0,3}")
_PRIVATE_KEY = regex(
    r"-{2,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,20}-{2,5}(?:.{0,10000}?-{2,5} ?END [A-Z0-9 ]{0,60}-{2,5}|.*)"
    r"|BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY.*|PuTTY-User-Key-File-\d.*",
    re.DOTALL,
)
_CONNECTION = regex(
    r"(?<![^\W_])[A-Za-z][A-Za-z0-9+.-]{1,30}://[^\s:/@\"'<>]{0,100}:[^\s\"'<>]{1,200}@[^\s\"'<>,;)]{1,200}"
)
_TOKEN = regex(r"(?<![\w+/=.-])[A-Za-z0-9+/_-]{20,200}={0,2}(?![\w+/=])")
ASSIGNED_HEX = regex(r"(?<=\w=)(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{24,128}(?!\w)", re.IGNORECASE)
_ENTROPY = Base64HighEntropyString()

_KEY_MATERIAL = 3.7
"""Bits a character: a random base64 text of 20 characters has 3.8 to 4.3, a name in camel case 3.2 to 3.7."""


_BASIC = regex(
    r"\bauthorization\W{1,3}basic\s+(?P<value>[\w+/]{8,}={0,2})|(?<![\w:])(?P<bot>\d{6,12}:[\w-]{30,60})", re.IGNORECASE
)


def tokens(folded: FoldedText) -> Iterator[Finding]:
    """Yield what nothing but a key or token looks like."""
    for match in _BASIC.finditer(folded.text):
        yield folded.found(*match.span("value" if match["value"] else "bot"), Kind.KEY)
    text = folded.text
    for pattern in (*_DENIED, _JWT, _CONNECTION, _PRIVATE_KEY):
        for match in pattern.finditer(text):
            start, end = _trimmed(match)
            if start < end and (pattern not in _ARTIFACTORY or any(map(str.isdigit, match.group()))):
                yield folded.found(start, end, Kind.KEY)
    for match in _PREFIXED.finditer(text):
        if (
            any(map(str.isdigit, match.group()))
            or match.group().startswith(("https", "hooks"))
            or _is_mixed(match.group())
        ):
            yield folded.found(match.start(), match.end(), Kind.KEY)
    for match in ASSIGNED_HEX.finditer(text) if "=" in text else ():
        yield folded.found(*match.span(), Kind.KEY)
    for match in _TOKEN.finditer(text):
        if is_random(match.group()):
            yield folded.found(match.start(), match.end(), Kind.KEY)


def _is_mixed(written: str) -> bool:
    """Whether small and capital letters take turns as in no name: "QwErTzUi"."""
    changes = sum(_class(one) != _class(other) for one, other in itertools.pairwise(written))
    return len(written) >= 20 and changes >= len(written) / 3


_ARTIFACTORY = frozenset(cast("list[re.Pattern[str]]", ArtifactoryDetector.denylist))


def _trimmed(match: re.Match[str]) -> tuple[int, int]:
    written = match.group()
    start = match.start() + len(written) - len(written.lstrip(' \t\n=:"'))
    return start, match.end() - (len(written) - len(written.rstrip(' \t\n".,;')))


def is_random(written: str) -> bool:
    """Whether somebody's machine made it up: digits, small and capital letters mixed as no word or name has them."""
    changes = sum(_class(one) != _class(other) for one, other in itertools.pairwise(written))
    return (
        any(map(str.islower, written))
        and any(map(str.isupper, written))
        and sum(map(str.isdigit, written)) >= 2
        and changes >= len(written) / 3
        and _ENTROPY.calculate_shannon_entropy(written) >= _KEY_MATERIAL
    )


def _class(character: str) -> str:
    return "d" if character.isdigit() else "u" if character.isupper() else "l" if character.islower() else character
