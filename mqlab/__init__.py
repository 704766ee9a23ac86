"""mqlab: from whatever was gathered in a message-broker incident to a verdict that is true.

::

    import mqlab

    capture = mqlab.open_capture("bundle.tar.gz")
    capture

Importing the package does nothing: no session is started, nothing is read, nothing is printed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mqlab.capture import Capture, open_capture
    from mqlab.spark.source import register

__version__ = "0.1.0"
__all__ = ["Capture", "open_capture", "register"]


def __getattr__(name: str) -> Any:
    """``open_capture`` and the others; Spark and the rest are imported when one of them is asked for."""
    if name not in __all__:
        raise AttributeError(f"module 'mqlab' has no attribute {name!r}")
    from mqlab.stopping import held

    with held():
        if name == "register":
            from mqlab.spark.source import register

            return register
        from mqlab import capture

        return getattr(capture, name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
