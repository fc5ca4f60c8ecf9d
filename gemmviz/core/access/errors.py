"""What the access lens raises when it can say nothing at all."""

from __future__ import annotations


class LensError(ValueError):
    """The source cannot be followed from the start; the message is one sentence.

    ``line`` is the line of the kernel's own file that is to blame, or None.
    """

    def __init__(self, sentence: str, line: int | None = None) -> None:
        super().__init__(sentence)
        self.line = line

    def __reduce__(self) -> tuple[type[LensError], tuple[str, int | None]]:
        return type(self), (str(self), self.line)
