"""What people and tools say with something private in it, by people and machines of many kinds: none of it is kept."""

from datetime import UTC, datetime

import pytest

from perdure.memory.extraction.rules import extraction_of
from perdure.values.statements import Said, Voice

SAID = """
Our gardener comes on Mondays; his mobile is 07700 900 461. | 900 461
The choir meets weekly. Text Marta on +34 612 55 01 77 if you are late. | 612 55
I row every morning, and my NI number is QQ 12 34 56 C. | 12 34 56
My passport, number 533401287, is kept with my sister. | 533401287
Rent is paid from DE44 5001 0517 5407 3249 31 each month. | 5407
The studio opens at nine, door code 4471#. | 4471
For the shed: turn the dial to 12, then 30, then 8. | 30, then 8
We host on Hetzner, root password is Tr0ub4dor&3. | Tr0ub4dor
Deploys go through GitHub with ghp_16C7e42F292c6912E7710c838347Ae178B4a. | ghp_16C7
export SLACK_BOT_TOKEN=xoxb-17653672481-19874698323-pdFZKVeTuE8sk7oOHcBrzygy | xoxb
The NAS is at 192.168.4.22 and backs up nightly. | 192.168
My daughter, born 4 June 2015, is allergic to nuts. | 4 June 2015
She can be reached at moira dot kelly at fastmail dot com. | moira dot kelly
I'm at 221b Kirkgate, Leeds LS2 7DJ most weekends. | Kirkgate
Post goes to Hauptstraße 7, 79098 Freiburg, my parents' house. | Hauptstraße 7
The wifi at the cabin is called Fjell, key elg-og-ulv-1999. | elg-og-ulv
My Netflix login is pia@example.com / Sommer2024! | Sommer2024
The safe in the office opens with 7-19-33. | 7-19-33
His health insurance number is A123456789. | A123456789
Our VAT id is public, but my Steuer-ID is 65 929 970 489. | 929 970
CPF 529.982.247-25 is what the form wants, and we invoice monthly. | 529.982
My Aadhaar is 2345 6789 0124. | 6789
Card ends soon: 4929 1234 5678 9012 exp 09/27 cvc 311. | 4929
Sort code 12-34-56, account 00112233, for the rent. | 00112233
jdbc:postgresql://db.internal:5432/shop?user=app&password=hunter22 is what the app reads. | hunter22
mongodb+srv://admin:S3cretP4ss@cluster0.mongodb.net/prod | S3cretP4ss
Authorization: Bearer eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0In0.abcDEF123456 | eyJhbGci
AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY | wJalr
-----BEGIN OPENSSH PRIVATE KEY----- b3BlbnNzaC1rZXktdjEAAAAABG5vbmU -----END OPENSSH PRIVATE KEY----- | b3BlbnNz
Stripe is live, sk_live_4eC39HqLyjWDarjtT1zdp7dc does the charging. | sk_live
My car is a Volvo with plate ABC 123 and it needs winter tyres. | ABC 123
The van, KX19 ZTR, is serviced in May. | KX19 ZTR
My ORCID is fine to share but my employee number is 00481516. | 00481516
The alarm code is my birth year backwards, 8791. | 8791
To get in, press 5 5 0 2 and then the key. | 5 5 0 2
The router's admin page takes admin and Bluebell-77. | Bluebell-77
Voicemail PIN: 9090. | 9090
Password for the archive? correct-horse-battery-staple. | battery-staple
The password to the shared drive has been Kastanie44 since May. | Kastanie44
We all use the passphrase "nine tall ships at dawn" for the laptops. | tall ships
Our Zoom meeting is weekly, ID 845 2231 9907, passcode 118822. | 118822
I was born on 1988-02-29, so leap years matter to me. | 1988-02-29
My GP has me under NHS number 943 476 5919. | 943 476
Telegram me at @pia_lund, and keep mails short. | @pia_lund
My home is 48.8566, 2.3522 on the map. | 48.8566
Mein Personalausweis hat die Nummer L01X00T47. | L01X00T47
Ma carte vitale est le 1 84 12 76 451 089 46. | 451 089
Il mio codice fiscale è RSSMRA85T10A562S. | RSSMRA85
Meu celular é (11) 91234-5678. | 91234
Numer PESEL 44051401359, proszę. | 44051401359
The user's backup codes are 8f2k-91qa and 77dm-x3p0. | 8f2k
Noted: the client's birthday is 12 March 1979. | 12 March 1979
row 17: Ada Byron, 10 Downing Lane, ada@byron.example, gold tier | ada@byron
user=kim ip=84.23.11.7 logged in | 84.23
The seed is legal winner thank year wave sausage worth useful legal winner thank yellow. | sausage
GitLab runner registers with glrt-t3_abcDEFghiJKLmnoPQRs. | glrt-
The API wants x-api-key: 9b2c1d3e4f5a6b7c8d9e0f1a2b3c4d5e. | 9b2c1d
OpenAI key sk-proj-abcDEF1234567890abcdef1234567890 is in my notes. | sk-proj
Discord bot: MTA0.GxYz12.abcdefghijklmnopqrstuvwxyz123456 | GxYz12
npm_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789 is the publish token. | npm_AbC
The locker combo is 04-18-36 and the gym closes at ten. | 04-18-36
Jo's landline, 01632 960 983, is best before noon. | 960 983
"""
"""A line each: what is said, and what of it must not be stored. Every value is made up."""

CASES = [tuple(line.rsplit(" | ", 1)) for line in SAID.strip().splitlines()]


@pytest.mark.parametrize(("text", "private"), CASES)
@pytest.mark.parametrize("by", [Voice.USER, Voice.TOOL])
def test_no_part_of_it_is_believed(text: str, private: str, by: Voice) -> None:
    said = Said(text=text, by=by, at=datetime(2026, 5, 1, tzinfo=UTC), occurrence="1")
    kept = [candidate.content.casefold() for candidate in extraction_of(said).candidates]
    assert not any(private.casefold() in text for text in kept)
