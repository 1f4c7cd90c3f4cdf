"""Known vulnerabilities of what is installed in an environment: `python audit.py .venv`, with pip-audit at hand.

Exit status: 1 where a package has one, else 0. Where a database could not be asked about all of them, it says so.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any


def main(environment: Path) -> int:
    [packages] = environment.glob("lib/python*/site-packages")
    options = ["--path", str(packages), "--format", "json", "--progress-spinner", "off"]
    asked = subprocess.run([sys.executable, "-m", "pip_audit", *options], capture_output=True, text=True, check=False)
    try:
        sentence, status = verdict(json.loads(asked.stdout)["dependencies"])
    except (json.JSONDecodeError, KeyError):
        reason = asked.stderr.strip().splitlines()[-1:] or ["it says nothing"]
        sentence, status = f"Nothing was audited: no database can be reached ({reason[0][:200]}).", 0
    print(sentence)
    return status


def verdict(packages: list[dict[str, Any]]) -> tuple[str, int]:
    """What was found, in words, and the exit status."""
    known = [one for one in packages if "skip_reason" not in one]
    if not known:
        return f"Nothing was audited: no database could be asked about any of the {len(packages)} packages.", 0
    lines = [
        f"{one['name']} {one['version']}: {hole['id']}, mended in {', '.join(hole['fix_versions']) or 'none yet'}."
        for one in known
        for hole in one["vulns"]
    ]
    lines.append(f"{len(known)} of {len(packages)} packages were looked up, {len(lines)} known vulnerabilities found.")
    if len(known) < len(packages):
        lines.append(f"Not looked up: {', '.join(one['name'] for one in packages if 'skip_reason' in one)}.")
    return "\n".join(lines), int(any(one["vulns"] for one in known))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
