# This source file is part of Dialtone.
# SPDX-License-Identifier: Apache-2.0
"""Copies programs, and the libraries that they need, out of unpacked packages into a root of their own.

collect_programs.py FROM TO LIST: FROM has the unpacked packages, LIST a name a line.
"""

import pathlib
import re
import shutil
import subprocess
import sys

PROGRAM_FOLDERS = ("usr/bin", "usr/sbin", "bin", "sbin")
LIBRARIES = "usr/lib/x86_64-linux-gnu"
LIBRARY_FOLDERS = (LIBRARIES, "lib/x86_64-linux-gnu", "usr/lib", "lib")
LOADER = "ld-linux-x86-64.so.2"


def find(root: pathlib.Path, folders: tuple[str, ...], name: str) -> pathlib.Path:
    for folder in folders:
        file = root / folder / name
        if file.exists():
            return file
    sys.exit("collect_programs.py: none of the packages has " + name)


def needed(file: pathlib.Path) -> list[str]:
    with open(file, "rb") as opened:
        if opened.read(4) != b"\x7fELF":
            return []  # a script
    output = subprocess.run(["readelf", "-d", file], check=True, capture_output=True, text=True).stdout
    return re.findall(r"\(NEEDED\).*\[(.*)\]", output)


def main() -> None:
    source, target = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    (target / "usr/bin").mkdir(parents=True)
    (target / "usr/lib64").mkdir(parents=True)
    (target / LIBRARIES).mkdir(parents=True)
    lines = pathlib.Path(sys.argv[3]).read_text().splitlines()
    libraries = [LOADER]
    for name in (line for line in lines if line and not line.startswith("#")):
        program = find(source, PROGRAM_FOLDERS, name)
        shutil.copy(program, target / "usr/bin" / name)
        libraries += needed(program)
    done = set()
    while libraries:
        name = libraries.pop()
        if name in done:
            continue
        done.add(name)
        library = find(source, LIBRARY_FOLDERS, name)
        shutil.copy(library, target / LIBRARIES / name)
        libraries += needed(library)
    shutil.copy(target / LIBRARIES / LOADER, target / "usr/lib64" / LOADER)


main()
