"""How each script in Python begins, in the words of options.bash:

  options = arguments(__doc__, "check jobs=8 scratch-path=.build CASE…")

--check sets `options.check`; --jobs takes a number, as its default is one; other words go into `options.operands`. Then
the folder is that of the clone; the caller's is CALLER.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CALLER = pathlib.Path.cwd()
SCRIPT = f"Scripts/{pathlib.Path(sys.argv[0]).name}"


def fail(words, status=1):
    print(f"{SCRIPT}: {words}", file=sys.stderr)
    sys.exit(status)


def wrong(words):
    fail(f"{words}; see {SCRIPT} --help", 64)


def arguments(documentation, known):
    parser = argparse.ArgumentParser(description=documentation, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.error = wrong
    for word in known.split():
        name, takes_value, default = word.partition("=")
        if word.endswith("…"):
            parser.add_argument("operands", nargs="*", metavar=word[:-1])
        elif takes_value:
            parser.add_argument(f"--{name}", default=default, type=int if default.isdigit() else str)
        else:
            parser.add_argument(f"--{name}", action="store_true")
    os.chdir(ROOT)
    return parser.parse_args()


def require(*programs):
    """Status 77 says that this machine lacks something."""
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    for program in programs:
        if not shutil.which(program):
            fail(f"skipped: {program} is not installed", 77)


def products(scratch_path, *options):
    """The folder of what is built with these options."""
    shown = ["swift", "build", "--scratch-path", scratch_path, *options, "--show-bin-path"]
    return pathlib.Path(subprocess.check_output(shown, text=True).strip())


def dialtone(scratch_path, *options):
    """Builds the command; its path."""
    subprocess.run(["swift", "build", "--scratch-path", scratch_path, *options, "--product", "dialtone"], check=True,
                   stdout=sys.stderr)
    return products(scratch_path, *options) / "dialtone"


def write_between(page, name, lines):
    """Writes the lines between the marks of this name."""
    begin, end = f"<!-- {name}: {SCRIPT} --write -->", f"<!-- end of {name} -->"
    head, rest = page.read_text().split(begin)
    page.write_text("\n\n".join([head + begin, "\n".join(lines), end + rest.split(end)[1]]))
