"""What Label Studio writes and sends, in the shapes its documentation gives."""

import json

CONFIG = """<View>
  <Header value="What is it about?"/>
  <Text name="note" value="$body"/>
  <Choices name="topic" toName="note" choice="single" showInLine="true">
    <Choice value="sea"/>
    <Choice value="sky"/>
  </Choices>
</View>"""

N = 12
WORDS = {"sea": "fish wave boat salt tide", "sky": "bird cloud wind star kite"}


def body(k):
    """A short text about the sea (even) or the sky (odd)."""
    words = WORDS["sky" if k % 2 else "sea"].split()
    return f"{words[k % 5]} and {words[(k // 2) % 5]} with {words[(k + 2) % 5]}, note {k}"


def choice(label, from_name="topic", to_name="note"):
    return {
        "id": f"r-{label}",
        "from_name": from_name,
        "to_name": to_name,
        "type": "choices",
        "origin": "manual",
        "value": {"choices": [label]},
    }


def annotation(number, task, label=None, who=1, at="2026-11-15T12:00:00.000001Z", cancelled=False):
    return {
        "id": number,
        "result": [] if label is None else [choice(label)],
        "was_cancelled": cancelled,
        "ground_truth": False,
        "created_at": "2026-11-15T11:00:00.000000Z",
        "updated_at": at,
        "lead_time": 4.2,
        "prediction": {},
        "result_count": 0,
        "task": task,
        "completed_by": who,
    }


def task(k, *annotations):
    """Task 100 + k, as an export has it."""
    return {
        "id": 100 + k,
        "data": {"body": body(k), "ref": k, "where": {"shelf": k % 3}},
        "meta": {},
        "created_at": "2026-11-15T10:00:00.000000Z",
        "updated_at": "2026-11-15T10:00:00.000000Z",
        "is_labeled": bool(annotations),
        "overlap": 1,
        "project": 7,
        "annotations": list(annotations),
        "predictions": [],
        "drafts": [],
    }


def tasks(*annotated):
    """N tasks; annotated are (task, annotation) pairs."""
    held = {k: [] for k in range(N)}
    for k, annotation in annotated:
        held[k].append(annotation)
    return [task(k, *held[k]) for k in range(N)]


def project():
    return {"id": 7, "title": "Notes", "label_config": CONFIG, "sampling": "Uncertainty sampling", "model_version": ""}


def event(action, **held):
    return {"action": action, "project": project(), **held}


def write(path, tasks):
    path.write_text(json.dumps(tasks), encoding="utf-8")
    return path
