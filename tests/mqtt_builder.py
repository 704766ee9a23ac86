"""MQTT material drawn by hand: a broker's log, a client's log and a proxy's log, each as a few lines of text."""

from __future__ import annotations

from facts_builder import episode, log

WORDS = {
    "connected": "client-connected",
    "taken-over": "session-takeover",
    "expired": "session-expired",
    "dropping": "session-queue-dropping",
    "starting": "broker-starting",
    "stopping": "broker-stopping",
    "tries": "bridge-connecting",
    "refused": "error:mqtt-bridge-failed",
}
"""Words of a drawn broker's log; any other one is the reason for which a connection ended."""
CLIENT_WORDS = {
    "configured": "client-configured",
    "made": "connection-made",
    "lost": "connection-lost",
    "closed": "connection-closed",
    "unanswered": "ping-unanswered",
    "waiting": "reconnect-waiting",
}


def broker(text, source="logs/mosquitto.log", form="mosquitto-log", *, last=None):
    """A broker's log from rows of time, client, word, and for what connected peer, keep-alive and session.

    ``10:00:05 press connected 10.0.0.1:1001 k30 c0 u=line``: keep-alive 30 s, persistent, user line. Client ``-`` is
    none. The log is read up to *last*, else up to its last row.
    """
    rows = _rows(text)
    made = tuple(_told(source, number, *row) for number, row in enumerate(rows, 1))
    return (*made, log(source, form, first=rows[0][0], last=last or rows[-1][0], lines=len(rows)))


def client(text, client_id=None, source=None, *, form="mqtt-client-log", last=None):
    """A client's log from rows of time, word and what belongs to it.

    ``configured k20 c1``; ``made 2 tcp://mqtt-1:1883``; ``lost 35 EOF`` after 35 s (``-`` where not told);
    ``unanswered``; ``waiting 4 failed``. The lines name the client where *client_id* is given.
    """
    rows = _rows(text)
    source = source or f"clients/{client_id}.log"
    made = tuple(_noted(source, number, client_id, *row) for number, row in enumerate(rows, 1))
    return (*made, log(source, form, first=rows[0][0], last=last or rows[-1][0], lines=len(rows)))


def proxy(text, source="logs/mqtt-access.log", form="nginx-stream-log"):
    """A proxy's log of connections that ended, from rows of time, peer, seconds, bytes received and sent."""
    rows = _rows(text)
    made = tuple(
        episode(
            "proxied-connection", at, source, line=number, left=float(seconds), system="mqtt", peer=_none(peer),
            reason=f"received {received} sent {sent}", text=f"{at} {peer} sent={sent} received={received}",
        )
        for number, (at, peer, seconds, received, sent) in enumerate(rows, 1)
    )  # fmt: skip
    return (*made, log(source, form, first=rows[0][0], last=rows[-1][0], lines=len(rows)))


def turns(client_id, peers, *, start="10:00:00", every=1.0, times=10, also="k30 c1"):
    """Rows of a broker's log in which *peers* take the id of a client from each other, one after the other."""
    hours, minutes, seconds = (float(part) for part in start.split(":"))
    begin = hours * 3600 + minutes * 60 + seconds
    gaps = every if isinstance(every, list) else [every] * times
    moments = [begin + sum(gaps[:n]) for n in range(len(gaps) + 1)]
    rows = []
    for number, moment in enumerate(moments):
        if number:
            rows.append(f"{clock(moment)} {client_id} taken-over")
        rows.append(f"{clock(moment)} {client_id} connected {peers[number % len(peers)]}:{40000 + number} {also}")
    return "\n".join(rows)


def clock(seconds):
    """Seconds of the day as ``10:00:05.5``, as far as they have fractions."""
    whole = int(seconds)
    told = f"{whole // 3600:02}:{whole % 3600 // 60:02}:{whole % 60:02}"
    return told + f"{seconds - whole:.3f}"[1:] if seconds != whole else told


def _rows(text):
    return [line.split() for line in text.strip().splitlines()]


def _told(source, number, at, client_id, word, peer=None, *more):
    kind = WORDS.get(word, "client-disconnected")
    told = {"system": "mqtt", "client_id": _none(client_id), "line": number, "peer": _none(peer)}
    reason = {"session-takeover": "already connected", "client-disconnected": word, "bridge-connecting": peer}.get(kind)
    if kind == "client-connected":
        reason = _session(more)
    return episode(
        kind, at, source, reason=reason, left=_keep_alive(more), text=f"{at} {client_id} {word} {peer or ''}",
        member_id=next((m[2:] for m in more if m.startswith("u=")), None), **told,
    )  # fmt: skip


def _noted(source, number, client_id, at, word, *more):
    kind = CLIENT_WORDS[word]
    told = {"system": "mqtt", "client_id": client_id, "line": number, "text": f"{at} {word} {' '.join(more)}"}
    if kind == "client-configured":
        named = next((m[3:] for m in more if m.startswith("id=")), client_id)
        told |= {"client_id": named, "reason": _session(more), "left": _keep_alive(more)}
    elif more:
        told |= {"left": None if more[0] == "-" else float(more[0]), "reason": " ".join(more[1:]) or None}
    return episode(kind, at, source, **told)


def _session(words):
    return {"c0": "persistent", "c1": "clean"}.get(next((w for w in words if w in ("c0", "c1")), ""))


def _keep_alive(words):
    return next((float(w[1:]) for w in words if w.startswith("k") and w[1:].isdigit()), None)


def _none(word):
    return None if word == "-" else word
