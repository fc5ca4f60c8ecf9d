"""Starts the window without a command, and a command otherwise."""

from __future__ import annotations

import sys

_COMMANDS = ("devices", "kernels", "run", "occupancy")


def main() -> None:
    """The ``gemmviz`` command."""
    arguments = sys.argv[1:]
    if any(word in _COMMANDS or word in ("-h", "--help", "--version") for word in arguments[:1]):
        from gemmviz.cli.parser import run_command

        sys.exit(run_command(arguments))
    from gemmviz.views.display import missing_display

    problem = missing_display()
    if problem is not None:
        print(problem, file=sys.stderr)
        sys.exit(2)
    from gemmviz.views.main import open_window

    sys.exit(open_window(arguments))


if __name__ == "__main__":
    main()
