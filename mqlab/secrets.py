"""What must never enter a table, a JSON document or a report.

Every pattern keeps its first group and has the rest replaced by ``[masked]``. Repetitions are bounded or possessive,
so that a line of 10 MB costs linear time. A pattern is tried only on texts that hold one of the words that it cannot do
without.
"""

from __future__ import annotations

import re

import polars as pl

from mqlab.factors import factors

MASK = "[masked]"

_HARD = (
    r"(?:passw(?:or)?d|passphrase|passcode|pwd|secret|credential|jaas|"
    r"(?:api|access|private|account|master|stored|server|encryption|signing|keystore)[._-]?key|"
    r"certificate[._-]chain|auth[._-]user[._-]info|(?<![a-z])salt(?![a-z]))"
)
"""Words that make a key secret wherever in it they stand, unless it ends in one of ``_HARMLESS``."""

_SOFT = r"(?:token(?:s|[._-]?(?:key|value|hash))?\d{0,3}|(?:(?<![a-z])|user|db)pass)"
"""Words that make a key secret at its end only; a short number under them is a count."""

_HARMLESS = (
    r"(?:seconds|millis|minutes|hours|algorithm|length|iterations|enabled?|timeout|interval|lifetime|expiry|"
    r"expiration|location|provider|retries|factory|handler|required|class|client[._-]?id|"
    r"[._-](?:ms|url|uri|endpoint|type|format|count|size|version|mechanism|path|ttl|policy|scope|header|alias|name)|"
    r"(?<=key|ret)name)"
)
"""Ends of keys that hold a duration, a class or a place instead of the secret."""

_END = r"(?![^\n])"
_START = r"(?<![^\n])"
_QUOTE = r"(?:\\{0,3}[\"'])"
_TAIL = r"[\w.\-]{0,40}"
_HARD_KEY = rf"{_HARD}(?!{_TAIL}{_HARMLESS}(?![\w.\-])){_TAIL}"
_KEY = rf"(?:{_HARD_KEY}|{_SOFT})"
_IS = rf"{_QUOTE}?+[ \t]{{0,64}}+(?>=>|:=|[=:])[ \t]{{0,64}}+"

_NO_SECRET = r"(?!\[(?:masked|hidden)\]|(?:null|none|true|false)(?![\w.\-])|[{\[]\s*(?:[\"'{\[\]}]|(?![^\n])))"
_NO_COUNT = r"(?!\d{1,6}(?![\w.\-]))"

_DOUBLE_QUOTED = r"(?:[^\"\\\n]|\\[^\n])++"
_SINGLE_QUOTED = r"(?:[^'\\\n]|\\[^\n])++"
_ESCAPED_QUOTED = (
    r"(?:(?<=[^\\]\\[\"'])(?:[^\"'\\\n]|\\{3}[^\n]|\\{1,2}[^\"'\\\n])++|"
    r"(?<=\\\\[\"'])(?:[^\"'\\\n]|\\{1,3}[^\"'\\\n])++)"
)
# A bare value ends at white space, at a closing mark, and at a separator that another `key=` follows.
_BARE = (
    r"(?:[^\s,;&\"'<>}\])\\]|[\"'}\])>](?=\w)|<(?!/)|\\(?![\"'](?!\w)|[nrt](?!\w))|"
    rf"[,;&](?![\s\"'}}\])\\]|[\w.\-]{{1,60}}=|{_END}))++"
)
_VALUE = (
    rf"(?:(?<=[^\\]\"){_DOUBLE_QUOTED}|(?<=[^\\]'){_SINGLE_QUOTED}|"
    rf"(?<=\\[\"']){_ESCAPED_QUOTED}|(?<![\"']){_BARE})"
)

_JAAS = (
    rf"(?:(?<=[^\\]\"){_DOUBLE_QUOTED}|(?<=[^\\]'){_SINGLE_QUOTED}|(?<=\\[\"']){_ESCAPED_QUOTED}|(?<![\"'])"
    r"(?:\\{1,3}\"(?:[^\"\\\n]|\\{1,3}[^\"\\\n])*+\\{1,3}\"|\"(?:[^\"\\\n]|\\[^\n])*+\"|\\(?![nrt]?\")|[^;\"\\\n])++;?+)"
)
"""The whole value, up to the semicolon outside quotes."""
_BEGIN = rf"(?:{_START}|\"(?:log|message|msg|line)\": ?\"| std(?:out|err) [FP] |\| |\] )"
_STOP = rf"[ \t\r]{{0,40}}(?:{_END}|(?:\\[nr]){{0,2}}\")"
_BASE64 = r"(?:[A-Za-z0-9+/]{60,80}+={0,2}|[A-Za-z0-9+/]{20,80}+={1,2})"

_RULES = (
    # PEM blocks, and their lines where each is a text of its own.
    r"(-----BEGIN [A-Z0-9 ]{0,40}-----)(?!\[masked)"
    r"(?:[\w+/=\s:,.]|-(?!-)|\\(?![\"']|[nrt]?\"))++(?:-----END[A-Z0-9 ]{0,40}-----)?+",
    rf"({_BEGIN}[ \t]{{0,40}}){_BASE64}(?={_STOP})",
    rf"(?i)(jaas{_TAIL}{_IS}{_QUOTE}?+){_NO_SECRET}{_JAAS}",
    r"(?i)((?<![\w.])user_(?!id|name|agent)[\w.\-]{1,60}[ \t]{0,9}=[ \t]{0,9}\\?\")(?!\[masked)[^\"\\\n]++",
    rf"(?i)(SCRAM-SHA-\d{{1,3}}{_IS}{_QUOTE}?+)(?!\[masked\])(?:\[[^\]\n]*+\]|[^\s\"'\[\\]++)",
    # <password>…</password>, and name and value as two fields (XML, Kubernetes).
    rf"(?i)(<[\w.:\-]{{0,60}}{_KEY}(?:\s[^<>\n]{{0,200}})?>){_NO_SECRET}[^<\n]++",
    rf"(?i)((?:name|key){_IS}{_QUOTE}[\w.\-]{{0,60}}{_KEY}{_QUOTE}[\s,]{{0,20}}{_QUOTE}?+value{_IS}{_QUOTE}?+)"
    rf"{_NO_SECRET}{_VALUE}",
    rf"(?i)(<[\w.:\-]{{1,60}}\s[^<>\n]{{0,200}}=\\?\"[\w.\-]{{0,60}}{_KEY}\\?\"\s*+>){_NO_SECRET}[^<\n]++",
    # Command lines.
    rf"(?i)((?<![\w.\-])--?[\w.\-]{{0,60}}?{_KEY}[ \t]{{1,9}}+{_QUOTE}?+)(?!-){_NO_SECRET}{_VALUE}",
    r"(mosquitto_(?:pub|sub|rr)\s(?:[^\n]{0,400}?\s)?-P[ \t]{1,9}+)(?!\[masked)\S++",
    r"(curl\s(?:[^\n]{0,400}?\s)?(?:-u|--user)[ \t=]{1,9}+[^\s:]{1,100}:)(?!\[masked)\S++",
    # A line that is one setting: everything after the sign; in mosquitto.conf there is no sign.
    rf"(?i)({_START}[ \t]{{0,40}}(?:export[ \t]{{1,9}})?+[\w.\-]{{0,80}}?{_HARD_KEY}{_IS}){_NO_SECRET}(?![\"'\\])"
    rf"(?=\S++[ \t\r]{{0,40}}{_END}|[^\n=:]*+{_END})[^\s][^\n]*+",
    rf"(?i)({_BEGIN}[ \t]{{0,40}}[\w.\-]{{0,40}}?(?:passw(?:or)?d|secret|bridge_psk)(?:_file)?[ \t]{{1,40}}+)"
    rf"{_NO_SECRET}(?![=:])[^\s\"\\]++(?={_STOP})",
    # A setting anywhere.
    rf"(?i)({_HARD_KEY}{_IS}{_QUOTE}?+){_NO_SECRET}{_VALUE}",
    rf"(?i)({_SOFT}{_IS}{_QUOTE}?+){_NO_SECRET}{_NO_COUNT}{_VALUE}",
    # Credentials in addresses; `host:port` is none.
    r"(://[^\s/:@\"'<>]{0,100}:)(?!\[masked|\d{1,5}[,/\s])[^\s/\"'<>]{1,200}(?=@)",
    r"(?i)(jdbc:oracle:[a-z]{1,5}:[^\s/]{1,100}/)(?!\[masked)[^\s@]{1,200}(?=@)",
    r"(?i)((?<!\w)(?:sig|[\w\-]{0,40}signature)=)(?!\[masked)[^\s&\"'\\]++",
    # Headers.
    rf"(?i)((?<![a-z])authorization{_IS}{_QUOTE}?+(?:(?:basic|bearer|digest|negotiate|apikey)[ \t]{{1,9}})?+)"
    r"(?!\[masked)[^\s\"',;\\]++",
    rf"(?i)((?<![a-z])cookie{_IS}{_QUOTE}?+)(?!\[masked)[^\s\"'\\][^\n\"'\\]*+",
    r"(?i)((?<![a-z])(?:bearer|basic)[ \t]{1,9}+)(?=[^\s\"']{0,200}[\d=])[\w.~+/=\-]{8,}+",
    # The payload of a message as RocketMQ's clients print it.
    r"((?<!\w)body=)\[-?\d[-\d, ]*+\]?+",
    # The payload of a message that VerneMQ refused.
    r"(can't auth publish \[[^\n]*?\d,\[[^\]\n]*\],)(?!\[masked)[^\n]*(?=,(?:true|false)[,\]])",
    # The payload of a record as kafka-dump-log prints it; those of __consumer_offsets are offsets.
    r"(^(?:\| )?offset: \d++ (?![^\n]*? key: (?:\{\"(?:type|version)\":\"?\d{1,3}\"?,\"data\":|\{\"metadata\":\"|"
    r"(?:offset_commit|group_metadata|metadata|offset)::))(?:(?! payload: )[^\n])*+ payload: )(?!\[masked\])[^\n]++",
    # The name that rocketmq-spring gives a client: access key, secret key (more than six characters, as the broker asks
    # for), name, process. A row of a ledger may look like it: ``bob@example.com|0|33|2026-11-21 12:00:00``.
    r"(@[^@|\s]{1,200}\|)(?!\[masked|\d{1,6}\|)[^|\s]{1,200}+(?=\|[^|\s]{1,200}\|\d{1,7}(?![\w\-]))",
    # Tokens that are known by their shape.
    r"((?<![\w\-])eyJ)[\w\-]{8,}+(?:\.[\w\-]{0,9999}+){1,4}+",
    r"((?<![A-Z0-9])A(?:KIA|SIA))[A-Z0-9]{12,}+",
    r"((?<!\w)(?:xox[abeprs]-|xapp-|gh[oprsu]_|github_pat_|glpat-|hooks\.slack\.com/services/|AIza))[\w\-/]{8,}+",
)
_ENCODED = rf"{_BEGIN}[ \t]{{0,40}}[A-Za-z0-9+/]{{20}}|@[^@|\s]{{1,200}}\|"
_ENCODED_ANYWHERE = r"(?:^|\n|[\"PF|\]] ?)[ \t]{0,40}[A-Za-z0-9+/]{20}|@[^@|\s]{1,200}\|"
"""The same for Polars, which looks neither back nor ahead: it finds all of them, and some more."""


def _words(rule: str) -> tuple[str, ...]:
    """The words that *rule* cannot do without, in lower case."""
    return tuple(sorted({word.lower() for word in factors(rule.replace("(?i)", ""))}))


_PATTERNS = tuple((re.compile(rule, re.ASCII), _words(rule)) for rule in _RULES)
_LONG = frozenset(word for _, words in _PATTERNS for word in words if len(word) > 2)
_HINTS = tuple(sorted(word for word in _LONG if not any(other in word for other in _LONG - {word})))
"""A text without any of these words, in lower case, holds no secret; looking for words is cheap."""
_ENCODED_PATTERN = re.compile(_ENCODED)


def mask(text: str) -> str:
    """The text with every secret in it replaced by ``[masked]``."""
    small = text.lower()
    if not (any(word in small for word in _HINTS) or _ENCODED_PATTERN.search(text)):
        return text
    for pattern, words in _PATTERNS:
        if not words or any(word in small for word in words):
            text = pattern.sub(rf"\g<1>{MASK}", text)
    return text


def mask_all(texts: pl.Series) -> pl.Series:
    """*texts* with every secret in them masked."""
    likely = texts.str.contains_any(list(_HINTS), ascii_case_insensitive=True) | texts.str.contains(_ENCODED_ANYWHERE)
    places = likely.fill_null(False).arg_true()
    if not len(places):
        return texts
    return texts.scatter(places, [mask(text) for text in texts.gather(places)])
