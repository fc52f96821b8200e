"""The steps of one judgement, gathered while the rules are asked, and the verdict made of them."""

from __future__ import annotations

from codememory.verdicts.values import METHOD_KINDS, Flag, Method, Step, Verdict


class Trail:
    def __init__(self, *flags: Flag) -> None:
        self._steps: list[Step] = []
        self._flags = flags

    def note(self, rule: str, compared: str, answer: str) -> None:
        """Counts, paths and ids only: steps are shown and logged, so no line of text goes in."""
        self._steps.append(Step(rule, compared, answer))

    def add_flag(self, flag: Flag) -> None:
        if flag not in self._flags:
            self._flags = (*self._flags, flag)

    def decide(
        self,
        method: Method,
        *,
        share: float | None = None,
        path: bytes | None = None,
        cites: str | None = None,
    ) -> Verdict:
        return Verdict(
            verdict=METHOD_KINDS[method],
            method=method,
            share=None if share is None else round(share, 3),
            path=path,
            cites=cites,
            flags=self._flags,
            steps=tuple(self._steps),
        )


def show(path: bytes | None) -> str:
    return "no file" if path is None else path.decode("utf-8", "backslashreplace")
