"""Which names say that what stands under them is a secret, as parts of regexes that every look at a text shares.

A name is judged with those above it, ``password.encoder.iterations`` as one: what it ends in may make it harmless.
"""

from __future__ import annotations

import re
from functools import lru_cache

MASK = "[masked]"
JOINT = "\ue000"
"""Stands for a line's end, its backslash and the blanks behind it, while lines that belong together are one."""

HARD = (
    r"(?:passw(?:or)?d|passwort|kennwort|passphrase|passcode|pwd|secret|credential|jaas|"
    r"(?:api|access|private|account|master|stored|server|encryption|signing|keystore|shared|webhook)[._-]?key|"
    r"client[._-]key[._-]data|secure[._-]?json[._-]?data|license[._-]key|certificate[._-]chain|"
    r"auth[._-]user[._-]info|(?<![a-z])salt(?![a-z])|"
    r"密码|口令|令牌|密钥|密匙|私钥|凭证|凭据|授权码|验证码|パスワード|비밀번호|пароль|contraseña)"
)
"""Words that make a name secret wherever in it they stand, unless it ends in one of ``HARMLESS``."""

SOFT = (
    r"(?:token(?:s|[._-]?(?:key|value|hash))?\d{0,3}|"
    r"(?:(?<![a-z])|user|db|store|key|require)pass|(?<![a-z])(?:pw|psk|hmac|masterauth)|confluent[._]license|"
    r"client[._-]sk|(?<![\w.\-])_auth)"
)
"""Words that make a name secret at its end only; a short number under them is a count."""

HARMLESS = (
    r"(?:seconds|millis|minutes|hours|algorithm|length|iterations|enabled?|timeout|interval|lifetime|expiry|"
    r"expiration|location|provider|retries|factory|handler|required|class|client[._-]?id|position|strength|"
    r"[._-](?:ms|url|uri|endpoint|type|format|count|size|version|mechanism|path|ttl|policy|scope|header|alias|name|"
    r"user|username|namespace|labels|annotations|[a-z]{1,12}_at|expires_in)|(?<=key|ret)name)"
)
"""Ends of names that hold a duration, a class or a place instead of the secret."""
_HARMLESS_ABROAD = (
    r"(?:[\w.\-]{0,9}(?:长度|算法|类型|策略|路径|文件|有效期|过期|次数|个数|数量|错误|认证|登录|校验|正确))"
)

END = r"(?![^\n])"
START = r"(?<![^\n])"
QUOTE = r"(?:\\{0,3}[\"'])"
TAIL = r"[\w.\-]{0,40}"
BLANK = rf"[ \t{JOINT}]"
HARD_KEY = rf"{HARD}(?!{TAIL}{HARMLESS}(?![\w.\-])|{_HARMLESS_ABROAD}){TAIL}"
KEY = rf"(?:{HARD_KEY}|{SOFT})"
SIGN = r"(?>=>|->|→|:=|==?|[:：＝])"
IS = rf"(?:\[\d{{1,4}}\])?+{QUOTE}?+{BLANK}{{0,64}}+{SIGN}{BLANK}{{0,64}}+"

_HARD_NAME = re.compile(rf"(?i)[^\n]*?{HARD_KEY}$", re.ASCII)
_SOFT_NAME = re.compile(rf"(?i)[^\n]*?{SOFT}$", re.ASCII)
_HARMLESS_NAME = re.compile(rf"(?i){HARMLESS}$", re.ASCII)
_LONGEST = 120
"""Characters of a name that are looked at, from its end."""


@lru_cache(maxsize=1 << 12)
def is_secret(name: str) -> bool:
    """Whether what stands under *name* is a secret."""
    near = name[-_LONGEST:]
    return bool(_HARD_NAME.match(near) or _SOFT_NAME.match(near))


@lru_cache(maxsize=1 << 12)
def is_count(name: str) -> bool:
    """Whether a short number under the secret *name* is a count."""
    return not _HARD_NAME.match(name[-_LONGEST:])


@lru_cache(maxsize=1 << 12)
def is_harmless(name: str) -> bool:
    """Whether *name*, which stands below a secret one, says that no secret is under it."""
    return bool(_HARMLESS_NAME.search(f".{name[-_LONGEST:]}"))
