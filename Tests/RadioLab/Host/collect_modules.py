# This source file is part of Dialtone.
# SPDX-License-Identifier: Apache-2.0
"""Copies kernel modules, and those that they depend on, into a tree of their own.

collect_modules.py FROM TO LIST: FROM and TO are folders as /lib/modules/VERSION, LIST has a name a line.
"""

import pathlib
import re
import shutil
import sys


def normal(name: str) -> str:
    """`-` and `_` are the same to the kernel."""
    return name.replace("-", "_")


def main() -> None:
    source, target = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    files = {normal(file.stem): file for file in source.rglob("*.ko")}
    lines = pathlib.Path(sys.argv[3]).read_text().splitlines()
    wanted = [normal(line) for line in lines if line and not line.startswith("#")]
    done = set()
    while wanted:
        name = wanted.pop()
        if name in done:
            continue
        done.add(name)
        if name not in files:
            sys.exit("collect_modules.py: there is no module " + name)
        file = files[name]
        copy = target / file.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
        # The .modinfo section has `depends=a,b` (scripts/mod/modpost.c).
        depends = re.search(rb"\0depends=([^\0]*)\0", file.read_bytes())
        if depends:
            wanted += [normal(name) for name in depends[1].decode().split(",") if name]
    # depmod(8) wants these, though they may be empty.
    for name in ("modules.order", "modules.builtin"):
        shutil.copyfile(source / name, target / name)


main()
