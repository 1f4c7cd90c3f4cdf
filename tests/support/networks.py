"""Tiny networks in ONNX files, and a hub that offers one."""

import hashlib
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

COMMIT = "0" * 40


def _saved(path, nodes, inputs, output, constants=()):
    graph = helper.make_graph(nodes, "tiny", inputs, [output], list(constants))
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def mean_colour(path, shape=("n", 3, "h", "w"), output_size=("n", 3), kind=TensorProto.FLOAT):
    """(n, 3) the mean of each channel of what it is given, colours first or last."""
    axes = [2, 3] if shape[3] != 3 else [1, 2]
    nodes = [
        helper.make_node("Cast", ["x"], ["c"], to=TensorProto.FLOAT),
        helper.make_node("ReduceMean", ["c"], ["y"], axes=axes, keepdims=0),
    ]
    put, out = helper.make_tensor_value_info, helper.make_tensor_value_info
    return _saved(path, nodes, [put("x", kind, shape)], out("y", TensorProto.FLOAT, output_size))


def word_vectors(path, vectors):
    """(n, tokens, d) the vector of each token, with the tokenizer.json beside it; padding is token 0."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = {"[PAD]": 0} | {word: k for k, word in enumerate(vectors, start=1)}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="[PAD]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(path.with_name("tokenizer.json")))
    table = np.array([[99.0, 99.0], *vectors.values()], dtype=np.float32)  # padding must not count
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ("n", "t")) for name in ("input_ids", "attention_mask")
    ]
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["y"])]
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, ("n", "t", table.shape[1]))
    return _saved(path, nodes, inputs, out, [numpy_helper.from_array(table, "table")])


def endless(path):
    """(n, 3) the means, on which a loop then works for ever."""
    out, put = helper.make_tensor_value_info, helper.make_tensor_value_info
    bool_, whole = TensorProto.BOOL, TensorProto.INT64
    inputs = [put("i", whole, []), put("go", bool_, []), put("v", TensorProto.FLOAT, None)]
    body = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["on"]), helper.make_node("Sin", ["v"], ["w"])],
        "body", inputs, [out("on", bool_, []), out("w", TensorProto.FLOAT, None)],
    )  # fmt: skip
    nodes = [
        helper.make_node("ReduceMean", ["x"], ["m"], axes=[2, 3], keepdims=0),
        helper.make_node("Loop", ["", "true", "m"], ["y"], body=body),
    ]
    true = numpy_helper.from_array(np.array(True), "true")
    return _saved(path, nodes, [put("x", TensorProto.FLOAT, ("n", 3, 8, 8))], out("y", TensorProto.FLOAT, None), [true])


def stretched(path, shape, axes):
    """The mean of each photo, written over and over: an array of this shape."""
    out = put = helper.make_tensor_value_info
    nodes = [
        helper.make_node("ReduceMean", ["x"], ["m"], axes=[1, 2, 3], keepdims=0),
        helper.make_node("Unsqueeze", ["m", "axes"], ["u"]),
        helper.make_node("Expand", ["u", "shape"], ["y"]),
    ]
    constants = [numpy_helper.from_array(np.array(axes), "axes"), numpy_helper.from_array(np.array(shape), "shape")]
    inputs = [put("x", TensorProto.FLOAT, ("n", 3, 8, 8))]
    return _saved(path, nodes, inputs, out("y", TensorProto.FLOAT, None), constants)


@contextmanager
def hub(folder, repository):
    """The address of a hub on this machine that offers the files of a folder as one repository; counts downloads."""
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    tree = [
        {"type": "file", "path": name, "size": len(data), "oid": COMMIT, "lfs": _lfs(data)}
        for name, data in files.items()
    ]
    about = {"id": repository, "sha": COMMIT, "siblings": [{"rfilename": name} for name in files]}
    fetched = []

    class Answers(BaseHTTPRequestHandler):
        def do_HEAD(self):
            self.answer(body=False)

        def do_GET(self):
            self.answer(body=True)

        def answer(self, body):
            path = self.path.split("?")[0]
            if path.startswith("/api/"):
                data = json.dumps(tree if "/tree/" in path else about).encode()
            else:
                data = files.get(path.split(f"/resolve/{COMMIT}/")[-1].split("/resolve/main/")[-1])
            self.send_response(404 if data is None else 200)
            if data is not None and not path.startswith("/api/"):
                digest = f'"{_lfs(data)["oid"]}"'
                for name in ("ETag", "X-Linked-ETag"):
                    self.send_header(name, digest)
                self.send_header("X-Repo-Commit", COMMIT)
                self.send_header("X-Linked-Size", str(len(data)))
                if body:
                    fetched.append(path.rsplit("/", 1)[-1])
            self.send_header("Content-Length", str(len(data or b"")))
            self.end_headers()
            if body and data:
                self.wfile.write(data)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", fetched
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _lfs(data):
    return {"oid": hashlib.sha256(data).hexdigest(), "size": len(data), "pointerSize": 100}
