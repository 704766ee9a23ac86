r"""Tokens that are known by their shape alone: what their issuers begin them with, so that scanners find them.

``ghp_…`` of GitHub, ``hvs.…`` of Vault, ``sk_live_…`` of Stripe, ``$2y$…`` of bcrypt. The beginning stays: it says what
was there.
"""

from __future__ import annotations

_PREFIXES = (
    r"xox[abceoprs]-|xapp-|gh[oprsu]_|github_pat_|glpat-|gl(?:rt|dt|ptt|ft|soat|cbt|imt|agent)-|AIza|ya29\.|"
    r"[spr]k_(?:live|test|prod)_|whsec_|sq0[a-z]{3}-|shp(?:at|ca|pa|ss)_|npm_|pypi-Ag|do[opr]_v1_|dckr_(?:pat|oat)_|"
    r"hv[sbr]\.|sk-(?:proj|ant|live|or|svcacct)-|SG\.(?="
    r"[\w\-]{20,24}\.)|lin_api_|ntn_|figd_|glsa_|glc_|dapi(?=[0-9a-f]{32})|"
    r"hf_|atlasv1\.|EAAC|PMAK-|rubygems_|sntry[su]_|dp\.(?:pt|st|ct)\.|tskey-|AGE-SECRET-KEY-1|ATATT3x|ATCTT3x"
)
_LONG = r"(?=[\w\-./=]{0,80}\d)[\w\-./=]{16,}+"

_CRYPT = ("1", "2", "2a", "2b", "2x", "2y", "5", "6", "7", "y", "apr1", "scrypt", "bcrypt")
_LDAP = ("sha", "ssha", "md5", "smd5", "crypt", "pbkdf2", "bcrypt", "noop")
_KEY_NUMBERS = ("d", "p", "q", "dp", "dq", "qi", "k")

RULES: tuple[tuple[str, ...], ...] = (
    (r"((?<![\w\-])eyJ)[\w\-]{8,}+(?:\.[\w\-]{0,9999}+){1,4}+",),
    (r"((?<![A-Z0-9])A(?:KIA|SIA|BIA|CCA))[A-Z0-9]{12,}+",),
    (r"((?<!\w)(?:xox[abeprs]-|xapp-|gh[oprsu]_|github_pat_|glpat-|hooks\.slack\.com/services/|AIza))[\w\-/]{8,}+",),
    (rf"((?<![\w\-.])(?:{_PREFIXES})){_LONG}",),
    (r"((?<!\w)(?:AC|SK)(?=[0-9a-f]{32}(?!\w)))[0-9a-f]{32}", "twilio"),
    (
        r"((?<![\w])(?:discord(?:app)?\.com/api/webhooks/\d{1,25}/|api\.telegram\.org/bot|"
        r"webhook\.office\.com/webhookb2/))[\w\-:@/]{8,}+",
    ),
    (r"((?<!\w)\d{8,10}:AA)[\w\-]{32,34}(?![\w\-])",),
    # Hashes of passwords, as crypt, LDAP and Spring write them.
    (
        r"((?<![\w$])\$(?:1|2[abxy]?|5|6|7|y|apr1|argon2\w{0,2}|pbkdf2[\w\-]{0,12}|scrypt|bcrypt)\$)(?!\[masked)"
        r"[\w./+=$,\-]{8,}+",
        *(f"${name}$" for name in _CRYPT), "$argon2", "$pbkdf2",
    ),
    (
        r"((?<!\w)\{(?:S?SHA(?:256|384|512)?|S?MD5|CRYPT|PBKDF2[\w\-]{0,12}|bcrypt|noop)\})(?!\[masked)"
        r"[^\s\"'\\,;]{4,}+",
        *(f"{{{name}" for name in _LDAP),
    ),
    # Key stores and keys in base 64: DER, and the magic number of JKS.
    (r"((?<![\w+/])(?:MII|/u3\+7QAAAAI))(?=[A-Za-z0-9+/]{0,80}\d)[A-Za-z0-9+/]{48,}+={0,2}",),
    # The private numbers of a JSON Web Key.
    (
        rf"((?<![\w])\\?\"(?:{'|'.join(_KEY_NUMBERS)})\\?\"[ ]?:[ ]?\\?\")(?!\[masked)[\w\-]{{20,}}+(?=\\?\")",
        *(f'"{name}"' for name in _KEY_NUMBERS), *(f'"{name}\\"' for name in _KEY_NUMBERS),
    ),
)  # fmt: skip
"""Regexes whose first group stays, each with the words that it is tried for where others follow from it."""
