"""What attackers put into requests, in every place of every request that a server describes."""

import copy
import http.client
import itertools
import json
import os
from urllib.parse import quote

SCRIPT = "<script>alert(1)</script>"
TEXTS = [
    SCRIPT,
    '"><img src=x onerror=alert(1)>',
    "javascript:alert(1)",
    "{{7*7}}${7*7}<%= 7*7 %>",
    "' OR 1=1 --",
    "'; DROP TABLE events; --",
    "%' UNION SELECT * FROM about --",
    "../../../../etc/passwd",
    "..\\..\\windows\\win.ini",
    "/etc/passwd",
    "file:///etc/passwd",
    "%2e%2e%2f%00",
    "a\r\nX-Injected: yes\r\n\r\n<html>",
    "nul\0byte",
    "half a character \ud800",
    "the other half \udfff",
    "right\u202eto left\u2066\u200f",
    "line\u2028and\u2029paragraph",
    "zero\u200bwidth\ufeff",
    '=HYPERLINK("http://evil.example","x")',
    "+1+1|' /C calc'!A0",
    "@SUM(1)",
    "\t=1+1",
    "$(touch pwned) `touch pwned` ; touch pwned",
    "Z\u0335\u0321\u0322" * 20,
    "",
    " ",
    "A" * 100_000,
]
NUMBERS = [-1, 0, 2**31, 2**53 + 1, 2**63, 10**30, -(10**30), 1e308, 0.5, float("nan"), float("inf")]
OTHERS = [None, True, [], {}, [[]] * 3, {"$where": "1"}, {"__proto__": {"a": 1}}]
KINDS = ("application/json", "application/jsonl", "text/csv", "image/", "text/javascript", "text/css")


def deep(levels):
    found = []
    for _ in range(levels):
        found = [found]
    return found


ALL = [*TEXTS, *NUMBERS, *OTHERS, deep(300)]
EACH = len(ALL) if os.environ.get("FEWLABELS_INJECTIONS") else 5  # in each place; in turn, so that all come up


class Attack:
    """Sends what should be refused or taken as plain text; any reply that is neither fails. To be closed."""

    def __init__(self, port, samples, headers=None):
        self.port, self.samples, self.headers = port, samples, headers or {}
        self.line = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.sent, self.accepted, self.fresh = 0, 0, itertools.count()
        self.texts, self.all = itertools.cycle(TEXTS), itertools.cycle(ALL)
        self.described = json.loads(self.send("GET", "/openapi.json"))

    def close(self):
        self.line.close()

    def operations(self):
        """(method, path, what is said of it) of everything that is described."""
        for path, methods in self.described["paths"].items():
            for method, said in methods.items():
                yield method.upper(), path, said

    def on(self, method, path, said):
        """Attack one operation: each place of its body, path and query in turn, with everything."""
        query, places = self._parameters(said)
        for name, _ in places:
            for text in itertools.islice(self.texts, EACH):
                self.send(method, self._address(path, places, query, name, text[:8000]), self.body(path, said))
        body = self.body(path, said)
        if body is None:
            return
        for place in _places(body):
            for value in itertools.islice(self.all, EACH):
                self.send(method, self._address(path, places, query), _with(self.body(path, said), place, value))
        for value in itertools.islice(self.all, EACH):
            self.send(method, self._address(path, places, query), value)

    def send(self, method, address, body=None):
        """One request; its reply must not be a crash, nor anything that a browser would run."""
        headers = {"content-type": "application/json"} | self.headers
        self.line.request(method, address, None if body is None else json.dumps(body), headers)
        reply = self.line.getresponse()
        content = reply.read()
        self.sent += 1
        self.accepted += reply.status < 300
        self.status = reply.status
        what = (method, address[:200], str(body)[:200], reply.status, content[:300])
        assert reply.status < 500, what
        kind = reply.getheader("content-type", "")
        assert kind.startswith(KINDS) or not content, what
        assert reply.getheader("x-content-type-options") == "nosniff", what
        assert reply.getheader("x-injected") is None, what
        if reply.status >= 400 and content:
            assert isinstance(json.loads(content)["detail"], str), what
        return content

    def _parameters(self, said):
        places = [(one["name"], one["in"]) for one in said.get("parameters", ())]
        query = {name: self._sample(name, {}) for name, where in places if where == "query"}
        return query, places

    def _address(self, path, places, query, attacked=None, text=None):
        def of(name):
            return quote(str(text if name == attacked else self._sample(name, {})).encode("utf-8", "surrogatepass"), "")

        for name, where in places:
            if where == "path":
                path = path.replace(f"{{{name}}}", of(name))
        asked = "&".join(f"{name}={of(name)}" for name in query if name == attacked)
        return path + (f"?{asked}" if asked else "")

    def body(self, path, said):
        """A body that the description allows, or None."""
        if "requestBody" not in said:
            return None
        schema = next(iter(said["requestBody"]["content"].values()))["schema"]
        return copy.deepcopy(self.samples[path]) if path in self.samples else self._sample(path, schema)

    def _sample(self, name, schema):
        """A value that such a schema allows, or one known by its name."""
        if name == "key":
            return f"injected-{next(self.fresh):08}"
        if name in self.samples:
            return self.samples[name]
        if "$ref" in schema:
            return self._sample(name, self.described["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]])
        if "anyOf" in schema:
            return self._sample(name, schema["anyOf"][0])
        if "enum" in schema or "const" in schema:
            return schema.get("const", schema.get("enum", [None])[0])
        kind = schema.get("type")
        if kind == "object":
            return {key: self._sample(key, of) for key, of in schema.get("properties", {}).items()}
        if kind == "array":
            return [self._sample(name, schema.get("items", {}))]
        return {"integer": 1, "number": 1, "boolean": False}.get(kind, "cat")


def _places(value, here=()):
    """The way to everything in a value that can be replaced."""
    if here:
        yield here
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inside:
        yield from _places(part, (*here, key))


def _with(value, place, replacement):
    *way, last = place
    part = value
    for key in way:
        part = part[key]
    part[last] = replacement
    return value


def undescribed(app):
    """(method, path) of the routes that are not in the description, by which all others are attacked and fuzzed."""
    api = app._app  # within the guard
    described = {(method.upper(), path) for path, methods in api.openapi()["paths"].items() for method in methods}
    found = {(method, route.path) for route in api.routes for method in getattr(route, "methods", None) or [None]}
    return found - described
