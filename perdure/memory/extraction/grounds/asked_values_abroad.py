"""Questions for a password or a PIN in German, French, Spanish, Italian, Dutch and Portuguese. Pure."""

import re

from perdure.memory.extraction.findings.finding import Kind
from perdure.memory.extraction.grounds.questions import is_marked_as_question
from perdure.memory.extraction.patterns import regex

_PASSWORDS = (
    r"(?:[a-zäöü]+-?)?(?:pass(?:wort|wörter)|kennwort|losungswort|passphrase)|zugangsdaten|mots? de passe|mdp"
    r"|contraseñas?|contrasenas?|clave(?: de acceso| secreta)?|palabra clave|parola d['’]ordine|parola chiave"
    r"|(?:[a-z]+)?wachtwoord(?:en)?|senhas?|palavras?-passe|palavra passe|passwords?|passcodes?|passcode"
)
_PIN = (
    r"pin(?:[ -]?(?:code|nummer|nummern|zahl))?|pincode|geheimzahl|geheimnummer|(?:tür|tor|zugangs|zutritts|sicherheits"
    r"|bestätigungs|alarm|safe|entsperr)-?code"
    r"|code (?:für|zu|von) (?:die|der|das|den|meine|deine|unsere) (?:[a-z]+)?(?:tür|tor|alarm\w*|safe|tresor)"
    r"|code (?:zur|der) (?:[a-z]+)?tür"
    r"|code (?:pin|secret|confidentiel|d['’]accès|d['’]entrée|de sécurité|de confirmation|de la porte|de l['’]alarme"
    r"|de l['’]immeuble)|c[óo]digo(?! de error| postal| fuente)(?: pin| secreto| de (?:acceso|seguridad|acesso"
    r"|segurança|la puerta|verificación"
    r"|verificação|confirmação)| da porta| do alarme)?|codice(?: pin| segreto| di (?:accesso|sicurezza|verifica)"
    r"| della porta| dell['’]allarme)|(?:toegangs|deur|beveiligings|alarm|verificatie)code|code (?:van|voor) (?:de"
    r"|het) (?:voor)?(?:deur|poort|kluis|alarm)"
)
_ASKS = (
    r"wie (?:lautet|lauten|ist|sind|war|heißt|heisst)|was (?:ist|sind|war)|welche[sn]?|kennst du|kennen sie|hast du"
    r"|haben sie|weißt du|wissen sie"
    r"|quel(?:le)?s? (?:est|sont|était)|c['’]est quoi|quel(?:le)?|tu (?:connais|as)|vous (?:connaissez|avez)|connais-tu"
    r"|connaissez-vous|as-tu|avez-vous"
    r"|cu[aá]l (?:es|era)|cu[aá]les son|qu[eé](?: es)?|sabes|tienes|conoces|sabe usted|me (?:das|dices|puedes dar)"
    r"|qual (?:è|é|e|era)|qual['’]?è|quale? (?:è|era)|quali sono|che|conosci|hai|mi dai|quais são|sabe|tens|você tem"
    r"|wat (?:is|was|zijn)(?: de| het)?|welk|welke|ken je|heb je|weet je|kent u|heeft u|hoe luidt"
)
_WISHES = (
    r"darf ich|mag ik|diz-me|d(?:ar|ize?r)-me|darme|decirme|darmi|dirmi|posso avere|puis-je avoir|posso ter|"
    r"bitte|(?:nenn|gib|geb|sag|verrat|teil|schick|schreib|tipp)(?:e|en|st|t)?|eingeben|brauche[nt]?|braucht"
    r"|benötig\w+|fehlt|möchte|wähle?n?"
    r"|donne[zr]?(?:-moi)?|dis-moi|dites(?:-moi)?|entre[zr]|saisi\w+|tape[zr]|indique[zr]?|besoin d[e'’]|veuillez"
    r"|envoie|envoyez|confirmez|s['’]il (?:te|vous) pla[iî]t|il me faut|choisi\w+"
    r"|d[aeií]me|dame|dime|dígame|introduzca|introduce (?:tu|su|la|el)|introducir|escrib\w+|teclee|necesit\w+"
    r"|por favor|env[ií]a(?:me)?|envíe|confirm[ae]"
    r"|dammi|dimmi|mi dica|inseri\w+|digit(?:a|i|are)|conferm[ai]|scriv\w+|per favore|per piacere|(?:mi|ci) serv(?:e"
    r"|ono)|bisogno d(?:i|ella)|scegli"
    r"|geef|zeg|voer|typ|vul|noem|stuur|nodig|alstublieft|alsjeblieft|graag|bevestig|kies"
    r"|d[êe]-me|diga(?:-me)?|digite|insira|introduza|escreva|preciso d[aeo]|me (?:d[áêe]|diga|passa)|informe|envie"
)
_ELSEWHERE = regex(
    r"^\W*(?:und |et |y |e |en )?(?:wer|wem|wo|woher|wohin|wann|warum|wieso|wie (?:lang|oft|viele|sicher|stark)|qui|où"
    r"|quand|pourquoi|combien|comment|qui[eé]n|d[oó]nde|cu[aá]ndo|cu[aá]nt[oa]s?|por qu[eé]|(?:quel(?:le)?|qu[eé]"
    r"|che|quale?|welke?|welche[rsnm]?) (?:services?|dienst|system\w*|servicio|sistema|servizio"
    r"|serviço|server|programm\w*|tool|app|site|base|datenbank|konto|account)|chi|dove|quando|perch[eé]"
    r"|quant[oaie]|waar|wanneer|waarom|hoe (?:lang|vaak|veel)|wie heeft|wie kent|quem|onde|porqu[eê])\b",
    re.IGNORECASE,
)
_OWN = (
    r"(?:dein|deine|deinen|ihr|ihre|ihren|euer|eure|das|die|der|den|ton|ta|tes|votre|vos|le|la|les|l['’]|tu|tus|su"
    r"|sus|el|las|los|il tuo|la tua|il suo|la sua|il|lo|je|jouw|uw|het|de|a tua|a sua|o teu|o seu|tua|sua|teu|seu|a|o)"
)
_LEAD = r"\W*(?:(?:und|et|y|e|en|ok|okay|jetzt|nun|dann|maintenant|ahora|ora|nu|agora)[ ,]+)*"
_OF = (
    r"(?: (?:für|vom|von|zum|zur|pour|de|du|des|d['’]|para|del|della|per|voor|van|do|da)(?: [\w'’-]+){1,4})?"
    r"(?:,? (?:bitte|svp|por favor|per favore|alstublieft|alsjeblieft|graag))?"
)
_GAP = (
    r"(?:\W+(?!(?:du|de|des|von|van|del|della|do|da|eine?|une?|una|um|uma|een|chang\w+|modifi\w+|oubli\w+|perdu"
    r"|cambi\w+|olvid\w+|dimentic\w+|esquec\w+|vergeten|enregistr\w+|guard\w+|stock\w+)\b)[\w'’-]+){0,2}?"
)

_CHANGES = (
    r"(?:zurück(?:zu)?setz|(?:ab|ver)?änder|erneuer|aktualisier|(?:ré)?initialis|chang|modifi|restablec|cambi|actuali[cz]"
    r"|reimpost|resett?|wijzig|herstel|vernieuw|redefin|alter(?=a|e)|mud(?=[ae]|ar)|tro(?=ca|que)|aggiorn)\w*"
    r"|neu (?:setz|vergeb)\w*|opnieuw instel\w*"
)
_NEEDS_ONE = (
    r"(?:brauche[nt]?|braucht|benötig\w+|möchten?|fehlt|besoin|il me faut|necesit\w+|bisogno|(?:mi|ci) serv(?:e|ono)"
    r"|heb|preciso)"
)
_ONE = r"(?:eine?|d['’]une?|une?|una|een|um|uma|di una?|de uma?)"


def _asking(names: str) -> tuple[re.Pattern[str], ...]:
    """Return what asks for a value, what wishes for it, its name alone, and what only sounds like a wish for it."""
    name = rf"(?<![\w-])(?:{names})(?![\w-])"
    return (
        regex(
            rf"(?<!\w)(?:{_ASKS}){_GAP}\W+{name}(?!\W+(?:geändert|vergessen|changé|cambiado|cambiato|gewijzigd))", re.I
        ),
        regex(
            rf"(?<!\w)(?:{_WISHES})(?!\w)(?:\W+[\w'’-]+){{0,3}}?\W+{name}"
            rf"|{name}\W+(?:[\w'’-]+\W+){{0,3}}?(?:{_WISHES})(?!\w)",
            re.I,
        ),
        regex(rf"^{_LEAD}(?:{_OWN}[ ]?)?{name}{_OF}\W*$", re.I),
        regex(
            rf"(?<!\w)(?:{_CHANGES})(?:\W+[\w'’-]+){{0,2}}?\W+{name}"
            rf"|{name}(?:\W+[\w'’-]+){{0,2}}?\W+(?:{_CHANGES})(?!\w)"
            rf"|(?<!\w){_NEEDS_ONE}(?:\W+[\w'’-]+)?\W+{_ONE}(?:\W+[\w'’-]+)?\W+{name}",
            re.I,
        ),
    )


_PATTERNS = {Kind.PASSWORD: _asking(_PASSWORDS), Kind.PIN: _asking(_PIN)}

ABROAD = rf"(?<![\w-])(?:{_PASSWORDS}|{_PIN})(?![\w-])"
"""What these values are called."""


def asked_abroad(sentence: str) -> Kind | None:
    """Return which of the two a sentence asks for, in one of these languages; None: neither."""
    if _ELSEWHERE.match(sentence):
        return None
    for kind, (asks, wishes, bare, other) in _PATTERNS.items():
        is_question = is_marked_as_question(sentence)
        if asks.search(sentence) or wishes.search(other.sub(" ", sentence)) or (is_question and bare.match(sentence)):
            return kind
    return None
