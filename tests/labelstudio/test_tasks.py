"""Label Studio's labeling config and tasks are read, and become items."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from support import label_studio as studio
from support.label_studio import tasks
from support.profiles import examples

from fewlabels.errors import FewlabelsError, FileError, SettingError
from fewlabels.labelstudio import (
    Control,
    TaskError,
    read_config,
    read_task_items,
    read_tasks,
    write_config,
)

SOME = examples(20)


class TestConfig:
    def test_a_config_says_what_is_asked_about_what(self):
        assert read_config(studio.CONFIG) == Control("topic", "note", "body", "text", ("sea", "sky"))

    def test_an_alias_counts_and_text_may_stand_inside(self):
        config = (
            '<View><Image name="i" value="$url"/><Choices name="c" toName="i"><Choice value="A cat" alias="cat"/>'
            "<Choice> dog </Choice><Choice value='cat'/></Choices></View>"
        )
        assert read_config(config) == Control("c", "i", "url", "image", ("cat", "dog"))

    def test_of_several_choices_one_is_named(self):
        two = studio.CONFIG.replace(
            "</View>", '<Choices name="mood" toName="note"><Choice value="x"/></Choices></View>'
        )
        with pytest.raises(TaskError, match="several <Choices>, topic, mood: say which with --choices"):
            read_config(two)
        assert read_config(two, "mood").classes == ("x",)
        with pytest.raises(TaskError, match="no <Choices name='mod'>: it has topic, mood"):
            read_config(two, "mod")

    @pytest.mark.parametrize(
        ("config", "sentence"),
        [
            ("<View><Text name='t' value='$t'/></View>", "the labeling config has no <Choices>"),
            ("<View><Choices toName='t'/></View>", "line 1: <Choices> has no name"),
            (studio.CONFIG.replace("single", "multiple"), "takes several choices: make it single"),
            ("<View", "the labeling config cannot be read as XML"),
            ("", "the labeling config cannot be read as XML: no element found"),
            ("<!DOCTYPE v [<!ENTITY a 'b'>]><View>&a;</View>", "the labeling config has a document type"),
        ],
    )
    def test_what_is_not_understood_is_said(self, config, sentence):
        with pytest.raises(TaskError, match=sentence):
            read_config(config)

    @SOME
    @given(st.lists(st.text(min_size=1, max_size=9).filter(lambda t: t.isprintable() and t == t.strip()), unique=True))
    def test_a_config_that_is_written_is_read_as_the_same(self, classes):
        control = Control("the label", 'a "text"', "body & soul", "text", tuple(classes))
        assert read_config(write_config(control)) == control


class TestReading:
    def test_annotations_say_who_and_what(self, tmp_path):
        listed = tasks(
            (0, studio.annotation(1, 100, "sea", who=10)),
            (1, studio.annotation(2, 101, "sky", who={"id": 3, "email": "ann@example.org"})),
            (2, studio.annotation(3, 102, cancelled=True)),
            (3, {"result": [studio.choice("sea")]}),
        )
        found = read_tasks(studio.write(tmp_path / "t.json", listed))
        said = [task.annotations[0] for task in found.tasks[:4]]
        assert [(one.who, one.label, one.cancelled) for one in said] == [
            ("user 10", "sea", False),
            ("ann@example.org", "sky", False),
            ("user 1", None, True),
            ("Label Studio", "sea", False),
        ]
        assert found.control == Control("topic", "note")
        assert [task.id for task in found.tasks[:2]] == [100, 101]

    def test_other_tags_and_other_kinds_of_result_are_passed_over(self, tmp_path):
        listed = tasks((0, studio.annotation(1, 100, "sea")))
        listed[0]["annotations"][0]["result"] += [
            studio.choice("urgent", from_name="priority"),
            {
                "from_name": "spans",
                "to_name": "note",
                "type": "labels",
                "value": {"start": 0, "end": 4, "labels": ["X"]},
            },
        ]
        path = studio.write(tmp_path / "t.json", listed)
        found = read_tasks(path, read_config(studio.CONFIG))
        assert found.tasks[0].annotations[0].label == "sea"
        listed[1]["annotations"] = [studio.annotation(2, 101, "sky")]
        studio.write(path, listed)
        with pytest.raises(FileError, match="choices made in several tags, priority, topic: say which with --choices"):
            read_tasks(path)

    def test_json_min_lists_a_task_once_for_every_annotation(self, tmp_path):
        flat = [
            {"body": "a", "id": 1, "topic": "sea", "annotator": 4, "annotation_id": 8, "lead_time": 2.1},
            {"body": "b", "id": 2, "topic": {"choices": ["sky"]}, "annotator": 4, "annotation_id": 9},
            {"body": "a", "id": 1, "topic": "sky", "annotator": 5, "annotation_id": 10},
        ]
        found = read_tasks(studio.write(tmp_path / "t.json", flat), Control("topic"))
        assert [(dict(task.data), task.id, len(task.annotations)) for task in found.tasks] == [
            ({"body": "a"}, 1, 2),
            ({"body": "b"}, 2, 1),
        ]
        assert [said.who for said in found.tasks[0].annotations] == ["user 4", "user 5"]
        assert read_tasks(tmp_path / "t.json", label="topic").tasks[1].annotations[0].label == "sky"

    def test_objects_without_data_are_the_data(self, tmp_path):
        found = read_tasks(studio.write(tmp_path / "t.json", [{"text": "a", "id": 5}, {"text": "b", "id": 5}]))
        assert [task.data for task in found.tasks] == [{"text": "a", "id": 5}, {"text": "b", "id": 5}]
        assert [task.id for task in found.tasks] == [None, None]

    @pytest.mark.parametrize(
        ("content", "sentence"),
        [
            ("[{", "is not JSON"),
            ("[" * 100_000, "is not JSON"),
            (f'[{{"text": {"9" * 100_000}}}]', "is not JSON"),
            ("[]", "holds no tasks"),
            ("[1]", "task 1 is 1: give an object"),
            ('[{"data": {}, "id": [1]}]', r"task 1: the id \[1\] is neither a number nor text"),
            (
                '[{"data": {"a": 1}, "id": 1}, {"data": {"a": 2}, "id": 1}]',
                "task 2: the id 1 already stands for another task",
            ),
            ('[{"data": {}, "annotations": {"x": 1}}]', "task 1: annotations is not a list"),
            ('[{"data": {}, "annotations": [1]}]', "task 1: an annotation is 1, not an object"),
            ('[{"data": {}, "annotations": [{"result": "x"}]}]', "the result of an annotation is not a list"),
            ('[{"data": {}, "annotations": [{"result": [{"type": "choices"}]}]}]', "holds no list of choices"),
            (
                '[{"data": {}, "annotations": [{"result": [{"value": {"choices": ["a", "b"]}}]}]}]',
                r'task 1 has 2 choices, \["a", "b"\]: a task has one class here',
            ),
            ('[{"data": {}, "annotations": [{"completed_by": [1]}]}]', r"completed_by is \[1\], not a person"),
        ],
    )
    def test_what_is_not_understood_is_said(self, tmp_path, content, sentence):
        (tmp_path / "t.json").write_text(content)
        with pytest.raises(FileError, match=sentence):
            read_tasks(tmp_path / "t.json")

    @SOME
    @given(st.data())
    def test_any_json_is_tasks_or_a_sentence(self, tmp_path, data):
        leaf = st.one_of(st.none(), st.booleans(), st.integers(-2, 3), st.text(max_size=2), st.just("choices"))
        keys = st.sampled_from(
            [
                "id",
                "data",
                "annotations",
                "result",
                "type",
                "value",
                "choices",
                "completed_by",
                "email",
                "text",
                "topic",
            ]
        )
        inner = st.recursive(
            leaf, lambda deeper: st.one_of(st.lists(deeper, max_size=3), st.dictionaries(keys, deeper)), max_leaves=12
        )
        content = data.draw(st.lists(st.dictionaries(keys, inner), max_size=3))
        try:
            found = read_tasks(studio.write(tmp_path / "t.json", content), Control("topic"))
        except FewlabelsError as error:
            said = str(error)
        else:
            said = f"{tmp_path}: {len(found.tasks)} tasks"
        assert said.startswith(str(tmp_path))


class TestItems:
    def items(self, tmp_path, listed, config=None, **options):
        found = read_tasks(studio.write(tmp_path / "t.json", listed), read_config(config) if config else None)
        return read_task_items(found, **options)

    def test_what_the_config_shows_is_shown_and_the_rest_stands_beneath(self, tmp_path):
        items = self.items(tmp_path, tasks((0, studio.annotation(1, 100, "land"))), studio.CONFIG)
        assert items.kind == "text"
        assert items.texts[3] == studio.body(3)
        assert items.attributes[3] == {"ref": "3", "where": '{"shelf": 0}'}
        assert items.names[:2] == ["task 100", "task 101"]
        assert items.classes == ["sea", "sky", "land"]
        assert items.known == {}

    def test_without_a_config_it_is_text_or_image_or_the_only_key(self, tmp_path):
        plain = [{"data": {"text": f"a b {k}", "more": k}} for k in range(3)]
        assert self.items(tmp_path, plain).texts == ["a b 0", "a b 1", "a b 2"]
        assert self.items(tmp_path, [{"headline": f"a b {k}"} for k in range(3)]).texts[2] == "a b 2"
        with pytest.raises(FileError, match="tasks hold body, ref, where: say what to show with --text KEY"):
            self.items(tmp_path, tasks())
        assert self.items(tmp_path, tasks(), text="body").texts[0] == studio.body(0)
        with pytest.raises(FileError, match="no task's data has the key 'boddy': they have body, ref, where"):
            self.items(tmp_path, tasks(), text="boddy")
        with pytest.raises(SettingError, match="--text and --image given together"):
            self.items(tmp_path, tasks(), text="body", image="ref")

    def test_images_are_files_beside_the_tasks(self, tmp_path):
        rng = np.random.default_rng(0)
        (tmp_path / "pictures").mkdir()
        for k in range(3):
            Image.fromarray(rng.integers(0, 255, (16, 16, 3), dtype=np.uint8)).save(tmp_path / f"pictures/{k}.png")
        listed = [
            {"id": 1, "data": {"image": "pictures/0.png"}},
            {"id": 2, "data": {"image": "/data/local-files/?d=pictures/1.png"}},
            {"id": 3, "data": {"image": "pictures/2.png"}},
        ]
        items = self.items(tmp_path, listed)
        assert items.kind == "image"
        assert items.pictures.full(1) == ((tmp_path / "pictures/1.png").read_bytes(), "image/png")

    @pytest.mark.parametrize("address", ["https://example.org/1.png", "s3://pile/1.png", "/data/upload/7/ab-1.png"])
    def test_images_elsewhere_need_features(self, tmp_path, address):
        listed = [{"id": k, "data": {"image": address}} for k in range(4)]
        with pytest.raises(FileError, match=r"is not a file beside the tasks. Download .* or give --features"):
            self.items(tmp_path, listed)
        np.save(tmp_path / "x.npy", np.arange(8.0).reshape(4, 2))
        items = self.items(tmp_path, listed, features=tmp_path / "x.npy", neighbors=1)
        assert (items.kind, items.attributes[0]) == ("row", {"image": address})
