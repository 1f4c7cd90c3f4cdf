"""The pictures of the page in the README: thirty digits labelled in Chromium, a screenshot and a short animation."""

import io
import shutil
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright
from sklearn.datasets import load_digits

from fewlabels.items.digits import digits_items

sys.path.append("tests")
from support.pages import served

OUT = Path("docs/pictures")
ANSWERS = 30
SECONDS = 0.45  # each frame of the animation is shown
SIZE = (1280, 800)
SMALL = (960, 600)


def main() -> None:
    truth = load_digits().target
    frames = []
    with (
        tempfile.TemporaryDirectory() as folder,
        served(digits_items(), Path(folder) / "s.sqlite") as (_, client),
        sync_playwright() as drive,
    ):
        browser = drive.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": SIZE[0], "height": SIZE[1]})
        page.add_init_script("localStorage.setItem('fewlabels.tour', 'seen')")
        page.goto(str(client.base_url))
        page.wait_for_selector("body[data-item]")
        for _ in range(ANSWERS):
            page.wait_for_timeout(900)  # why, map and curve have followed
            frames.append(page.screenshot())
            item = page.get_attribute("body", "data-item")
            page.keyboard.press(str(truth[int(item)]))
            page.wait_for_selector(f"body:not([data-item='{item}'])")
        page.wait_for_timeout(900)
        frames.append(page.screenshot())
        (OUT / "page.png").write_bytes(frames[-1])
        browser.close()
    small = [Image.open(io.BytesIO(frame)).convert("RGB").resize(SMALL, Image.Resampling.LANCZOS) for frame in frames]
    drawn = [frame.quantize(256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE) for frame in small]
    times = [int(1000 * SECONDS)] * (len(drawn) - 1) + [4000]
    drawn[0].save(OUT / "page.gif", save_all=True, append_images=drawn[1:], duration=times, loop=0, optimize=True)


if __name__ == "__main__":
    main()
