"""Secrets within one line, as regexes: settings, command lines, addresses, headers, prose, payloads.

Every pattern keeps its first group and has the rest replaced by ``[masked]``; none looks beyond a line. Repetitions are
bounded or possessive, so that a line of 10 MB costs linear time. A pattern is tried only on texts that hold one of the
words that it cannot do without.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

import polars as pl

from mqlab.factors import factors
from mqlab.secrets import shapes
from mqlab.secrets.keys import BLANK, END, HARD_KEY, IS, JOINT, KEY, MASK, QUOTE, SOFT, START, TAIL

_NO_SECRET = (
    r"(?!\[(?:masked|hidden)\]|(?:[|>][\d+\-]{0,2}|\\)\s*(?![^\n])|(?:null|none|true|false)(?![\w.\-])|"
    r"[{\[]\s*(?:[\"'{\[\]}]|(?![^\n])))"
)
_NO_COUNT = r"(?!\[?\d{1,6}(?![\w.\-]))"
_NO_WORD = (
    r"(?!(?:not|no|in|in?valid|in?correct|wrong|expired|required|empty|missing|being|too|set|unset|masked|hidden|ok|the|"
    r"a|an|stored|encrypted|used|using|disabled|enabled|changed|about|never|only|already|now|longer|supported|failed|"
    r"rejected|accepted|provided|given|unknown|known|needed|verified|checked|authentication|authorization|must|should|"
    r"cannot|could|has|have|was|were|is|are|been|does|did|do|for|from|by|at|on|of|to|and|or|with|file|protected|ok|"
    r"null|none|true|false|available|undefined|different|same|unavailable|created|updated|deleted|[a-z]+ed|reset|change|"
    r"abgelaufen|falsch|erforderlich|gesperrt|leer|nicht|kein|ungültig|korrekt|fehlt|wurde|wird|ist|war|geändert|für|"
    r"von|vom)"
    r"(?![\w.\-]))"
)
"""What prose says of a secret instead of the secret."""

_DOUBLE_QUOTED = r"(?:[^\"\\\n]|\\[^\n])++"
_SINGLE_QUOTED = r"(?:[^'\\\n]|\\[^\n])++"
_ESCAPED_QUOTED = (
    r"(?:(?<=[^\\]\\[\"'])(?:[^\"'\\\n]|\\{3}[^\n]|\\{1,2}[^\"'\\\n])++|"
    r"(?<=\\\\[\"'])(?:[^\"'\\\n]|\\{1,3}[^\"'\\\n])++)"
)
# A bare value ends at white space, at a closing mark, and at a separator that another `key=` follows.
_BARE = (
    r"(?:[^\s,;&\"'<>}\])\\]|[\"'}\])>](?=[\w+/$])|<(?!/)|\\(?![\"'](?!\w)|[nrt](?!\w))|"
    rf"[,;&](?![\s\"'}}\])\\]|[\w.\-]{{1,60}}=|{END}))++"
)
_VALUE = (
    rf"(?:(?<=[^\\]\"){_DOUBLE_QUOTED}|(?<=[^\\]'){_SINGLE_QUOTED}|"
    rf"(?<=\\[\"']){_ESCAPED_QUOTED}|(?<![\"']){_BARE})"
)
_MARKED = (
    r"(?:[&!](?!vault)[\w!/.\-]{1,40}[ ]{1,4}|0x[0-9a-f]{4,16}[ ])"
    r"(?:\"(?!\[masked)[^\"\n]++\"|'(?!\[masked)[^'\n]++'|(?![\"'|>])\S++)"
)
"""A value behind an anchor or a tag of YAML, or behind the address at which a debugger saw it."""
_WORDS_MORE = (
    r"(?:[ ](?!(?:for user|from|was|is|has|failed|rejected)(?![\w\-]))(?![\w.\-]{1,60}[=:]|[\w.\-]{1,60} [=:\-]>?|-)"
    r"[^\s,;\"'(){}\[\]<>|=\\]{1,60}){1,7}"
)
"""More words of a pass phrase, up to what another setting or a remark begins with."""

_JAAS = (
    rf"(?:(?<=[^\\]\"){_DOUBLE_QUOTED}|(?<=[^\\]'){_SINGLE_QUOTED}|(?<=\\[\"']){_ESCAPED_QUOTED}|(?<![\"'])"
    r"(?:\\{1,3}\"(?:[^\"\\\n]|\\{1,3}[^\"\\\n])*+\\{1,3}\"|\"(?:[^\"\\\n]|\\[^\n])*+\"|\\(?![nrt]?\")|"
    r"[^;\"\\\n])++;?+)"
)
"""The whole value, up to the semicolon outside quotes."""
_BEGIN = rf"(?:{START}|\"(?:log|message|msg|line)\": ?\"| std(?:out|err) [FP] |\| |\] )"
_STOP = rf"[ \t\r]{{0,40}}(?:{END}|(?:\\[nr]){{0,2}}\")"
_BASE64 = r"(?:[A-Za-z0-9+/]{60,80}+={0,2}|[A-Za-z0-9+/]{20,80}+={1,2})"
_PROMPT = rf"(?:{START}|[\"'`$#;&|>] ?|sudo )"
_STRING = r"(?:\"[^\"\n]{0,200}\"|'[^'\n]{0,200}')"
_SPELLED = (
    r"(?:passw(?:or)?d|passwort|kennwort|passphrase|passcode|pwd|(?<!\w)pw|secret|token|api[ _\-]?key|access[ _\-]?key)"
)
_VERB = r"(?:is|was|ist|war|lautet|(?:set|changed|reset|rotated) to)"


_OF_NAMES = tuple(sorted({word.lower() for word in factors(KEY)}))
"""Words of names; for rules that would be tried because of a shorter word that many lines hold."""
Rule = tuple[str, tuple[str, ...]]
"""A regex, and the words of which each text that it fits holds one, in lower case."""


def _rule(rule: str, *words: str) -> Rule:
    """The *rule* with these words, or else with those that follow from it."""
    return rule, words or tuple(sorted({word.lower() for word in factors(rule.replace("(?i)", ""))}))


def _command(names: str, option: str, *words: str) -> Rule:
    """The rule for the value of an *option* of one of the commands of these *names*."""
    return _rule(
        rf"((?<![\w.])(?:{names})\s(?:[^\n]{{0,400}}?[\s{JOINT}])?{option})(?!\[masked|[\"']?\[masked)"
        r"(?:\"[^\"\n]++\"|'[^'\n]++'|[^\s\"'\\]++)",
        *words,
    )


_RULES = (
    _rule(
        rf"(-----BEGIN [A-Z0-9 ]{{0,40}}-----)(?!\[masked)(?!{_STOP})"
        rf"(?:[\w+/= \t\r:,.{JOINT}]|-(?!-)|\\(?![\"']|[nrt]?\"))++(?:-----END[A-Z0-9 ]{{0,40}}-----)?+"
    ),
    _rule(rf"({_BEGIN}[ \t]{{0,40}}){_BASE64}(?={_STOP})"),
    _rule(rf"(?i)(jaas{TAIL}{IS}{QUOTE}?+){_NO_SECRET}{_JAAS}"),
    _rule(r"(?i)((?<![\w.])user_(?!id|name|agent)[\w.\-]{1,60}[ \t]{0,9}=[ \t]{0,9}\\?\")(?!\[masked)[^\"\\\n]++"),
    _rule(rf"(?i)(SCRAM-SHA-\d{{1,3}}{IS}{QUOTE}?+)(?!\[masked\])(?:\[[^\]\n]*+\]|[^\s\"'\[\\]++)"),
    # <password>…</password>, and name and value as two fields (XML, Kubernetes, Connect).
    _rule(rf"(?i)(<[\w.:\-]{{0,60}}{KEY}(?:\s[^<>\n]{{0,200}})?>){_NO_SECRET}[^<\n]++"),
    _rule(
        rf"(?i)((?:name|key){IS}{QUOTE}?[\w.\-]{{0,60}}{KEY}{QUOTE}?[ \t,]{{1,20}}(?:"
        rf"[^{{}}\n]{{0,200}}?[ \t,])?{QUOTE}?+"
        rf"value{IS}{QUOTE}?+){_NO_SECRET}{_VALUE}",
        *_OF_NAMES,
    ),
    _rule(
        rf"(?i)(<[\w.:\-]{{1,60}}\s[^<>\n]{{0,200}}=\\?\"[\w.\-]{{0,60}}{KEY}\\?\"\s*+>){_NO_SECRET}[^<\n]++",
        *_OF_NAMES,
    ),
    _rule(rf"(?i)(<name>[\w.\-]{{0,60}}{KEY}</name>[ \t]{{0,20}}<value>){_NO_SECRET}[^<\n]++"),
    # Command lines.
    _rule(rf"(?i)((?<![\w.\-])--?[\w.\-]{{0,60}}?{KEY}{BLANK}{{1,9}}+{QUOTE}?+)(?!-){_NO_SECRET}{_VALUE}"),
    _command("mosquitto_(?:pub|sub|rr|ctrl)|mqttx", rf"-P{BLANK}{{0,9}}+"),
    _rule(
        r"((?<![\w.])dynsec\s(?:[^\n]{0,400}?\s)?(?:setClientPassword|init\s\S{1,200})\s\S{1,100}\s)(?!\[masked|-)\S++"
    ),
    _command("mqtt|hivemq", rf"-pw[=:]?{BLANK}{{0,9}}+", " -pw"),
    _command(
        "sshpass|docker|podman|helm|az|mongo(?:sh|dump|restore|export)?",
        rf"-p{BLANK}{{1,9}}+(?!\d{{1,5}}[:\s/])",
        "sshpass",
        " login ",
        "mongo",
    ),
    _command(
        "sshpass|mysql(?:dump|admin)?|mariadb", rf"-p(?!\d{{1,5}}\s)(?={QUOTE}?\w)", "sshpass", "mysql", "mariadb"
    ),
    _command("redis-cli", rf"-a{BLANK}{{1,9}}+"),
    _command("ldap(?:search|modify|add|whoami|passwd)", rf"-w{BLANK}{{1,9}}+"),
    _command("curl|wget", rf"(?:-u|-U|--user|--proxy-user)[{JOINT} \t=]{{0,9}}+[\"']?[^\s:\"']{{1,100}}:(?=\S)"),
    _command("https?", rf"(?:-a|--auth){BLANK}{{1,9}}+[\"']?[^\s:\"']{{1,100}}:", " -a ", "--auth"),
    _rule(rf"(-setcookie{BLANK}{{1,9}}+)(?!\[masked)\S++"),
    _command("mqadmin", rf"-s{BLANK}{{1,9}}+"),
    _command(r"mqadmin\s(?:create|update)User", rf"-p{BLANK}{{1,9}}+"),
    _command(r"vmq-admin\sapi-key", r"key="),
    _command(r"snmp\w{2,12}", rf"-A{BLANK}{{1,9}}+"),
    _command(r"snmp\w{2,12}", rf"-X{BLANK}{{1,9}}+"),
    _rule(r"(?i)((?<![\w.])(?:r[ow]community6?|snmp-server[ \t]community)[ \t]{1,9}+)(?!\[masked)\S++"),
    # What is piped into a command that asks for it.
    _rule(
        r"((?<![\w.])(?:echo|printf)[ \t]{1,9}+(?:-\w{1,3}[ \t]{1,9}+)?)(?!\[masked|[\"']?\$)"
        r"(?:\"[^\"\n]++\"|'[^'\n]++'|"
        r"[^\s\"'|]++)(?=[ \t]{0,9}\|[^\n|]{0,200}(?:--password-stdin|--stdin|kinit|sudo -S))"
    ),
    _rule(r"((?<![\w.])kinit[ \t][^\n|<]{0,200}<<<[ \t]{0,9})(?!\[masked|[\"']?\$)(?:\"[^\"\n]++\"|'[^'\n]++'|\S++)"),
    _rule(r"(?i)(ConvertTo-SecureString[ \t]{1,9}+(?:-String[ \t]{1,9}+)?[\"'])(?!\[masked|\$)[^\"'\n]++"),
    # An option and its value as two members of a list.
    _rule(
        rf"(?i)([\"']--?[\w.\-]{{0,60}}?{KEY}(?P<mark>[\"']),[ \t]{{0,9}}(?P=mark)){_NO_SECRET}(?!-)[^\"'\n]++"
        rf"(?=(?P=mark))",
        *_OF_NAMES,
    ),
    _rule(
        r"((?:mosquitto_(?:pub|sub|rr|ctrl)|mqttx)(?P<quote>[\"'])[^\n]{0,400}?(?P=quote)-P(?P=quote),[ \t]{0,9}"
        r"(?P=quote))(?!\[masked)[^\"'\n]++"
    ),
    _rule(
        r"(?i)((?:mosquitto_|ht|vmq-)passwd[ \t]{1,9}+(?:-[a-z]{1,9}[ \t]{1,9}+){1,4}[^\s\-]\S{0,200}[ \t]{1,9}+"
        r"\S{1,100}[ \t]{1,9}+)(?!\[masked)\S++"
    ),
    _rule(
        rf"(?i)((?:(?:{_PROMPT}|ctl [^\n]{{0,60}}?|admins )(?:passwd|change_password|add_user)|"
        rf"ctl [^\n]{{0,60}}?(?:admins|users) add)[ \t]{{1,9}}+"
        rf"[^\s=:\-][^\s=:]{{0,80}}"
        rf"[ \t]{{1,9}}+)(?!\[masked|-)\S++(?=[ \t\r]{{0,40}}(?:{END}|[;&|#\"'`]))"
    ),
    _rule(
        r"((?<![\w\-])-u[ \t]{0,9}+[\"']?[A-Za-z][\w.@\-]{0,60}:)(?!\[masked|//|\d{1,6}(?!\w))[^\s\"'/:]++(?="
        r"[\s\"']|$)",
        " -u",
    ),
    _rule(
        r"(?i)((?<![\w])(?:addauth[ \t]{1,9}+\w{1,20}|stats[ \t]{1,9}+auth)[ \t]{1,9}+[^\s:]{1,100}:)"
        r"(?!\[masked)[^\s\"']++",
        "addauth",
        "stats auth",
    ),
    _rule(r"((?:-pass(?:in|out)?|--pass(?:in|out)?)[ \t=]{1,9}+pass:)(?!\[masked)[^\s\"']++"),
    _rule(r"(--from-literal[= ][\w.\-]{1,100}=)(?!\[masked)(?:\"[^\"\n]++\"|'[^'\n]++'|[^\s\"']++)"),
    _rule(
        rf"(?i)((?:configure|config)[ \t]{{1,9}}+set[ \t]{{1,9}}+[\w.\-]{{0,60}}(?:{KEY}|requirepass)"
        rf"[ \t]{{1,9}}+)(?!\[masked)\S++",
        *_OF_NAMES,
    ),
    # A line that is one setting: everything after the sign; in mosquitto.conf and redis.conf there is no sign.
    _rule(
        rf"(?i)({START}[ \t]{{0,40}}(?:-[ \t]{{1,9}})?+(?:export[ \t]{{1,9}})?+"
        rf"[\w.\-]{{0,80}}?{HARD_KEY}{IS}){_NO_SECRET}"
        rf"(?![\"'\\])(?=\S++[ \t\r]{{0,40}}{END}|[^\n=:]*+{END}|[^\n]*?{JOINT})[^\s{JOINT}][^\n]*+"
    ),
    _rule(
        rf"(?i)({_BEGIN}[ \t]{{0,40}}(?:(?:env|arg|setenv)[ \t]{{1,9}})?[\w.\-]{{0,40}}?(?:passw"
        rf"(?:or)?d|secret|bridge_psk|requirepass|masterauth)(?:_file)?"
        rf"[ \t]{{1,40}}+){_NO_SECRET}(?![=:])[^\s\"\\]++(?={_STOP})"
    ),
    _rule(
        r"(?i)((?:login|machine|user(?:name)?(?=[^\n]{1,120}passw"
        r"(?:or)?d[ \t]{1,9}[^\s\d]*[\d!@#$%^&*+=~?]))[ \t]{1,9}[\w*]\S{0,100}[ \t]{1,9}passw"
        r"(?:or)?d[ \t]{1,9}+)(?!\[masked)"
        rf"{_NO_WORD}\S++"
    ),
    _rule(r"(?i)(//[\w.\-/:]{1,200}:_(?:auth|password|authToken)[ \t]{0,9}=[ \t]{0,9})(?!\[masked)\S++"),
    # An entry of a list of variables, `"DB_PASSWORD=two words"`.
    _rule(
        rf"(?i)((?<![\w\\=]\")(?<![\w\\=])\"[\w.\-]{{0,60}}{HARD_KEY}=)(?!\[masked|\\?\"){_NO_SECRET}"
        rf"[^\"\n\\]++(?=\")"
    ),
    # User and password as a pair.
    _rule(
        rf"(?i)((?<![a-z])(?:auth|credentials?){IS}(?:Some)?\({{1,2}}{_STRING}\s{{0,9}},\s{{0,9}}[\"'])"
        rf"(?!\[masked)[^\"'\n]++"
    ),
    # A pass phrase of several words.
    _rule(
        rf"(?i)((?:passw(?:or)?d|passphrase|passcode|pwd|api[ _\-]?key|口令|密码)(?:: |：) ?){_NO_SECRET}{_NO_WORD}"
        rf"(?![\w.$]{{1,200}}(?:Exception|Error)|[\"'\\])[^\s,;\"'(){{}}\[\]<>|=\\:]{{1,60}}{_WORDS_MORE}"
    ),
    # A setting anywhere. In JSON a number gets quotes, so that the document stays one.
    _rule(rf"(?i)({HARD_KEY}{IS})(?:{_MARKED})"),
    _rule(rf"(?i)({SOFT}{IS})(?:{_MARKED})"),
    _rule(rf"(?i)({HARD_KEY}{IS}{QUOTE}?+){_NO_SECRET}{_VALUE}"),
    _rule(rf"(?i)({SOFT}{IS}{QUOTE}?+){_NO_SECRET}{_NO_COUNT}{_VALUE}"),
    _rule(rf"(?i)((?:{{|\()[\"']?[\w.\-]{{0,60}}?{KEY}[\"']?,[ ]?<<\"){_NO_SECRET}[^\"\n]++", *_OF_NAMES),
    _rule(rf"(?i)((?:{START}|\s){KEY}\t{{1,9}}+)(?!\[masked)(?=[^\s]*\d|[^\s]++[ \r]{{0,9}}{END})\S++"),
    _rule(
        r"(?i)((?:密码|口令|令牌|密钥|授权码|验证码)(?:(?:为|是|：|改为|改成|已?重置为)[ \t]{0,4}[\"'「“]?|"
        r"[ \t]{0,4}[「“]|(?:(?<=新密码)|(?<=新口令))[ \t]{1,4}(?=[\x21-\x7e]*\d)))(?!\[masked)[\x21-\x7e]{4,}+"
    ),
    # The key of many meanings, where its value is no name of a method.
    _rule(
        rf"(?i)((?<![\w.\-])auth{QUOTE}{BLANK}{{0,9}}:{BLANK}{{0,9}}{QUOTE})(?!\[masked|"
        rf"(?:scram|sha|md5|oauth|tls|x\.?509|"
        r"kerberos|http|ldap|jwt|sasl|ntlm)[\w.\-]{0,20}[\"'\\])(?=[^\"'\\\n]{0,200}[\d=+/])[^\"'\\\n]++",
        'auth"',
        "auth'",
        'auth\\"',
    ),
    _rule(
        rf"(?i)((?<![a-z])(?:auth|cred(?:ential)?s?|zugangsdaten){IS}{QUOTE}?+[a-z][\w.@\-]{{0,60}}"
        rf"(?::|[ ]?/[ ]))(?!\[masked|//)"
        rf"(?=[^\s\"',]*[\d!#$%^&*+=~?])(?=[^\s\"',]*[a-z])[^\s\"',/]++(?=[\s\"']|$)",
        "auth:",
        "auth=",
        "auth ",
        'auth"',
        "auth'",
        'auth\\"',
        "cred:",
        "cred=",
        "creds",
        "credential",
        "zugangsdaten",
    ),
    _rule(rf"(?i)((?<![a-z])user(?:name)? ?/ ?pass(?:word)?{IS}[a-z][\w.@\-]{{0,60}} ?[/:] ?)(?!\[masked)[^\s\"',]++"),
    _rule(
        r"(random_password\"(?:(?!\"type\")[^\n]){0,3000}?\"result\"[ \t]{0,9}:[ \t]{0,9}\")(?!\[masked)"
        r"(?:[^\"\\\n]|\\[^\n])++",
        "random_password",
    ),
    # Calls and representations.
    _rule(
        rf"((?:username_pw_set|[Bb]asic_?[Aa]uth|\w{{0,40}}Credentials|\.auth)\(\s{{0,9}}"
        rf"(?:\w{{1,20}}=)?{_STRING}\s{{0,9}},\s{{0,9}}"
        r"(?:\w{1,20}=)?[\"'])(?!\[masked)[^\"'\n]++"
    ),
    _rule(
        r"((?:(?:set|with|[a-z]_)\w{0,40}(?:[Pp]assword|Secret|secret|[Tt]oken|[Pp]assphrase)|(?<!\w)"
        r"(?:Password|Secret(?:Str)?|Token))"
        r"\(b?[\"']?)(?!\[masked|\[hidden|null|None|\*+)[^\s()\"',]++(?=[\"']?\))"
    ),
    _rule(rf"(?i)(\([\"'][\w.\-]{{0,60}}{KEY}[\"'],[ ]?b?[\"'])(?!\[masked)[^\"'\n]++(?=[\"']\))", *_OF_NAMES),
    _rule(r"(?i)((?:identified[ \t]{1,9}by|password)[ \t]{1,9}[\"'])(?!\[masked)[^\"'\n=:,]++(?=[\"'])"),
    # Prose.
    _rule(
        rf"(?i)({_SPELLED}(?: (?:for|of|on|von|vom|für|zum) [^\s,;:]{{1,80}}(?: [^\s,;:]{{1,80}})?(?: {_VERB}|:"
        rf"(?! ?\d{{1,6}}(?!\w)))|"
        rf" {_VERB})(?: now| still| jetzt| set to| changed to)?[ :]{{1,4}}[\"'`]?){_NO_WORD}(?!\[masked)"
        rf"(?=[^\s\"'`]*[\d!@#$%^&*_+=~?]|[^\s\"'`]++[\"'`]|[^\s\"'`]++[ \t\r]{{0,9}}{END})[^\s\"'`,;]++(?<![.)])"
    ),
    _rule(
        rf"(?i)((?:(?:with|using|and|enter|use|the) "
        rf"(?:the |new |old )?{_SPELLED}|passwort|kennwort) [\"'`]?){_NO_WORD}(?!\[masked)"
        r"(?=[^\s\"'`]*\d)(?=[^\s\"'`]*[a-z])[^\s\"'`,;]++(?<![.)])"
    ),
    *(
        _rule(rf"(?i)(passw[^\n]{{0,80}}?[ ,;({{]{which}[ ]?[=:][ ]?{QUOTE}?+){_NO_SECRET}{_NO_COUNT}{_VALUE}", "passw")
        for which in ("old", "new")
    ),
    # Credentials in addresses; `host:port` is none.
    _rule(r"(://[^\s/:@\"'<>]{0,100}:)(?!\[masked|\d{1,5}[,/\s])[^\s/\"'<>]{1,200}(?=@)"),
    _rule(r"(?i)(%3A(?:%2F){2}[^\s%&\"']{1,100}%3A)(?!\[masked)[^\s&\"'@]{1,200}?(?=%40)"),
    _rule(
        rf"(?i)({HARD_KEY}(?:%22|%27)?%3[AD](?:%20)?(?:%22|%27)?)(?!\[masked)(?:[^\s&\"'<>%\\]|%(?!2"
        rf"[267C]|0A|40|3B|7D))++"
    ),
    _rule(
        rf"(?i)({SOFT}(?:%22|%27)?%3[AD](?:%20)?(?:%22|%27)?)(?!\[masked)(?:[^\s&\"'<>%\\]|%(?!2"
        rf"[267C]|0A|40|3B|7D))++"
    ),
    _rule(r"(?i)(jdbc:oracle:[a-z]{1,5}:[^\s/]{1,100}/)(?!\[masked)[^\s@]{1,200}(?=@)"),
    _rule(r"(?i)((?<!\w)(?:sig|[\w\-]{0,40}signature)=)(?!\[masked)[^\s&\"'\\]++", "sig=", "signature="),
    # Headers.
    _rule(
        rf"(?i)((?<![a-z])authorization{IS}{QUOTE}?+(?:(?:basic|bearer|digest|negotiate|apikey|token|ntlm)"
        rf"[ \t]{{1,9}})?+)"
        r"(?!\[masked)[^\s\"',;\\]++"
    ),
    _rule(rf"(?i)((?<![a-z])cookie{IS}{QUOTE}?+)(?!\[masked)[^\s\"'\\][^\n\"'\\]*+"),
    _rule(r"(?i)((?<![a-z])(?:bearer|basic)[ \t]{1,9}+)(?=[^\s\"']{0,200}[\d=])[\w.~+/=\-]{8,}+"),
    _rule(r"(?i)(digest [^\n]{0,600}?response=\\?\")[0-9a-f]{32,128}"),
    # What SCRAM exchanges: salts, proofs, signatures; what ZooKeeper's scheme of digests keeps.
    _rule(r"((?<![\w])(?:[cr]=[^,\s\"']{1,300},){1,2}[ps]=)[A-Za-z0-9+/]{8,}={0,2}", ",p=", ",s="),
    _rule(r"((?<![\w])digest[\"',: ]{1,4}[\w.\-]{1,60}:)[A-Za-z0-9+/]{20,}={0,2}"),
    # The payload of a message as RocketMQ's clients print it.
    _rule(r"((?<!\w)body=)\[-?\d[-\d, ]*+\]?+"),
    # The payload of a message that VerneMQ refused.
    _rule(r"(can't auth publish \[[^\n]*?\d,\[[^\]\n]*\],)(?!\[masked)[^\n]*(?=,(?:true|false)[,\]])"),
    # The payload of a record as kafka-dump-log prints it; those of __consumer_offsets are offsets.
    _rule(
        r"((?<![^\n])(?:\| )?offset: \d++ (?![^\n]*? key: (?:\{\""
        r"(?:type|version)\":\"?\d{1,3}\"?,\"data\":|\{\"metadata\":\"|"
        r"(?:offset_commit|group_metadata|metadata|offset)::))(?:(?! payload: )[^\n])*+ payload: )"
        r"(?!\[masked\])[^\n]++"
    ),
    # The name that rocketmq-spring gives a client: access key, secret key (more than six characters, as the broker asks
    # for), name, process. A row of a ledger may look like it: ``bob@example.com|0|33|2026-11-21 12:00:00``.
    _rule(r"(@[^@|\s]{1,200}\|)(?!\[masked|\d{1,6}\|)[^|\s]{1,200}+(?=\|[^|\s]{1,200}\|\d{1,7}(?![\w\-]))"),
    # A line of .pgpass.
    _rule(
        rf"({START}(?:[a-zA-Z*][\w.\-]{{0,100}}|\*):(?:\d{{2,5}}|\*):[^\s:]{{1,60}}:[a-zA-Z*][^\s:]{{0,60}}:)"
        rf"(?!\[masked)[^\s:]++"
        rf"(?=[ \t\r]{{0,9}}{END})"
    ),
    *(_rule(rule, *words) for rule, *words in shapes.RULES),
)
_ENCODED = (
    rf"{_BEGIN}[ \t]{{0,40}}[A-Za-z0-9+/]{{20}}|@[^@|\s]{{1,200}}\||{START}[a-zA-Z*][\w.\-]{{0,100}}:"
    rf"(?:\d{{2,5}}|\*):"
)
_ENCODED_ANYWHERE = (
    r"(?:^|\n|[\"PF|\]] ?)[ \t]{0,40}[A-Za-z0-9+/]{20}|@[^@|\s]{1,200}\||"
    r"(?:^|\n)[a-zA-Z*][\w.\-]{0,100}:(?:\d{2,5}|\*):"
)
"""What shows a secret without a word, for Polars, which looks neither back nor ahead."""


_PATTERNS = tuple((re.compile(rule, re.ASCII), words) for rule, words in _RULES)
_SHORT = frozenset(f"pw{sign}" for sign in "=:-\"' \\\t")
"""For ``pw``, which is in too many words."""
_LONG = _SHORT.union(word for _, words in _PATTERNS for word in words if len(word.encode()) > 2)
HINTS = sorted(word for word in _LONG if not any(other in word for other in _LONG - {word}))
"""A text without any of these words, in lower case, holds no secret; looking for words is cheap."""
_ENCODED_PATTERN = re.compile(_ENCODED)
_EVERY = frozenset(number for number, (_, words) in enumerate(_PATTERNS) if not words)
_OF_WORD: dict[str, set[int]] = defaultdict(set)
for _number, (_, _some) in enumerate(_PATTERNS):
    for _word in _some:
        _OF_WORD[_word].add(_number)
_WORDS = list(_OF_WORD)
_SHORT_TEXT = 4000
"""Characters up to which words are looked for one by one: to build an automaton of all of them costs more."""


def is_likely(text: str) -> bool:
    """Whether a *text* may hold a secret."""
    small = text.lower()
    return any(word in small for word in HINTS) or _ENCODED_PATTERN.search(text) is not None


def likely(texts: pl.Series) -> list[int]:
    """The places of those of *texts* that may hold a secret."""
    if texts.estimated_size() > _SHORT_TEXT:
        found = texts.str.contains_any(HINTS, ascii_case_insensitive=True) | texts.str.contains(_ENCODED_ANYWHERE)
        return found.fill_null(False).arg_true().to_list()
    some = [text or "" for text in texts]
    is_encoded = _ENCODED_PATTERN.search("\n".join(some)) is not None
    return [
        place
        for place, (text, words) in enumerate(zip(some, _words(some, HINTS), strict=True))
        if words or (is_encoded and _ENCODED_PATTERN.search(text))
    ]


def _words(texts: Sequence[str], words: Iterable[str]) -> list[list[str]]:
    """Which of the *words* stand in each of *texts*: fast where these are short and few."""
    small = [text.lower() for text in texts]
    whole = "\n".join(small)
    present = [word for word in words if word in whole]
    return [[word for word in present if word in text] for text in small]


def within_lines(texts: Sequence[str]) -> list[str]:
    """*texts* with the secrets masked that stand in one line each."""
    if len(texts) == 1 or sum(map(len, texts)) <= _SHORT_TEXT:
        return [_masked(text, words) for text, words in zip(texts, _words(texts, _WORDS), strict=True)]
    found = pl.Series(texts, dtype=pl.String).str.to_lowercase().str.extract_many(_WORDS, overlapping=True)
    return [_masked(text, words) for text, words in zip(texts, found, strict=True)]


def _masked(text: str, words: Iterable[str]) -> str:
    numbers = _EVERY.union(*(_OF_WORD[word] for word in set(words)))
    hidden = _piecewise if JOINT in text else rf"\g<1>{MASK}"
    for number in sorted(numbers):
        text = _PATTERNS[number][0].sub(hidden, text)
    return text


def _piecewise(found: re.Match[str]) -> str:
    """A mask for each line that the secret stood in."""
    begin, value = found[1], found[0][len(found[1]) :]
    return begin + JOINT.join([MASK] * (value.count(JOINT) + 1))
