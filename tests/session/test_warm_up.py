"""After warming up, nothing that people do on the page waits for a compiler; in a process of its own, so that no other
test has compiled anything."""

import os
import subprocess
import sys

SESSION = """
import sys
from pathlib import Path
from numba.core.dispatcher import Dispatcher
from support.items import some_digits
from fewlabels.session import Session
from fewlabels.session.warm_up import warm_up

def compiled():
    modules = [vars(module) for name, module in list(sys.modules.items()) if name.startswith("fewlabels")]
    kernels = {value for names in modules for value in names.values() if isinstance(value, Dispatcher)}
    return {(str(kernel), str(types)) for kernel in kernels for types in kernel.signatures}

warm_up()
before = compiled()
session = Session(some_digits(700)[0], Path(sys.argv[1]), overlap=2)
keys = map("key-{:08d}".format, range(1000))
session.skip("ann", session.question("ann").item, next(keys))
for step in range(3):
    for who in ("ann", "bob"):
        item = session.question(who).item
        session.explain(item)
        session.answer(who, item, str((step + (who == "bob" and step % 5 == 0)) % 10), next(keys))
session.undo("ann", next(keys))
session.unsure("bob", session.question("bob").item, next(keys))
session.add_class("ann", "smudge", next(keys))
session.change_class("ann", "remove", "9", None, next(keys))
session.accept("bob", [(item, "1") for item in session.order()[:100]], next(keys))
session.settle()
session.question("ann")
session.close()
print(*(compiled() - before), sep="\\n")
"""


def test_no_action_on_the_page_needs_a_kernel_that_was_not_warmed_up(tmp_path):
    (tmp_path / "session.py").write_text(SESSION)
    command = [sys.executable, str(tmp_path / "session.py"), str(tmp_path / "store.sqlite")]
    surroundings = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(command, capture_output=True, text=True, env=surroundings, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == ""
