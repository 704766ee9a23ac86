"""The command line as a process: signals are minded before anything large is imported."""

from mqlab.stopping import end_on_signals


def main() -> None:
    """Run the command line and exit with its code."""
    end_on_signals()
    from mqlab.endings import process

    process(_run)


def _run() -> int:
    from mqlab.cli import run

    return run()


if __name__ == "__main__":
    main()
