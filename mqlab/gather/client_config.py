"""How a cluster is reached: the properties of a client, under librdkafka's names or Java's, as librdkafka takes them.

Sample lines of Java::

    security.protocol=SASL_SSL
    sasl.mechanism=SCRAM-SHA-512
    sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required username="gatherer" password="…";
    ssl.truststore.type=PEM
    ssl.truststore.location=/etc/kafka/ca.pem

Only what a connection needs is taken: no group, no serializers, nothing that commits, no plug-ins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import javaproperties

from mqlab.errors import MqlabError

_OURS = {
    "client.id": "mqlab-capture",
    "enable.sparse.connections": "false",
    "metadata.recovery.strategy": "none",
}
"""What brokers and their audit logs see; one connection to each broker that stays; and waits between two tries to
connect that are kept.

With sparse connections librdkafka tries a broker that is down once a second, whatever ``reconnect.backoff.ms`` says.
With ``rebootstrap``, its default, it forgets when it tried last whenever no broker is left: five tries a second.
"""
BETWEEN_TRIES_MS = 3000
"""Milliseconds between two tries to connect to one broker, at least: librdkafka takes a quarter off by chance, so that
two seconds are left. Higher values of the user hold."""
_LONGEST_BETWEEN_MS = 10_000
"""Milliseconds to which librdkafka doubles that time while a broker is down, its own default."""
_RENAMED = {
    "sasl.kerberos.kinit.cmd": "sasl.kerberos.kinit.cmd",
    "ssl.truststore.certificates": "ssl.ca.pem",
    "ssl.keystore.certificate.chain": "ssl.certificate.pem",
    "ssl.keystore.key": "ssl.key.pem",
    "ssl.cipher.suites": "ssl.cipher.suites",
    "sasl.login.connect.timeout.ms": "",
}
_TAKEN = re.compile(
    r"bootstrap\.servers|metadata\.broker\.list|security\.protocol|sasl\.(?:mechanisms?|username|password|kerberos\..+"
    r"|oauthbearer\..+)|ssl\.(?:key\.|certificate\.|ca\.|crl\.|keystore\.(?:location|password)|cipher\.suites|curves"
    r"|sigalgs|providers|endpoint\.identification\.algorithm)\S*|enable\.ssl\.certificate\.verification"
    r"|client\.dns\.lookup|broker\.address\.(?:family|ttl)|socket\.(?!receive|send)\S+|api\.version\.\S+"
    r"|reconnect\.backoff(?:\.max)?\.ms|https\.ca\.\S+",
    re.ASCII,
)
"""What librdkafka knows of connections by the same name."""
_LOGIN = re.compile(r"\s*(?P<module>[\w.$]+)\s+(?:required|requisite|sufficient|optional)\b(?P<options>.*)", re.DOTALL)
_OPTION = re.compile(r"([\w.]+)\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'|([^\s;]+))")
_CREDENTIALS = {
    "PlainLoginModule": {"username": "sasl.username", "password": "sasl.password"},
    "ScramLoginModule": {"username": "sasl.username", "password": "sasl.password"},
    "OAuthBearerLoginModule": {
        "clientId": "sasl.oauthbearer.client.id",
        "clientSecret": "sasl.oauthbearer.client.secret",
        "scope": "sasl.oauthbearer.scope",
    },
    "Krb5LoginModule": {
        "keyTab": "sasl.kerberos.keytab",
        "principal": "sasl.kerberos.principal",
        "serviceName": "sasl.kerberos.service.name",
    },
}
"""By the class of Java's login module, what its options are for librdkafka."""


class ClientConfigError(MqlabError):
    """The properties of a client cannot be used."""

    def __init__(self, because: str) -> None:
        super().__init__(f"The cluster cannot be reached with these properties: {because}.")


def client_config(file: Path | None, bootstrap: str | None) -> tuple[dict[str, str], list[str]]:
    """Properties for librdkafka out of a *file* and *bootstrap* servers, which win; and names that are not used.

    Raises:
        ClientConfigError: the file cannot be read, names no servers, or asks for what librdkafka has not.
    """
    told = _read(file) if file else {}
    found = dict(_translated(told))
    other = found.pop("metadata.broker.list", "")
    found["bootstrap.servers"] = bootstrap or found.get("bootstrap.servers") or other
    if not found["bootstrap.servers"]:
        raise ClientConfigError("bootstrap.servers is missing; add it to the file or give --bootstrap")
    left = sorted(key for key in told if not (_TAKEN.fullmatch(key) or key in _RENAMED or key in _JAVA))
    return found | _patient(found) | _OURS, left


def _patient(found: Mapping[str, str]) -> dict[str, str]:
    """The times between two tries to connect, raised where they are too short; what is no number stays as it is."""
    least, patient = BETWEEN_TRIES_MS, {}
    for key, usual in (("reconnect.backoff.ms", least), ("reconnect.backoff.max.ms", _LONGEST_BETWEEN_MS)):
        told = found.get(key, str(usual))
        patient[key] = told
        if told.lstrip("-").isdecimal():
            least = max(int(told), least)
            patient[key] = str(least)
    return patient


def _read(file: Path) -> Mapping[str, str]:
    try:
        told = javaproperties.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ClientConfigError(f"{file}: {getattr(error, 'strerror', None) or error}") from error
    provided = next((key for key, value in told.items() if re.search(r"\$\{\w+:", value)), None)
    if provided:
        raise ClientConfigError(f"{provided} comes from a config provider; write the value itself")
    return {key.strip(): value.strip() for key, value in told.items()}


def _translated(told: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for key, value in told.items():
        if key == "ssl.endpoint.identification.algorithm":
            yield key, value or "none"  # Java leaves it empty to switch it off
        elif key in _RENAMED:
            yield from [(_RENAMED[key], value)] if _RENAMED[key] else []
        elif _TAKEN.fullmatch(key) and not (key.startswith("ssl.keystore") and "ssl.keystore.type" in told):
            yield key, value
    yield from _logged_in(told)
    yield from _trusting(told)
    yield from _shown(told)


def _logged_in(told: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """User and password of Java's ``sasl.jaas.config``."""
    if handler := told.get("sasl.client.callback.handler.class"):
        raise ClientConfigError(f"{handler} is a Java class; use a mechanism without one, such as SCRAM")
    login = _LOGIN.match(told.get("sasl.jaas.config", ""))
    if not login:
        return
    module = login["module"].rpartition(".")[2]
    if module not in _CREDENTIALS:
        raise ClientConfigError(f"{module} in sasl.jaas.config is not known; write sasl.username and sasl.password")
    for option, *values in _OPTION.findall(login["options"]):
        if key := _CREDENTIALS[module].get(option):
            yield key, re.sub(r"\\(.)", r"\1", next(filter(None, values), ""))
    if module == "OAuthBearerLoginModule":
        yield "sasl.oauthbearer.method", "oidc"


def _trusting(told: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The authorities of Java's trust store, which librdkafka reads as PEM only."""
    store = told.get("ssl.truststore.location")
    if store:
        if _kind(told, "truststore", store) != "PEM":
            raise ClientConfigError(
                f"{store} is a Java key store: export its certificates with "
                f"`keytool -list -rfc -keystore {store} > ca.pem` and write ssl.ca.location=ca.pem instead"
            )
        yield "ssl.ca.location", store


def _shown(told: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The client's own certificate out of Java's key store: PEM or PKCS#12."""
    store = told.get("ssl.keystore.location")
    if not store or "ssl.keystore.type" not in told:
        return
    kind = _kind(told, "keystore", store)
    if kind == "PEM":
        yield from (("ssl.certificate.location", store), ("ssl.key.location", store))
    elif kind == "PKCS12":
        yield from (("ssl.keystore.location", store), ("ssl.keystore.password", told.get("ssl.keystore.password", "")))
    else:
        raise ClientConfigError(
            f"{store} is a Java key store: convert it with `keytool -importkeystore -srckeystore {store} "
            "-destkeystore client.p12 -deststoretype PKCS12` and write ssl.keystore.type=PKCS12"
        )


def _kind(told: Mapping[str, str], which: str, store: str) -> str:
    return told.get(f"ssl.{which}.type", "PEM" if store.endswith((".pem", ".crt", ".cer")) else "JKS").upper()


_JAVA = frozenset(
    ("sasl.jaas.config", "ssl.truststore.location", "ssl.truststore.type", "ssl.truststore.password",
     "ssl.keystore.type", "sasl.client.callback.handler.class")
)  # fmt: skip
"""Java's names that become others."""
