"""The pictures of the examples page: every script of examples/ run as it is, its picture in few colours."""

import subprocess
import sys
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[2]
COLORS = 96  # a palette: a third of the size, and the eye sees no difference

for script in sorted((ROOT / "examples").glob("*.py")):
    picture = ROOT / "docs" / "pictures" / f"examples-{script.stem}.png"
    subprocess.run([sys.executable, script, "--out", picture], check=True)
    Image.open(picture).convert("RGB").quantize(COLORS, dither=Image.Dither.NONE).save(picture, optimize=True)
