"""Whose a folder is: what is trusted or executed may be written by this user alone.

mqlab hands out a server's token, classes and a Java from its cache. On a shared machine somebody else may have made the
folder before us, or may be able to put a file into it.
"""

from __future__ import annotations

import grp
import os
import pwd
import stat
from pathlib import Path

_ROOT = 0


def home() -> Path:
    """The folder of the user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mqlab"


def objection(folder: Path) -> str | None:
    """Why *folder* is not this user's alone; None where it is, and for what cannot be seen.

    Where it is a link, the link counts as well: whoever made it chose the folder.
    """
    try:
        link, known = folder.lstat(), folder.stat()
    except OSError:
        return None
    own = os.geteuid()
    stranger = next((uid for uid in (link.st_uid, known.st_uid) if uid not in (own, _ROOT)), None)
    if stranger is None and known.st_uid != own:
        stranger = known.st_uid
    if stranger is not None:
        return f"it belongs to {_name(stranger)}, and mqlab trusts only what belongs to {_name(own)}"
    return "other users can write there (`chmod go-w` takes that from them)" if _is_open(known) else None


def is_trusted(file: Path) -> bool:
    """Whether only this user or root can have written *file*, a plain one, and can put another in its place."""
    try:
        known, folder = file.lstat(), file.parent.stat()
    except OSError:
        return False
    owners = {known.st_uid, folder.st_uid} <= {os.geteuid(), _ROOT}
    return stat.S_ISREG(known.st_mode) and owners and not (_is_open(known) or _is_open(folder))


def _is_open(known: os.stat_result) -> bool:
    """Whether others can write; the group that Linux makes for each user has nobody else in it."""
    return bool(known.st_mode & stat.S_IWOTH) or bool(known.st_mode & stat.S_IWGRP and not _is_alone(known.st_gid))


def _is_alone(group: int) -> bool:
    try:
        user, named = pwd.getpwuid(os.geteuid()).pw_name, grp.getgrgid(group)
    except KeyError:
        return False
    return named.gr_name == user and set(named.gr_mem) <= {user}


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"
