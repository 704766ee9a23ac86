r"""Secrets that go over several lines: joined, or found as a block, before single lines are looked at.

Sample texts, of each of which the last line is no secret to anybody who sees it alone::

    ssl.keystore.key=-----BEGIN PRIVATE KEY----- \        password: |          - name: DB_PASSWORD
      MIIEvQIBADANBgkqhkiG9w0BAQEFAASC                      two words            value: x

A text keeps its number of lines; what is hidden in a line keeps its indentation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import polars as pl

from mqlab.secrets import nested, rules
from mqlab.secrets.keys import HARD, IS, JOINT, KEY, MASK, QUOTE, SIGN, is_count, is_harmless, is_secret

_JOINT = re.compile(rf"(?<!\\)((?:\\\\)*)(\\\r?\n[ \t]*)|{JOINT}")
_CONTINUED = re.compile(r"(?:(?<=\n)|\A)(?:[^\n]*(?<!\\)(?:\\\\)*\\\r?\n)++[^\n]*")

_PEM = re.compile(
    r"(?P<head>-----BEGIN[ A-Z0-9]{0,40}-----[^\n\w]{0,12}\n)"
    r"(?P<body>(?:[ \t>|\"'+#*]*+(?:(?!-----)[\w+/=.,\-]{1,200}|"
    r"(?:Proc-Type|DEK-Info|Comment|Version|Hash|X-[\w\-]{1,20}):[^\n]{0,200}|)"
    r"[\"' +\\,nr]{0,12}\r?(?:\n|\Z))++)(?=[ \t>|\"'+#*]*+-----END|[^\n]*)"
)
_CORE = re.compile(r"[\w+/=][^\n\\\"']*(?<=[\w+/=])")

_NAME = rf"(?:[\w.\-]{{0,60}}?{KEY})"
_HEADER = re.compile(
    rf"(?i)(?P<indent>[ \t]*(?:-[ \t]+)*)(?P<name>{QUOTE}?{_NAME}{QUOTE}?)[ \t]*(?:{SIGN}[ \t]*(?P<block>"
    rf"[|>][\d+\-]{{0,2}})?|)"
    r"[ \t]*(?:#.*)?\r?$",
    re.ASCII,
)
_CHILD = re.compile(
    r"(?P<indent>\s*(?:-\s+)*)(?:(?P<name>[\"']?[\w.\-/]{1,80}[\"']?)(?P<sign>\s*(?::(?=\s)|=|:$)\s*))?(?P<value>.*)"
)
_FRAME = re.compile(r"\s+at |\s+\.\.\. |\[?\d{4}-\d\d-\d\d[T ]\d\d:")
_ALONE = re.compile(r"[\"']?[^\s:=\"'{}\[\]<>]{4,200}[\"']?\r?$")
_IS_KIND = re.compile(r"(?i)kind[\"'\\]*\s*:\s*[\"'\\]*secret")
_SECRET = re.compile(r"(?P<indent>[ \t]*(?:-[ \t]+)?)[\"']?kind[\"']?[ \t]*:[ \t]*[\"']?Secret[\"']?[ \t]*(?:#.*)?\r?$")
_DATA = re.compile(r"[ \t]*(?:-[ \t]+)?[\"']?(?:data|stringData)[\"']?[ \t]*:[ \t]*\r?$")
_PAIR = re.compile(
    rf"(?i)((?:name|key)[\"']?[ \t]*[=:][ \t]*[\"']?[\w.\-]{{0,60}}?{KEY}[\"']?[ \t]*,?[ \t]*\r?\n"
    rf"(?:(?![^\n]{{0,200}}(?:name|key|value)[\"']?[ \t]*[=:])[^\n{{}}]{{0,200}}\n){{0,2}}?[ \t]*"
    rf"[\"']?value[\"']?[ \t]*[=:][ \t]*)(?!\[masked)(?P<value>[^\s|>{{\[][^\n]*?)(?P<rest>[ \t]*,?\r?(?=\n|\Z))"
)
_PAIR_BLOCK = re.compile(
    rf"(?i)(?P<begin>name[\"']?[ \t]*:[ \t]*[\"']?[\w.\-]{{0,60}}?{KEY}[\"']?[ \t]*\r?\n"
    rf"(?P<indent>[ \t]*)[\"']?value[\"']?[ \t]*:[ \t]*[|>][\d+\-]{{0,2}}[ \t]*\r?\n)"
    rf"(?P<value>(?:(?P=indent)[ \t]+[^\n]*(?:\n|\Z)|[ \t]*\r?\n){{1,200}})"
)
_ELEMENT = re.compile(
    rf"(?i)(?P<begin><name>[\w.\-]{{0,60}}?{KEY}</name>\s{{0,200}}<value>\s{{0,200}}|<(?P<tag>"
    rf"[\w.:\-]{{0,60}}?{KEY})(?:\s[^<>\n]{{0,200}})?>\s{{0,200}})"
    r"(?!\[masked)(?P<value>[^<\s][^<]{0,20000}?)(?=\s{0,200}</)"
)
_QUOTED = re.compile(
    rf"(?i)(?P<begin>{HARD}[\w.\-]{{0,40}}{IS})(?:(?P<mark>\"\"\"|''')(?P<value>(?:(?!(?P=mark))[\s\S]){{0,20000}}?)"
    r"(?P=mark)|(?P<quote>[\"'])(?![ \t]|\[masked)(?P<short>[^\n\"']{0,2000}(?:\n"
    r"(?![ \t]*[\w.\-]+[ \t]*[=:]|\[?\d{4}-\d|\s+at )[^\n\"']{0,400}){1,5})(?P=quote))"
)
_COLUMN = re.compile(r"[\w.\- ]{1,80}")
_CELLS = re.compile(r"[\w .\-\"'\r]*(?:([,;\t|])[\w .\-\"'\r]*)+")
_RULER = re.compile(r"(?=[^\n]*-)[ \t|+:\-]++\r?")
_ARGUMENT = re.compile(
    rf"(?i)(?P<begin>(?:(?<=\n)|\A)[ \t]*(?:-[ \t]+)?(?P<mark>[\"']?)(?:--?[\w.\-]{{0,60}}?{KEY}|(?-i:-P))"
    rf"(?P=mark)[ \t]*,?[ \t]*"
    rf"\r?\n[ \t]*(?:-[ \t]+)?(?P=mark))(?![\[\-{{]|\d{{1,5}}\b)(?P<value>[^\s\"'][^\n\"']*?)(?="
    rf"(?P=mark)[ \t]*,?[ \t]*\r?(?:\n|\Z))"
)
_RANDOM = re.compile(
    r"(?P<begin>random_password\"(?:(?!\"type\")[\s\S]){0,3000}?\"result\"[ \t]*:[ \t]*\")(?!\[masked)(?P<value>"
    r"(?:[^\"\\\n]|\\[^\n])++)"
)


_WORD = (
    r"(?:passw|kennwort|passphrase|passcode|pwd|secret|credential|jaas|certificate.chain|user.info|\bsalt|token|pass|\bpw|"
    r"(?:api|access|private|account|master|stored|server|encryption|signing|keystore|shared|webhook|client)[._ -]?key|"
    r"\bpsk|\bhmac|secure.?json.?data|密码|口令|令牌|密钥|密匙|私钥|凭证|凭据|授权码|验证码|パスワード|비밀번호|пароль|contraseña)"
)
_OPENERS = "|".join((
    r"-----BEGIN",
    r"\\\r?$",
    rf"{_WORD}[\w.\-\"'\\]*\s*(?:(?:=>|->|→|:=|[:=：＝])\s*)?(?:[|>][\d+\-]*|\"\"\"|''')?[\s,]*(?:#.*)?$",
    rf"{_WORD}[\w.\-\"'\\]*\s*(?:=>|->|:=|[:=])?\s*(?:[\[{{](?:[^hm\s]|\s|$)|\"\"\"|'''|\"[^\"]*$|'[^']*$)",
    r"kind[\"'\\]*\s*:\s*[\"'\\]*secret",
    rf"<[^<>]*{_WORD}[^<>]*>\s*$|{_WORD}[\w.\-]*</[^<>]*>\s*(?:<value>\s*)?$",
    rf"^(?:[\w .\-\"']*[,;\t|])+[\w .\-\"']*{_WORD}[\w .\-\"']*(?:[,;\t|][\w .\-\"']*)*\r?$",
    rf"^[\w .\-\"']*{_WORD}[\w .\-\"']*(?:[,;\t|][\w .\-\"']*)+\r?$",
    r"^[\s\-\"']*-P[\"',\s]*$",
    r"random_password\"",
))  # fmt: skip
"""Lines with which a secret of several lines may begin, for Polars, which looks neither back nor ahead."""
_ENDS = r"(?:[:=|>{\[\\\"',+\-]|\w[DEKNSTWYdeknstwy])\s*$|-----BEGIN"
"""How such lines end, or nearly all: looked for from their end, which costs a tenth."""
_SMALL = 20_000
"""Lines up to which a text is looked through for all of them: settings and documents, not logs."""
_AHEAD = 200
"""Lines that are looked at behind such a line; more, as long as the last of them belong to the secret."""
_BACK = 500
"""Lines before the kind of a Kubernetes Secret in which its data may stand."""


def masked(lines: pl.Series) -> pl.Series:
    """Neighbouring *lines* of a file with the secrets masked that go over lines."""
    changed: dict[int, str] = {}
    start = done = 0
    for place in _openers(lines):
        first = max(0, place - _BACK) if _IS_KIND.search(lines[place]) else place
        if place >= done or first < start:
            start, done = first, max(done, _look(lines, first, place + _AHEAD, changed))
    return lines.clone().scatter(list(changed), list(changed.values())) if changed else lines


def _openers(lines: pl.Series) -> list[int]:
    """The places of lines with which a secret of several lines may begin."""
    if len(lines) <= _SMALL:
        return lines.str.contains(f"(?i){_OPENERS}").fill_null(False).arg_true().to_list()
    near = lines.str.contains(_ENDS).fill_null(False).arg_true()
    return near.filter(lines.gather(near).str.contains(f"(?i){_OPENERS}")).to_list()


def _look(lines: pl.Series, first: int, end: int, changed: dict[int, str]) -> int:
    """Put the lines from *first* on that become others into *changed*; up to where nothing else begins."""
    while True:
        end = min(end, len(lines))
        before = [changed.get(number, text) for number, text in enumerate(lines[first:end], first)]
        after = _masked("\n".join(before)).split("\n")
        found = {first + n: new for n, (new, old) in enumerate(zip(after, before, strict=True)) if new != old}
        if end == len(lines) or not found or max(found) < end - 2:
            changed.update(found)
            return end if end == len(lines) else end - _AHEAD // 2
        end = first + 4 * (end - first)


def _masked(text: str) -> str:
    text = _PEM.sub(_key, text) if "-----BEGIN" in text else text
    text = _CONTINUED.sub(_joined, text)
    text = nested.secrets_of_kubernetes(nested.lists_and_objects(text))
    text = _QUOTED.sub(_quoted, text)
    text = _PAIR.sub(lambda found: found[1] + _like(found["value"]) + found["rest"], text)
    text = _PAIR_BLOCK.sub(lambda found: found["begin"] + _each_line(found["value"]), text)
    text = _ARGUMENT.sub(lambda found: found["begin"] + MASK, text)
    text = _RANDOM.sub(lambda found: found["begin"] + MASK, text)
    text = _ELEMENT.sub(lambda found: found["begin"] + _each_line(found["value"]), text)
    return "\n".join(_columns(_indented(text.split("\n"))))


def _quoted(found: re.Match[str]) -> str:
    mark = found["mark"] or found["quote"]
    return found["begin"] + mark + _each_line(found["value"] or found["short"] or "") + mark


def _key(found: re.Match[str]) -> str:
    lines = found["body"].split("\n")
    return found["head"] + "\n".join(_CORE.sub(MASK, line, count=1) if line.strip() else line for line in lines)


def _joined(found: re.Match[str]) -> str:
    r"""Lines that a backslash joins, masked as one."""
    small = found[0].lower()
    if not any(word in small for word in rules.HINTS):
        return found[0]
    joints: list[str] = []

    def join(one: re.Match[str]) -> str:
        joints.append(one[2] or one[0])
        return (one[1] or "") + JOINT

    (one,) = rules.within_lines([_JOINT.sub(join, found[0])])
    parts = one.split(JOINT)
    return "".join(part + joint for part, joint in zip(parts, [*joints, ""], strict=True))


def _each_line(value: str) -> str:
    return "\n".join(_hidden(line) if line.strip() else line for line in value.split("\n"))


def _hidden(line: str) -> str:
    """What remains of a line that is a secret: its indentation and its end."""
    bare = line.strip()
    return line if bare == MASK else line.replace(bare, MASK, 1)


def _like(value: str) -> str:
    """A mask in the quotes of *value*."""
    mark = value[0] if value[:1] in "\"'" and value[-1:] == value[:1] else ""
    return f"{mark}{MASK}{mark}"


def _indented(lines: list[str]) -> list[str]:
    """*lines* with what stands below the name of a secret, and in a Kubernetes Secret, masked."""
    place = 0
    while place < len(lines):
        line = lines[place]
        if (kind := _SECRET.match(line)) is not None:
            _kubernetes(lines, place, len(kind["indent"]))
        header = _HEADER.match(line) if len(line) < _LONGEST_NAME else None
        if header is None:
            place += 1
            continue
        below = list(_below(lines, place, len(header["indent"])))
        name = header["name"].strip("\"'\\")
        if header["block"]:
            for number in below:
                lines[number] = _hidden(lines[number])
        elif below:
            _children(lines, below, name)
        elif place + 1 < len(lines) and _is_prompted(line, lines[place + 1]):
            lines[place + 1] = _hidden(lines[place + 1])
        place = below[-1] + 1 if below else place + 1
    return lines


_LONGEST_NAME = 300
"""Characters of a line that may be a name alone."""


def _below(lines: Sequence[str], place: int, column: int) -> Iterator[int]:
    """The lines below *place* that stand deeper than *column*, blank ones between them left out."""
    for number in range(place + 1, len(lines)):
        line = lines[number]
        if not line.strip():
            continue
        indent = len(line) - len(line.lstrip())
        item = indent == column and line.lstrip().startswith("- ") and not lines[place].lstrip().startswith("- ")
        if (indent <= column and not item) or _FRAME.match(line):
            return
        yield number


def _children(lines: list[str], below: Sequence[int], name: str) -> None:
    """Mask values of a mapping or list under a *name*, but those whose own names are harmless."""
    for number in below:
        child = _CHILD.match(lines[number])
        value = child["value"].strip() if child else ""
        if not child or not value or value.startswith("#") or value in ("|", ">", "|-", ">-", "null", "true", "false"):
            continue
        key = (child["name"] or "").strip("\"'")
        if (key and is_harmless(key)) or (is_count(name) and value.isdigit()) or MASK in value or value[0] in "[{]}":
            continue
        lines[number] = child["indent"] + (child["name"] or "") + (child["sign"] or "") + _like(value)


def _is_prompted(line: str, answer: str) -> bool:
    """Whether the line behind the name of a secret is its value."""
    return bool(re.search(r"[:=]\s*$", line)) and _ALONE.match(answer.strip()) is not None and MASK not in answer


def _kubernetes(lines: list[str], place: int, column: int) -> None:
    """Mask the data of the Secret whose kind stands in this *place* and *column*."""
    for first in _siblings(lines, place, column):
        if _DATA.match(lines[first]):
            block = -1
            for number in _below(lines, first, column):
                child = _CHILD.match(lines[number])
                indent = len(lines[number]) - len(lines[number].lstrip())
                is_block = block >= 0 and indent > block
                block = block if is_block else -1
                if is_block or child is None or not child["name"]:
                    lines[number] = _hidden(lines[number])
                elif re.fullmatch(r"[|>][\d+\-]{0,2}", child["value"].strip()):
                    block = indent
                elif child["value"].strip() and MASK not in child["value"]:
                    lines[number] = child["indent"] + child["name"] + child["sign"] + _like(child["value"].strip())


def _siblings(lines: Sequence[str], place: int, column: int) -> Iterator[int]:
    """The lines of the mapping that *place* stands in whose names stand in its *column*."""
    for step, end in ((-1, -1), (1, len(lines))):
        for number in range(place + step, end, step):
            line = lines[number]
            bare = line.lstrip()
            indent = len(line) - len(bare)
            is_item = bare.startswith("- ") and indent + 2 == column
            if bare and not is_item and (indent < column or bare.startswith(("---", "kind:"))):
                break
            if is_item and step > 0:
                break
            if is_item or (bare and indent == column):
                yield number
            if is_item:
                break


def _is_secret(cell: str) -> bool:
    name = cell.strip(" \t\r\"'")
    return _COLUMN.fullmatch(name) is not None and is_secret(name.replace(" ", "_"))


def _columns(lines: list[str]) -> list[str]:
    """*lines* with the cells masked that stand under the name of a secret in a table."""
    place = 0
    while place < len(lines):
        header = lines[place]
        cells = _CELLS.fullmatch(header) if len(header) < _LONGEST_NAME else None
        mark = cells[1] if cells else ""
        secret = [n for n, cell in enumerate(header.split(mark)) if _is_secret(cell)] if mark else []
        place += 1
        if not secret:
            continue
        if place < len(lines) and _RULER.fullmatch(lines[place]):
            place += 1
        while place < len(lines) and lines[place].count(mark) == header.count(mark):
            parts = lines[place].split(mark)
            for number in secret:
                if parts[number].strip() and parts[number].strip() != MASK:
                    parts[number] = _like(parts[number].strip())
            lines[place] = mark.join(parts)
            place += 1
    return lines
