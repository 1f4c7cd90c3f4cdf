"""The question a project asks, from its labeling config: one choice of several, about a text or an image."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from xml.sax.saxutils import quoteattr

from fewlabels.errors import FewlabelsError
from fewlabels.files.xml import Attributes, read_xml

KINDS = {"Text": "text", "HyperText": "text", "Paragraphs": "text", "Image": "image"}
SHOWN_BY = {"text": "Text", "image": "Image"}


class TaskError(FewlabelsError):
    """Something that Label Studio sent or saved and we cannot understand."""


@dataclass(frozen=True)
class Control:
    """`from_name` is the <Choices> tag, `to_name` the object it is about, `key` where that is in a task's data."""

    from_name: str = "label"
    to_name: str = "text"
    key: str | None = None
    kind: str | None = None  # "text", "image", or something that is not shown here
    classes: Sequence[str] = ()

    def result(self, label: str) -> dict[str, object]:
        """This choice, as it appears in an annotation or a prediction."""
        return {
            "from_name": self.from_name,
            "to_name": self.to_name,
            "type": "choices",
            "value": {"choices": [label]},
        }


def read_config(text: str, choices: str | None = None) -> Control:
    """The <Choices> tag of a labeling config (the one of this name, where there are several) and what it is about.

    >>> config = '<View><Text name="review" value="$body"/><Choices name="mood" toName="review"><Choice value="good"/>'
    >>> read_config(config + '<Choice value="bad"/></Choices></View>')
    Control(from_name='mood', to_name='review', key='body', kind='text', classes=('good', 'bad'))
    """
    found = _Config()
    try:
        read_xml(io.BytesIO(text.encode("utf-8", "replace")), "the labeling config", found.start, found.end)
    except FewlabelsError as error:
        raise TaskError(str(error)) from None
    return found.control(choices)


def write_config(control: Control) -> str:
    """A labeling config for tasks that were exported with this control."""
    shown = SHOWN_BY.get(control.kind or "text", "Text")
    lines = [f"    <Choice value={quoteattr(label)}/>" for label in control.classes]
    return "\n".join(
        [
            "<View>",
            f"  <{shown} name={quoteattr(control.to_name)} value={quoteattr('$' + (control.key or control.to_name))}/>",
            f"  <Choices name={quoteattr(control.from_name)} toName={quoteattr(control.to_name)}>",
            *lines,
            "  </Choices>",
            "</View>",
        ]
    )


@dataclass
class _Choices:
    to_name: str
    several: bool
    classes: list[str] = field(default_factory=list)


class _Config:
    """The tags of a labeling config that count."""

    def __init__(self) -> None:
        self._choices: dict[str, _Choices] = {}
        self._objects: dict[str, tuple[str, str | None]] = {}  # name -> key in the data, kind
        self._open: str | None = None  # the <Choices> being read
        self._value: str | None = None  # of the <Choice> being read

    def start(self, tag: str, attributes: Attributes, line: int) -> None:
        name, value = attributes.get("name"), attributes.get("value", "")
        if tag == "Choices":
            if name is None:
                raise TaskError(f"the labeling config, line {line}: <Choices> has no name. Add one.")
            self._open = name
            self._choices[name] = _Choices(attributes.get("toName", ""), attributes.get("choice") == "multiple")
        elif tag == "Choice":
            self._value = attributes.get("alias") or value
        elif name is not None and value.startswith("$"):
            self._objects[name] = value[1:], KINDS.get(tag)

    def end(self, tag: str, text: str) -> None:
        if tag == "Choices":
            self._open = None
        elif tag == "Choice" and self._open is not None:
            label = (self._value or text).strip()
            if label and label not in self._choices[self._open].classes:
                self._choices[self._open].classes.append(label)

    def control(self, choices: str | None) -> Control:
        listed = ", ".join(self._choices)
        if not self._choices:
            raise TaskError("the labeling config has no <Choices>: fewlabels gives each task one of several classes.")
        if choices is not None and choices not in self._choices:
            raise TaskError(
                f"the labeling config has no <Choices name={choices!r}>: it has {listed}. Name one of them."
            )
        if choices is None and len(self._choices) > 1:
            raise TaskError(f"the labeling config has several <Choices>, {listed}: say which with --choices.")
        name = choices or next(iter(self._choices))
        found = self._choices[name]
        if found.several:
            raise TaskError(f"<Choices name={name!r}> takes several choices: make it single, as a task has one class.")
        key, kind = self._objects.get(found.to_name, (None, None))
        return Control(name, found.to_name, key, kind, tuple(found.classes))
