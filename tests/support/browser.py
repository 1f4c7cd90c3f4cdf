"""What tests of the page do with it."""

from pathlib import Path

SHOTS = Path(".screenshots")


def item(page, other_than=None):
    """The number of the item on the page, once there is one, and another one."""
    page.wait_for_selector("body[data-item]" + ("" if other_than is None else f":not([data-item='{other_than}'])"))
    return int(page.get_attribute("body", "data-item"))


def press(page, key):
    """Press a key that moves on; the item that comes next."""
    before = item(page)
    page.keyboard.press(key)
    return item(page, other_than=before)
