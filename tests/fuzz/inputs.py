"""Inputs: what is in the files of a target, spoilt, and what comes of them."""

from __future__ import annotations

import copy
import os
from pathlib import Path
from random import Random

from tests.fuzz.mutations import mutated
from tests.fuzz.oracle import command, judged
from tests.fuzz.seeds import Files
from tests.fuzz.targets import Target

COMMANDS = 20
"""One of so many inputs goes through the command line."""


class Input:
    """An input of a target, which its number tells from all others of a seed."""

    def __init__(self, name: str, target: Target, seed: str, number: int) -> None:
        rng = Random(f"{name} {seed} {number}")
        files = dict(rng.choice(target.seeds))
        which = rng.choice([each for each in target.spoilt or files if each in files])
        self.files: Files = {**files, which: mutated(which, files[which], rng)}
        by_command = bool(target.commands) and number % COMMANDS == 0
        self.words = rng.choice(target.commands) if by_command else ""
        self.draw, self._use = rng, target.use

    def write(self, folder: Path) -> None:
        """Make the files in a folder, and leave no others there."""
        folder.mkdir(parents=True, exist_ok=True)
        for path in folder.iterdir():
            if path.name not in self.files:
                path.unlink()
        for name, content in self.files.items():
            (folder / name).write_bytes(content)

    def outcome(self, folder: Path) -> str:
        """Return what comes of it in a folder.

        Raises
        ------
        FindingError
            If that must not be.
        """
        self.write(folder)
        os.chdir(folder)
        if self.words:
            return command([self._word(word) for word in self.words.split()])
        draw = copy.copy(self.draw)  # the same whenever it is tried
        return judged(lambda: self._use(draw))

    def _word(self, word: str) -> str:
        if not word.startswith("@"):
            return word
        return self.files[word[1:]].decode("utf-8", "surrogateescape").replace("\0", "")
