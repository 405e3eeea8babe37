"""Reading XML from strangers."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from grid.errors import PlatformError
from grid.foreign import quoted
from grid.reading import LARGEST_TEXT


def read_xml(path: Path) -> Element:
    """Return the root of an XML file.

    Entities of its own are refused: they may stand for gigabytes, or for other files. A document
    type that it names is not looked for.

    Raises
    ------
    PlatformError
        If the file cannot be read or is no such XML (``FILE:LINE``).
    """
    tree = TreeBuilder()
    parser = expat.ParserCreate()

    def refuse(*declaration: Any) -> NoReturn:
        raise PlatformError(
            f"{path}:{parser.CurrentLineNumber}: found an entity, {quoted(declaration[0])}; "
            "accepted: XML without any"
        )

    parser.EntityDeclHandler = parser.SkippedEntityHandler = refuse
    parser.StartElementHandler = tree.start
    parser.EndElementHandler = tree.end
    try:
        with open(path, "rb") as file:
            text = file.read(LARGEST_TEXT + 1)
        if len(text) > LARGEST_TEXT:
            raise ValueError(f"found more than {LARGEST_TEXT:,} bytes, the most that are read")
        parser.Parse(text, True)
    except OSError as error:
        raise PlatformError(f"{path}: {error.strerror}; accepted: an XML file") from None
    except (expat.ExpatError, ValueError, LookupError) as error:  # of the syntax, or the encoding
        if isinstance(error, PlatformError):
            raise
        line = getattr(error, "lineno", parser.CurrentLineNumber)
        raise PlatformError(f"{path}:{line}: {error}; accepted: an XML file") from None
    return tree.close()
