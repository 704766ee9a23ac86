"""What a RocketMQ client id is made of, and how two processes come to share one.

ClientConfig.buildMQClientId: ``ip@instance[@unit][@STREAM]``, where changeInstanceNameToPID puts ``pid`` (to 4.8) or
``pid#nano`` (from 4.9.0) for the instance name DEFAULT, except in broadcast mode. RocketMQUtil.getInstanceName of
rocketmq-spring writes ``name@pid@nano``; the gRPC clients' ClientId is ``host@pid@index@nano``, nano to base 36.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from ipaddress import ip_address, ip_network

_VERSION = re.compile(r"[vV]?(\d+)[._](\d+)(?:[._](\d+))?")
_INSTANCE = re.compile(r"(?P<pid>\d+)(?:#(?P<nano>-?\d+))?")
_SPRING = re.compile(r"[^@]+@(?P<pid>\d+)@(?P<nano>-?\d+)")
_GRPC = re.compile(r"(?P<pid>\d+)@\d+@(?P<nano>-?[0-9a-z]+)")

_FIRST_NANO = (4, 9, 0)
"""The first client that writes a nanosecond number behind the process id."""

_SMALL_PID = 100
"""Process ids up to here are those of containers, whose first process is 1, rather than of whole machines."""

_REPEATED_NETWORKS = tuple(
    map(
        ip_network,
        ("127.0.0.0/8", *(f"172.{second}.0.0/16" for second in range(17, 32)), "10.88.0.0/16", "192.168.122.0/24"),
    )
)
"""Networks that each host has for itself: loopback, Docker's bridges, Podman's, libvirt's."""


@dataclass(frozen=True)
class ClientId:
    """The parts of a client id; None where it has no such part."""

    ip: str
    instance: str
    pid: int | None = None
    nano: int | None = None
    unit: str | None = None
    stream: bool = False


class Risk(Enum):
    """One way in which two processes come to have the same id."""

    BRIDGE_ADDRESS = "bridge-address"
    SMALL_PID = "small-pid"
    PID_ALONE = "pid-alone"
    EXPLICIT_NAME = "explicit-name"
    DEFAULT_NAME = "default-name"


def parse(text: str) -> ClientId | None:
    """Take a client id apart; None where it has no address and instance around an @."""
    ip, *parts = text.split("@")
    stream = len(parts) > 1 and parts[-1] == "STREAM"
    if stream:
        parts.pop()
    if not ip or not parts or not parts[0]:
        return None
    whole = "@".join(parts)
    for form, base in ((_GRPC, 36), (_SPRING, 10)):
        if match := form.fullmatch(whole):
            return ClientId(ip, whole, int(match["pid"]), int(match["nano"], base), stream=stream)
    unit = parts.pop() if len(parts) > 1 else None
    instance = "@".join(parts)
    match = _INSTANCE.fullmatch(instance)
    nano = match and match["nano"]
    return ClientId(ip, instance, int(match["pid"]) if match else None, int(nano) if nano else None, unit, stream)


def adds_nano(version: str | None) -> bool | None:
    """Whether a Java client of this version (``V4_9_4`` or ``4.9.4``) adds the number; None for an unknown version."""
    numbers = _numbers(version)
    return None if numbers is None else numbers >= _FIRST_NANO


def risks(client: ClientId, version: str | None = None) -> tuple[Risk, ...]:
    """Ways in which another process can come to this id, the likeliest first; none where a nanosecond number is in it.

    A risk is no proof: that takes one id at two addresses or ports at one time. A bare number is a configured name in
    a version that would have added the nanosecond number.
    """
    if client.nano is not None:
        return ()
    if client.instance == "DEFAULT":
        return (Risk.DEFAULT_NAME,)
    if client.pid is None or adds_nano(version):
        return (Risk.EXPLICIT_NAME, Risk.BRIDGE_ADDRESS) if _repeats(client.ip) else (Risk.EXPLICIT_NAME,)
    found = [
        (Risk.BRIDGE_ADDRESS, _repeats(client.ip)),
        (Risk.SMALL_PID, client.pid <= _SMALL_PID),
        (Risk.PID_ALONE, True),
    ]
    return tuple(risk for risk, there in found if there)


def _numbers(version: str | None) -> tuple[int, ...] | None:
    match = _VERSION.match(version or "")
    return tuple(int(number or 0) for number in match.groups()) if match else None


def _repeats(ip: str) -> bool:
    """Whether each host has this address for itself; a host name does not repeat."""
    try:
        address = ip_address(ip.strip("[]"))
    except ValueError:
        return False
    return address.is_loopback or any(address in network for network in _REPEATED_NETWORKS)
