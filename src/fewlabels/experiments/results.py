"""Results on disk: a CSV that grows by whole trials, and a JSON that says where they came from."""

from __future__ import annotations

import csv
import io
import json
import os
import platform
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from fewlabels import __version__
from fewlabels.errors import FileError
from fewlabels.experiments.trials import Row
from fewlabels.files.atomic import atomic_file

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ["dataset", "strategy", "trial", "labelled", "node", "accuracy", "expected_error", "seconds"]
KINDS: list[Callable[[str], str | int | float]] = [str, str, int, int, int, float, float, float]

Key = tuple[str, int]  # strategy, trial


class Results:
    """The trials of one dataset. A trial is on disk whole or not at all; what is there already is not run again.

    A lock keeps other runs out until the `with` block ends.
    `settings` are what the numbers depend on: results made with other settings are refused, never mixed.
    """

    def __init__(self, folder: str | os.PathLike[str], name: str, n_rows: int, settings: dict[str, Any]) -> None:
        self.name, self.n_rows, self.settings = name, n_rows, settings
        folder = Path(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(f"cannot make the folder {folder}: {error.strerror}. Choose another with --out.") from None
        self.csv, self.json = folder / f"{name}.csv", folder / f"{name}.json"
        self._lock = _locked(folder / f".{name}.lock")
        self._trials: dict[Key, list[list[str]]] = {}
        try:
            self._resume()
        except BaseException:
            self._lock.close()
            raise

    def __enter__(self) -> Results:
        return self

    def __exit__(self, *error: object) -> None:
        self._lock.close()

    @property
    def done(self) -> set[Key]:
        return set(self._trials)

    def append(self, strategy: str, trial: int, rows: list[Row]) -> None:
        """Take in a finished trial; it is on disk when this returns."""
        lines = [[self.name, strategy, str(trial), *(repr(value) for value in vars(row).values())] for row in rows]
        with self.csv.open("a", encoding="utf-8", newline="") as file:
            file.write(_as_text(lines))
            file.flush()
            os.fsync(file.fileno())
        self._trials[strategy, trial] = lines

    def finish(self) -> None:
        """Put the trials in order, so that equal runs leave equal files, and note when they were done."""
        self._write()
        note = json.loads(self.json.read_text(encoding="utf-8"))
        note["finished"] = _now()
        self._note(note)

    def frame(self) -> pd.DataFrame:
        """All rows so far, with numbers exact to the last digit."""
        return _frame([line for key in sorted(self._trials) for line in self._trials[key]])

    def _resume(self) -> None:
        if self.csv.exists() and not self.json.exists():
            raise FileError(f"{self.csv} exists without {self.json.name}, which says how it was made. Move it away.")
        if self.json.exists():
            try:
                found = json.loads(self.json.read_text(encoding="utf-8"))["settings"]
            except (ValueError, KeyError, TypeError):
                raise FileError(
                    f"{self.json} does not say how results were made. Move it away or choose another --out."
                ) from None
            for key, value in self.settings.items():
                if found.get(key) != value:
                    raise FileError(
                        f"{self.csv} was made with {key} = {found.get(key)!r}, not {value!r}. "
                        "Choose another --out, or move it away."
                    )
        else:
            self._note({"settings": self.settings, **provenance(), "started": _now()})
        if self.csv.exists():
            self._trials = _whole_trials(self.csv, self.n_rows)
        self._write()

    def _write(self) -> None:
        lines = [line for key in sorted(self._trials) for line in self._trials[key]]
        with atomic_file(self.csv) as draft:
            draft.write_text(_as_text([COLUMNS, *lines]), encoding="utf-8")

    def _note(self, content: dict[str, Any]) -> None:
        with atomic_file(self.json) as draft:
            draft.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _frame(lines: list[list[str]]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame([_parsed(line) for line in lines], columns=COLUMNS)


def _parsed(line: list[str]) -> list[str | int | float]:
    """The cells of a row, each as its own type; raises ValueError if one is cut short or missing."""
    return [kind(cell) for kind, cell in zip(KINDS, line, strict=True)]


def provenance() -> dict[str, Any]:
    """The version, the commit it was run from where there is one, and the machine."""
    here = Path(__file__).parent
    git = subprocess.run(["git", "rev-parse", "HEAD"], cwd=here, capture_output=True, text=True, check=False)
    return {
        "version": __version__,
        "commit": git.stdout.strip() or None,
        "machine": {"processor": _processor(), "cores": os.cpu_count(), "system": platform.platform()},
        "python": platform.python_version(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def _whole_trials(path: Path, n_rows: int) -> dict[Key, list[list[str]]]:
    """The trials whose every row is there; a kill may have cut the last one anywhere, even within a number."""
    text = path.read_text(encoding="utf-8")
    lines = list(csv.reader(text[: text.rfind("\n") + 1].splitlines()))
    if lines and lines[0] != COLUMNS:
        raise FileError(f"{path} does not hold results: its columns are {', '.join(lines[0])}. Move it away.")
    trials: dict[Key, list[list[str]]] = {}
    for line in lines[1:]:
        try:
            _parsed(line)
        except ValueError:
            continue
        trials.setdefault((line[1], int(line[2])), []).append(line)
    return {
        key: rows for key, rows in trials.items() if [row[3] for row in rows] == [str(k + 1) for k in range(n_rows)]
    }


def _locked(path: Path) -> TextIO:
    """The open lock file of these results; the lock goes with the process, however it ends."""
    file = path.open("w")
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:  # Windows: users must keep runs into one folder apart
        pass
    except OSError:
        file.close()
        raise FileError(f"another run is writing to {path.parent}: wait for it, or choose another --out.") from None
    return file


def _as_text(lines: list[list[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
