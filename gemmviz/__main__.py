"""Starts the window without a command, and a command otherwise."""

from __future__ import annotations

import sys

_THEMES = ("light", "dark", "system")


def main() -> None:
    """The ``gemmviz`` command."""
    arguments = sys.argv[1:]
    # The window takes options and the .toml files of kernels; any other word means a command.
    words = [word for word in arguments if not word.startswith("-")]
    first = words[0] if words else ""
    if {"-h", "--help", "--version"} & set(arguments) or (
        first and not first.endswith(".toml") and first not in _THEMES
    ):
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
