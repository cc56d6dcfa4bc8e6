"""Reads the faults: files *.faults beside this one, whose format README.md describes."""
import pathlib

WHERE = ["machine", "link", "router", "beyond", "names", "target", "proxy", "-"]
FAMILIES = {"4": [4], "6": [6], "46": [4, 6]}


class Fault:
    def __init__(self, header, file, line):
        self.place = f"{file}:{line}"
        cells = [cell.strip() for cell in header.split("|")]
        if len(cells) != 5:
            raise ValueError(f"{self.place}: five cells, not {len(cells)}")
        self.name, self.where, self.ask, causes, flags = cells
        if self.where not in WHERE:
            raise ValueError(f"{self.place}: no such place: {self.where}")
        right, _, rest = causes.partition(";")
        plausible, _, user = rest.partition(";")
        self.right, self.plausible, self.as_user = right.split(), plausible.split(), user.split()
        flags = flags.split()
        self.families = [flag for flag in flags if flag in FAMILIES] or ["4"]
        self.slow, self.own = "slow" in flags, "own" in flags
        self.turns, self.works = "turns" in flags, "works" in flags or self.right[0] == "-" and self.where == "-"
        self.users = [user for user, name in [(False, "root"), (True, "user")]
                      if name in flags or not {"root", "user"} & set(flags)]
        unknown = set(flags) - set(FAMILIES) - {"turns", "works", "slow", "own", "root", "user"}
        if unknown or not self.right:
            raise ValueError(f"{self.place}: no such flag: {unknown}, or no cause")
        self.words, self.judge, self.heading, self.how, self.show = "", "", "", [], []
        self.group = pathlib.Path(file).stem

    @property
    def is_healthy(self):
        return self.where == "-"

    def add(self, text):
        if not self.words:
            self.words = text
        elif text.startswith("judge: "):
            self.judge = text.removeprefix("judge: ")
        elif text.startswith("plausible: "):
            self.plausible += text.removeprefix("plausible: ").split()
        elif text.startswith("page: "):
            self.heading = text.removeprefix("page: ")
        elif text.startswith("$ dialtone "):
            self.show.append(text.removeprefix("$ dialtone "))
        else:
            self.how += text.split(" // ")


def faults(folder=pathlib.Path(__file__).parent):
    found = []
    for path in sorted(folder.glob("*.faults")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if line.startswith("#") or not line.strip():
                continue
            if line[0] != " ":
                found.append(Fault(line, path.name, number))
            else:
                found[-1].add(line.strip())
    names = [fault.name for fault in found]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"two faults of one name: {', '.join(sorted(twice))}")
    return found
