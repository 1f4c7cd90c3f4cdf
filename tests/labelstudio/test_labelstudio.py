"""Annotations of Label Studio come in as answers, and go out again with predictions, as tasks it imports."""

import json

import numpy as np
import pytest
from support import label_studio as studio
from support.label_studio import N, tasks

from fewlabels.labelstudio import (
    Annotation,
    Inbox,
    export_tasks,
    read_config,
    read_task_items,
    read_tasks,
    scores,
    write_config,
)
from fewlabels.session import Session


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
