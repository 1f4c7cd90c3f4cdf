"""Label Studio's tasks come in as items and answers, and go out as tasks it imports."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from support import label_studio as studio
from support.profiles import examples

from fewlabels.errors import FewlabelsError, FileError, SettingError
from fewlabels.labelstudio import (
    Annotation,
    Control,
    Inbox,
    TaskError,
    export_tasks,
    read_config,
    read_task_items,
    read_tasks,
    scores,
    write_config,
)
from fewlabels.session import Session

N = 12
SOME = examples(20)


def tasks(*annotated):
    """N tasks; annotated are (task, annotation) pairs."""
    held = {k: [] for k in range(N)}
    for k, annotation in annotated:
        held[k].append(annotation)
    return [studio.task(k, *held[k]) for k in range(N)]


@pytest.fixture
def opened(tmp_path):
    """Opens a session on tasks, annotations taken in; the same tasks again go on with the same store."""
    sessions = []

    def open_(listed, **options):
        found = read_tasks(studio.write(tmp_path / "tasks.json", listed), read_config(studio.CONFIG))
        session = Session(read_task_items(found, neighbors=3), tmp_path / "store.sqlite", **options)
        sessions.append(session)
        inbox = Inbox(session, found.tasks)
        inbox.take_all()
        session.settle()
        return session, inbox, found

    yield open_
    for session in sessions:
        session.close()


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


class TestInbox:
    def test_annotations_are_answers_of_those_who_gave_them(self, opened):
        session, _, _ = opened(
            tasks(
                (0, studio.annotation(1, 100, "sea", who=1)),
                (1, studio.annotation(2, 101, "sky", who=1)),
                (1, studio.annotation(3, 101, "sea", who=2)),
                (2, studio.annotation(4, 102, cancelled=True)),
                (3, studio.annotation(5, 103, None)),
            ),
            overlap=2,
        )
        assert session.snapshot().label(0) == "sea"
        assert session.snapshot().label(1) is None  # they differ
        assert [item for item, _ in session.snapshot().disagreements()] == [1]
        assert session.snapshot().aside() == ([], [2])
        assert session.snapshot().standing.people == {"user 1": 2, "user 2": 1}
        assert set(session.snapshot().history) == {0, 1, 2}

    def test_the_same_file_again_changes_nothing_and_a_newer_one_what_is_new(self, opened):
        listed = tasks((0, studio.annotation(1, 100, "sea")), (2, studio.annotation(4, 102, cancelled=True)))
        session, inbox, _ = opened(listed)
        inbox.take(0, Annotation("user 1", "sky", False, "1", "later"))
        session.settle()
        version = session.snapshot().predictions.version
        session.close()
        session, _, _ = opened(listed)
        assert session.snapshot().predictions.version == version
        assert session.snapshot().label(0) == "sky"  # what came in later stands, though the file still says sea
        session.close()
        listed[5]["annotations"] = [studio.annotation(9, 105, "land")]
        listed[0]["annotations"] = [studio.annotation(1, 100, "sky", at="later")]
        session, _, _ = opened(listed)
        assert (session.snapshot().label(0), session.snapshot().label(5)) == ("sky", "land")
        assert session.classes == ["sea", "sky", "land"]

    def test_an_update_changes_a_repeat_does_not_count_and_a_deletion_takes_back(self, opened):
        session, inbox, _ = opened(tasks((0, studio.annotation(1, 100, "sea"))))
        inbox.take(3, Annotation("user 2", "sky", False, "7", "t1"))
        count = len(session._ledger.in_force)
        inbox.take(3, Annotation("user 2", "sky", False, "7", "t1"))
        assert len(session._ledger.in_force) == count
        inbox.take(3, Annotation("user 2", "sea", False, "7", "t2"))
        assert session.snapshot().label(3) == "sea"
        inbox.take(3, Annotation("user 2", "sky", False, "7", "t3"))
        inbox.take(3, Annotation("user 2", "sea", False, "7", "t2"))  # sent again, late
        assert session.snapshot().label(3) == "sky"
        inbox.delete("7")
        inbox.delete("7")
        inbox.delete("unheard of")
        assert session.snapshot().label(3) is None
        inbox.delete("1")  # came with the file
        assert session.snapshot().label(0) is None

    def test_a_deletion_is_understood_after_a_restart(self, opened):
        session, inbox, _ = opened(tasks())
        inbox.take(3, Annotation("user 2", "sky", False, "7", "t1"))
        session.close()
        session, inbox, _ = opened(tasks())
        assert session.snapshot().label(3) == "sky"
        inbox.delete("7")
        assert session.snapshot().label(3) is None

    def test_a_skip_takes_back_the_answer_it_replaces_and_leaves_those_of_others(self, opened):
        session, inbox, _ = opened(tasks())
        inbox.take(3, Annotation("user 2", "sky", False, "7", "t1"))
        inbox.take(3, Annotation("user 2", None, True, "7", "t2"))
        assert session.snapshot().label(3) is None
        assert session.snapshot().aside()[1] == [3]
        inbox.take(4, Annotation("user 1", "sea", False, "8", "t1"))
        inbox.take(4, Annotation("user 2", None, True, "9", "t1"))
        assert session.snapshot().label(4) == "sea"
        inbox.take(3, Annotation("user 2", None, False, "7", "t3"))  # emptied: neither label nor skip
        inbox.delete("7")
        assert session.snapshot().aside()[1] == []

    def test_tasks_are_found_by_data_first_as_ids_change_on_import(self, opened):
        _, inbox, found = opened(tasks())
        assert inbox.item(103) == inbox.item("103") == 3
        assert inbox.item(103, found.tasks[5].data) == 5
        assert inbox.item(103) == 5  # remembered
        assert inbox.item(9000, {"body": "never seen"}) is None
        assert inbox.item(9000) is None


class TestExport:
    def test_what_goes_out_comes_in_as_the_same(self, opened, tmp_path):
        listed = tasks(
            (0, studio.annotation(1, 100, "sea", who=1)),
            (1, studio.annotation(2, 101, "sky", who={"id": 3, "email": "ann@example.org", "first_name": "Ann"})),
            (2, studio.annotation(4, 102, cancelled=True)),
        )
        session, _, found = opened(listed)
        session.answer("bob", 5, "sky", "key-00000001")
        exported = export_tasks(session, found.control, found.tasks)
        assert [task["data"] for task in exported] == [task["data"] for task in listed]
        assert [task["id"] for task in exported] == [task["id"] for task in listed]
        by = [[one.get("completed_by") for one in task["annotations"]] for task in exported]
        assert by[:6] == [[1], [{"email": "ann@example.org"}], [1], [], [], [None]]
        again = read_tasks(studio.write(tmp_path / "again.json", exported), found.control)
        told = [[(said.label, said.cancelled) for said in task.annotations] for task in again.tasks]
        assert told[:6] == [[("sea", False)], [("sky", False)], [(None, True)], [], [], [("sky", False)]]

    def test_predictions_are_the_sessions_and_the_next_question_has_the_lowest_score(self, opened):
        session, _, found = opened(tasks((0, studio.annotation(1, 100, "sea")), (1, studio.annotation(2, 101, "sky"))))
        exported = export_tasks(session, found.control, found.tasks)
        assert exported[0]["predictions"] == exported[1]["predictions"] == []
        asked = session.question("bob").item
        lowest = min(exported[2:], key=lambda task: task["predictions"][0]["score"])
        assert lowest["id"] == found.tasks[asked].id
        for k, task in enumerate(exported[2:], start=2):
            (one,) = task["predictions"]
            predicted = session.snapshot().predictions.predicted[k]
            assert one["result"][0]["value"] == {"choices": [["sea", "sky"][predicted]]}
            assert one["result"][0]["score"] == pytest.approx(
                session.snapshot().predictions.chance[k, predicted], abs=1e-6
            )
            assert (one["result"][0]["from_name"], one["result"][0]["to_name"]) == ("topic", "note")
            assert one["model_version"] == f"fewlabels-{session.snapshot().predictions.version}"

    def test_scores_follow_the_costs(self, opened):
        session, _, _ = opened(
            tasks((0, studio.annotation(1, 100, "sea")), (2, studio.annotation(4, 102, cancelled=True)))
        )
        score = np.array(scores(session))
        cost = session._learner._learner.costs()
        assert score[0] == score[2] == 1
        assert sorted(score[score < 1]) == pytest.approx(np.arange(N - 2) / (N - 2))
        order = np.argsort(score)[: N - 2]
        assert np.all(np.diff(cost[order][1:]) >= 0)
        assert cost[order[0]] <= cost[order].min() + 1e-9

    def test_before_the_first_label_there_is_an_order_and_no_result(self, opened):
        session, _, found = opened(tasks())
        exported = export_tasks(session, found.control, found.tasks)
        assert all(task["predictions"][0]["result"] == [] for task in exported)
        assert len({task["predictions"][0]["score"] for task in exported}) == N

    def test_a_decision_is_a_ground_truth(self, opened):
        session, _, found = opened(
            tasks((1, studio.annotation(2, 101, "sky", who=1)), (1, studio.annotation(3, 101, "sea", who=2)))
        )
        session.decide("eve", 1, "sea", "key-00000001")
        told = export_tasks(session, found.control, found.tasks)[1]["annotations"]
        assert [(one["result"][0]["value"]["choices"], one["ground_truth"]) for one in told] == [
            (["sky"], False),
            (["sea"], False),
            (["sea"], True),
        ]

    def test_items_from_elsewhere_become_tasks_with_a_config_that_fits(self, tmp_path):
        from fewlabels.items.read import read_items
        from fewlabels.labelstudio.export import control_for

        rows = "".join(f"{k},{studio.body(k).replace(',', '')},{k % 3}\n" for k in range(N))
        (tmp_path / "notes.csv").write_text(f"id,note,shelf\n{rows}")
        items = read_items(tmp_path / "notes.csv", text="note", classes=["sea", "<sky>"], neighbors=3)
        session = Session(items, tmp_path / "s.sqlite")
        try:
            session.answer("ann", 0, "<sky>", "key-00000001")
            control = control_for(items, session.classes)
            exported = json.loads(json.dumps(export_tasks(session)))
        finally:
            session.close()
        assert exported[1]["data"] == {"text": items.texts[1], "shelf": "1", "name": "1"}
        assert exported[0]["annotations"][0]["result"][0]["value"] == {"choices": ["<sky>"]}
        assert read_config(write_config(control)) == control
        found = read_tasks(studio.write(tmp_path / "t.json", exported), control)
        assert read_task_items(found, neighbors=3).texts == items.texts
