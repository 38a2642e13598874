"""Checks trajectories against Harbor's own models.

    python check_atif.py trajectory.json...

Needs `harbor`, which wants Python 3.12. Its models alone need nothing but `pydantic`: with an older
Python unpack the wheel (`pip download --no-deps --python-version 3.12 --only-binary=:all: harbor`)
and put its folder on PYTHONPATH.
"""

import sys
import types
from importlib.machinery import PathFinder

# The models without the rest of the package, which starts containers and more.
for name in ("harbor", "harbor.models"):
    above = sys.modules[name.rpartition(".")[0]].__path__ if "." in name else None
    package = types.ModuleType(name)
    package.__path__ = PathFinder.find_spec(name, above).submodule_search_locations
    sys.modules[name] = package

from harbor.models.trajectories.trajectory import Trajectory  # noqa: E402

for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        Trajectory.model_validate_json(file.read())
print(f"{len(sys.argv) - 1} passed, 0 failed")
