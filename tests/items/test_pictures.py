"""Pictures: only what was listed is served, upright and small where small is asked for."""

import io
import os
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw

from fewlabels import ActiveLearner, Graph
from fewlabels.errors import FileError, NodeError
from fewlabels.items import decoding
from fewlabels.items import pictures as pictures_module
from fewlabels.items.decoding import READ, decoded
from fewlabels.items.images import image_features
from fewlabels.items.pictures import ImageFiles, counted, look_at, whole
from fewlabels.items.read import read_items


def looked_at(*paths):
    return ImageFiles(whole(paths, look_at(paths, features=False, tell=lambda _: None), in_table=False))


def opened(served):
    return Image.open(io.BytesIO(served[0]))


def test_a_thumbnail_is_small_and_keeps_the_shape(tmp_path):
    Image.new("RGB", (1000, 500), "red").save(tmp_path / "wide.jpg")
    Image.new("L", (8, 8)).save(tmp_path / "tiny.png")
    pictures = looked_at(tmp_path / "wide.jpg", tmp_path / "tiny.png")
    assert opened(pictures.thumbnail(0)).size == (128, 64)
    assert opened(pictures.thumbnail(1)).size == (8, 8)
    assert pictures.thumbnail(0)[1] == "image/jpeg"


def test_a_photo_taken_sideways_stands_upright(tmp_path):
    photo = Image.new("RGB", (60, 40), "white")
    photo.paste("black", (0, 0, 30, 40))  # the left half
    turned = Image.Exif()
    turned[0x0112] = 6  # to be shown turned right by a quarter: left becomes top
    photo.save(tmp_path / "p.jpg", exif=turned, quality=95)
    seen = look_at([tmp_path / "p.jpg"], features=True, tell=lambda _: None)
    thumbnail = np.asarray(opened(ImageFiles(seen).thumbnail(0)).convert("L"))
    assert thumbnail.shape == (60, 40)
    assert thumbnail[:25].max() < 60
    assert thumbnail[35:].min() > 200
    straight = image_features(photo.transpose(Image.Transpose.ROTATE_270))
    assert np.linalg.norm(seen[0].features - straight) < 0.2 < np.linalg.norm(seen[0].features - image_features(photo))


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P"])
def test_transparent_is_white(mode):
    image = Image.new("RGBA", (4, 4), (0, 0, 0, 0)).convert(mode)
    if mode == "P":
        image.info["transparency"] = image.getpixel((0, 0))
    assert decoded(image, 4).getpixel((1, 1)) == (255, 255, 255)


def test_sixteen_bits_a_pixel_are_shown_from_darkest_to_lightest(tmp_path):
    Image.fromarray(np.array([[1000, 3000], [2000, 3000]], dtype=np.uint16)).save(tmp_path / "x.tif")
    served = looked_at(tmp_path / "x.tif").full(0)
    assert served[1] == "image/png"
    assert np.asarray(opened(served).convert("L")).tolist() == [[0, 255], [127, 255]]


def test_the_kind_is_what_the_file_holds_not_what_it_is_called(tmp_path):
    Image.new("RGB", (5, 5)).save(tmp_path / "x.png", "JPEG")
    assert looked_at(tmp_path / "x.png").full(0)[1] == "image/jpeg"


def test_a_file_that_was_swapped_is_not_served(tmp_path):
    path, secret = tmp_path / "x.png", tmp_path / "secret.txt"
    Image.new("RGB", (5, 5)).save(path)
    secret.write_text("secret")
    pictures = looked_at(path)
    small = pictures.thumbnail(0)
    path.unlink()
    with pytest.raises(FileError, match=r"x.png can no longer be read .* Put it back"):
        pictures.full(0)
    path.symlink_to(secret)
    with pytest.raises(FileError, match="has changed since it was read"):
        pictures.full(0)
    assert pictures.thumbnail(0) == small


@pytest.mark.parametrize("item", [-1, 1])
def test_an_item_that_is_not_listed_is_refused(tmp_path, item):
    Image.new("RGB", (5, 5)).save(tmp_path / "x.png")
    pictures = looked_at(tmp_path / "x.png")
    for ask in (pictures.full, pictures.thumbnail):
        with pytest.raises(NodeError, match=f"there is no item {item}"):
            ask(item)


def test_what_has_taken_the_place_of_a_file_is_not_read(tmp_path):
    path = tmp_path / "p.png"
    Image.new("RGB", (8, 8)).save(path)
    pictures = looked_at(path)
    path.unlink()
    os.mkfifo(path)  # whoever opens one for reading waits for a writer
    with pytest.raises(FileError, match="has changed since it was read"):
        pictures.full(0)
    path.unlink()
    with path.open("wb") as huge:
        huge.truncate(2**41)
    with pytest.raises(FileError, match="has changed since it was read"):
        pictures.full(0)
    path.unlink()
    path.symlink_to("/dev/zero")
    with pytest.raises(FileError, match="has changed since it was read"):
        pictures.full(0)


def test_a_picture_browsers_cannot_show_is_drawn_once_and_no_larger_than_a_screen(tmp_path, monkeypatch):
    Image.fromarray(np.arange(9_000_000, dtype=np.float32).reshape(3_000, 3_000)).save(tmp_path / "p.tif")
    pictures = looked_at(tmp_path / "p.tif")
    first = pictures.full(0)
    assert opened(first).size == (2_048, 2_048)
    monkeypatch.setattr(pictures_module, "decoded", None)  # any other drawing would fail
    assert pictures.full(0) == first


def test_an_image_of_too_many_pixels_is_refused_before_it_is_decoded(tmp_path, monkeypatch):
    monkeypatch.setattr(decoding, "PIXELS", 99)
    Image.new("L", (10, 10)).save(tmp_path / "p.png")
    with pytest.raises(FileError, match="has 10 x 10 pixels, over the limit of 99: shrink it"):
        looked_at(tmp_path / "p.png")


def test_progress_is_told_every_two_seconds():
    told = []
    clock = iter(np.arange(0, 100, 0.9)).__next__
    assert list(counted(range(1200), 1200, told.append, lambda: 0.0)) == list(range(1200))
    assert told == []
    list(counted(range(6), 6, told.append, clock))
    assert told == ["██████████░░░░░░░░░░ 3 of 6, about 3 s left"]


def test_features_are_finite_also_for_plain_and_tiny_images():
    for image in (Image.new("RGB", (1, 1)), Image.new("L", (300, 2), 255), Image.new("RGB", (64, 64), "red")):
        assert np.isfinite(image_features(image)).all()
        assert image_features(image).shape == (426,)


def test_features_tell_colours_and_shapes_apart():
    def square(colour, background, size=20):
        image = Image.new("RGB", (60, 60), background)
        image.paste(colour, (30 - size // 2, 30 - size // 2, 30 + size // 2, 30 + size // 2))
        return image_features(image)

    red = square((200, 0, 0), (250, 250, 250))
    near = np.linalg.norm(red - square((190, 10, 10), (220, 220, 220), 22))
    assert near < np.linalg.norm(red - square((0, 0, 200), (250, 250, 250))) / 2
    bar = Image.new("RGB", (60, 60), (250, 250, 250))
    bar.paste((200, 0, 0), (5, 28, 55, 33))
    assert near < np.linalg.norm(red - image_features(bar)) / 2


def test_ctrl_c_does_not_wait_for_the_images_that_are_left(monkeypatch):
    looked = []

    def slow(path, features):
        looked.append(path)
        time.sleep(0.01)
        return "is slow"

    def interrupted(results, *_):
        next(iter(results))
        raise KeyboardInterrupt

    monkeypatch.setattr(pictures_module, "_look", slow)
    monkeypatch.setattr(pictures_module, "counted", interrupted)
    with pytest.raises(KeyboardInterrupt):
        looked_at(*[Path(f"{k}.png") for k in range(2000)])
    assert len(looked) < 1000


def test_thirty_answers_label_six_kinds_of_shapes_on_any_background():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 6, 240)
    features = []
    for kind in truth:
        image = Image.new("RGB", (160, 120), tuple(map(int, rng.integers(150, 256, 3))))
        x, y, r = (int(rng.integers(low, high)) for low, high in ((50, 110), (40, 80), (18, 36)))
        colour = tuple(map(int, np.array([(200, 40, 40), (40, 60, 200)][kind % 2]) + rng.integers(-35, 36, 3)))
        draw = ImageDraw.Draw(image)
        if kind < 2:
            draw.ellipse([x - r, y - r, x + r, y + r], fill=colour)
        elif kind < 4:
            draw.rectangle([x - r, y - r, x + r, y + r], fill=colour)
        else:
            draw.polygon([(x, y - r), (x - r, y + r), (x + r, y + r)], fill=colour)
        features.append(image_features(image))
    learner = ActiveLearner(Graph.from_features(features, 10), range(6))
    for _ in range(30):
        node = learner.query()
        learner.teach(node, int(truth[node]))
    assert (learner.predict() == truth).mean() > 0.9


def test_features_tell_where_a_colour_is():
    image = Image.new("RGB", (64, 64), (90, 150, 90))
    image.paste((200, 40, 90), (4, 4, 24, 24))  # as light as the rest, so that outlines say nothing
    mirrored = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    assert np.linalg.norm(image_features(image) - image_features(mirrored)) > 0.5


@pytest.mark.parametrize("how", ["absolute", "up", "link"])
def test_an_image_outside_the_data_is_shown_only_if_that_is_allowed(tmp_path, how):
    inside, outside = tmp_path / "data", tmp_path / "private"
    for folder in (inside, outside):
        folder.mkdir()
        for name in ("a.png", "b.png"):
            Image.new("RGB", (9, 9), "red" if name == "a.png" else "blue").save(folder / name)
    (inside / "link.png").symlink_to(outside / "a.png")
    named = {"absolute": str(outside / "a.png"), "up": "../private/a.png", "link": "link.png"}[how]
    (inside / "t.csv").write_text(f"photo\na.png\n{named}\n")
    with pytest.raises(FileError, match=r"lies outside of .*data: allow the folder it is in with --images-from"):
        read_items(inside / "t.csv", image="photo")
    assert len(read_items(inside / "t.csv", image="photo", images_from=outside).names) == 2
    if how == "link":
        left = read_items(inside)
        assert "link.png lies outside of" in left.notes[-1]
        assert list(left.names) == ["a.png", "b.png"]
        assert len(read_items(inside, images_from=outside).names) == 3


def pixel(content, at=(2, 2)):
    return Image.open(io.BytesIO(content)).convert("RGB").getpixel(at)


def test_what_browsers_show_wrongly_is_drawn_for_them(tmp_path):
    """16 bits are stretched, CMYK becomes RGB, and a PNG that was held sideways is turned."""
    deep = np.full((8, 8), 1000, np.uint16)
    deep[:, 4:] = 1400  # of 65,535: nearly black
    Image.fromarray(deep).save(tmp_path / "deep.png")
    Image.new("CMYK", (8, 8), (0, 255, 255, 0)).save(tmp_path / "print.jpg", quality=95)
    turned = Image.new("RGB", (8, 4), "red")
    turned.paste("blue", (4, 0, 8, 4))
    exif = Image.Exif()
    exif[0x0112] = 6  # held so that the left is up
    turned.save(tmp_path / "turned.png", exif=exif)
    frames = [Image.new("RGB", (8, 8), colour) for colour in ("red", "blue")]
    frames[0].save(tmp_path / "moving.gif", save_all=True, append_images=frames[1:])
    pictures = looked_at(*[tmp_path / name for name in ("deep.png", "print.jpg", "turned.png", "moving.gif")])
    assert [pictures.full(k)[1] for k in range(4)] == ["image/png", "image/jpeg", "image/png", "image/gif"]
    for shown in (pictures.full, pictures.thumbnail):
        content = shown(0)[0]
        assert pixel(content)[0] < 10
        assert pixel(content, (6, 2))[0] > 245
        assert np.allclose(pixel(shown(1)[0]), (255, 0, 0), atol=12)
        assert Image.open(io.BytesIO(shown(2)[0])).size == (4, 8)
        assert pixel(shown(2)[0], (1, 6))[2] > 200
        assert pixel(shown(3)[0])[0] > 245  # the first frame


def test_photos_of_phones(tmp_path, monkeypatch):
    heif = pytest.importorskip("pillow_heif")
    path = tmp_path / "IMG_1.HEIC"
    heif.from_pillow(Image.new("RGB", (64, 48), (200, 30, 30))).save(path, quality=90)
    pictures = looked_at(path)
    content, kind = pictures.full(0)
    assert kind == "image/jpeg"
    assert np.allclose(pixel(content), (200, 30, 30), atol=12)
    monkeypatch.setattr(decoding, "readers", lambda: READ)
    path.touch()  # not remembered
    with pytest.raises(FileError, match=r"is a HEIC photo, .* pip install 'fewlabels\[heic\]'"):
        looked_at(path)


def test_a_second_look_opens_nothing_and_sees_the_same(tmp_path, monkeypatch):
    for k in range(3):
        path = tmp_path / f"{k}.png"
        Image.new("RGB", (30, 20), (80 * k, 0, 0)).save(path)
        os.utime(path, (1_700_000_000, 1_700_000_000))
    paths = sorted(tmp_path.iterdir())
    first = look_at(paths, features=True, tell=lambda _: None)
    opened = []
    monkeypatch.setattr(pictures_module, "_look", lambda path, features: opened.append(path) or "is not looked at")
    again = look_at(paths, features=True, tell=lambda _: None, within=[tmp_path.resolve()])
    assert opened == []
    for one, other in zip(first, again, strict=True):
        assert replace(one, features=None) == replace(other, features=None)
        np.testing.assert_array_equal(one.features, other.features)
    outside = look_at(paths[:1], features=True, tell=lambda _: None, within=[tmp_path / "elsewhere"])
    assert outside[0].startswith("lies outside of")
    os.utime(paths[1], (1_700_000_001, 1_700_000_001))
    look_at(paths, features=False, tell=lambda _: None)
    assert opened == [paths[1]]
