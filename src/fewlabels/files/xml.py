"""XML read as a stream. A document type is refused: entities declared in it can grow a small file without end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import BinaryIO
from xml.parsers import expat

from fewlabels.errors import FewlabelsError, FileError

Attributes = Mapping[str, str]
FIRST, PIECE = 64, 2**16  # bytes fed at a time: before the root element, where a document type may stand, and after

LONGEST = 2**20  # bytes of one tag with its attributes, or one comment: each piece goes through all of it again
BEFORE = 2**16  # the same before the root element has begun, where pieces are small


def read_xml(
    file: BinaryIO,
    what: str,
    start: Callable[[str, Attributes, int], None],
    end: Callable[[str, str], None],
) -> None:
    """Call start(tag, attributes, line) and end(tag, text) for every element, without namespaces, as they are met.

    The text is what the element holds after its last inner tag. `what` names the file in messages.

    >>> import io
    >>> read_xml(io.BytesIO(b"<a><b>x</b>y</a>"), "it", lambda *met: None, lambda tag, text: print(tag, text))
    b x
    a y
    """
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    text: list[str] = []
    begun, fed = False, 0

    def on_start(name: str, attributes: dict[str, str]) -> None:
        nonlocal begun
        begun = True
        text.clear()
        start(_local(name), {_local(key): value for key, value in attributes.items()}, parser.CurrentLineNumber)

    def on_end(name: str) -> None:
        end(_local(name), "".join(text))
        text.clear()

    def refuse(*declaration: object) -> None:
        raise FileError(f"{what} has a document type (<!DOCTYPE ...>), which may hide anything: remove it.")

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = on_start, on_end, text.append
    parser.StartDoctypeDeclHandler = refuse
    try:
        while piece := file.read(PIECE if begun else FIRST):  # so few that no declared entity is used yet
            parser.Parse(piece, False)
            fed, most = fed + len(piece), LONGEST if begun else BEFORE
            if fed - parser.CurrentByteIndex > most:
                raise FileError(f"{what} holds a tag or a comment of more than {most:,} bytes: remove it.")
        parser.Parse(b"", True)
    except FewlabelsError:
        raise
    except (expat.ExpatError, LookupError, ValueError) as error:  # the last two: encodings that expat does not know
        raise FileError(f"{what} cannot be read as XML: {error}. Save it again.") from None


def _local(name: str) -> str:
    return name.rpartition(" ")[2]
