"""A text as `mqlab redact` would write it, without tables and without Spark."""

from collections import defaultdict

from mqlab.gather.redact_check import Search
from mqlab.gather.redact_images import TOKEN, Images, addresses, is_worth_a_look, small
from mqlab.gather.redact_names import in_text, settled
from mqlab.gather.redact_payloads import without_payloads
from mqlab.gather.redact_pseudonyms import Pseudonyms
from mqlab.gather.redact_rewriting import Rewriter
from mqlab.gather.redact_words import STRUCTURE, own_words

KEY = b"owner"
OWN = own_words({"kafka-broker-log", "kafka-client-log", "kafka-consumer-groups"})
CORE = STRUCTURE.union(map(small, OWN))


def rewriter(text, tables=()):
    """What rewrites *text*; *tables* are (kind, name) as mqlab's tables would tell them."""
    data = text.encode()
    tokens = {token.decode() for token in TOKEN.findall(data) if is_worth_a_look(token)}
    found = defaultdict(set)
    for kind, name in [*((kind, name) for kind, name in in_text(text) if name not in OWN), *tables]:
        found[kind].add(name)
    found["address"].update(addresses(tokens))
    names = settled(found)
    numbers = names.pop("number", set())
    drawn = Pseudonyms(KEY, {name for known in names.values() for name in known}, OWN)
    images = Images(KEY, drawn, {*tokens, *drawn.tokens}, numbers, CORE).of
    return Rewriter(images, drawn, CORE), images, names


def redacted(text, tables=()):
    """*text* as it would be shared."""
    plain = b"".join(without_payloads([text.encode()]))
    writer, _, _ = rewriter(plain.decode(), tables)
    return writer.rewritten(plain).decode()


def left(text, written, tables=()):
    """What the last look finds in *written* of what *text* said."""
    _, images, names = rewriter(text, tables)
    search = Search(images, {name for known in names.values() for name in known}, set(images.values()))
    search.look(written.encode())
    return dict(search.found)
