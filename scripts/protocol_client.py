"""The client of docs/PROTOCOL.md, as a module. It needs pyzmq and cbor2."""
import linecache
import pathlib
import re
import types

DOCUMENT = pathlib.Path(__file__).resolve().parent.parent / "docs/PROTOCOL.md"
PACKAGES = dict(pyzmq="27.3.0", cbor2="6.2.1")


class Violation(Exception):
    """A rule did not hold."""


def require(condition, message):
    if not condition:
        raise Violation(message)


def blocks(kind):
    """The names and the bodies of the fenced blocks of a kind."""
    return re.findall(rf"^```{kind}\b ?(.*?)\n(.*?)^```", DOCUMENT.read_text(), re.MULTILINE | re.DOTALL)


def client(mutation=None):
    """The module of the document's Python code; `mutation` replaces a part of it to break a rule."""
    source = "\n\n".join(body for _, body in blocks("python"))
    if mutation is not None:
        old, new = mutation
        require(source.count(old) == 1, f"the document's Python has {source.count(old)} times: {old}")
        source = source.replace(old, new)
    module = types.ModuleType("statecast")
    name = f"the Python of {DOCUMENT.name}"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    exec(compile(source, name, "exec"), module.__dict__)
    # The default delays would make the check slow.
    module.RETRY_DELAY_MIN, module.RETRY_DELAY_MAX = 0.3, 1.0
    return module
