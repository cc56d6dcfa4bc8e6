"""Grades many answers, and makes the tables of them."""
import judging


class Report:
    def __init__(self, steps):
        self.graded, self.problems, self.steps = [], [], steps
        # How many answers were over a limit, and certain of what a stranger could have said.
        self.excesses = self.sure = 0

    def add(self, fault, family, result):
        label = f"{fault.name} IPv{family}" if family != "46" else f"{fault.name} both"
        found = judging.problem(fault, result)
        for run in result.get("runs", []):
            found = found or run.get("problem")
        if found:
            self.problems.append((label, found))
            print(f"UNPLAYED   {label}: {found}", flush=True)
            return
        for run in result["runs"]:
            grade = judging.grade(fault, run, result["judged"])
            self.graded.append((fault, family, run, grade))
            verdict = run["verdict"]
            shown = (f"{grade:9}  {label + (' user' if run['user'] else ''):34} {judging.cause(run):20} "
                     f"{verdict['confidence']:8} {run['elapsed']:5.1f} s {sum(run['asked'].values()):3}  "
                     f"{verdict['summary']}")
            print(shown, flush=True)
            broken = judging.excess(fault, run, fault.ask)
            if judging.is_too_sure(run) and not fault.own:
                self.sure += 1
                print("           certain of what a stranger could have said", flush=True)
            if broken:
                self.excesses += 1
                print(f"           too much: {', '.join(broken)} {run['asked']}", flush=True)
            if grade in ("wrong", "fatal") or self.steps:
                for line in explanation(fault, verdict, result["judged"]):
                    print(f"           {line}", flush=True)

    def numbers(self):
        """The tables: causes by confidence, time and questions."""
        faults = [g for g in self.graded if not g[0].is_healthy]
        healthy = [g for g in self.graded if g[0].is_healthy]
        lines = ["| said to be | " + " | ".join(judging.GRADES) + " |", "|---|" + "---|" * len(judging.GRADES)]
        for confidence, row in sorted(judging.by_confidence(faults).items()):
            lines.append(f"| {confidence} | " + " | ".join(str(row[g]) for g in judging.GRADES) + " |")
        lines += ["", "| | answers | right | seconds, median | slowest | questions, median | most |",
                  "|---|---|---|---|---|---|---|"]
        for words, group in [("faults", faults), ("healthy networks", healthy)]:
            if group:
                times = [run["elapsed"] for _, _, run, _ in group]
                asked = [sum(run["asked"].values()) for _, _, run, _ in group]
                right = sum(grade == "right" for *_, grade in group)
                lines.append(
                    f"| {words} | {len(group)} | {right} | {judging.percent(times, .5):.1f} | {max(times):.1f} | "
                    f"{judging.percent(asked, .5)} | {max(asked)} |")
        return lines

    def failed(self, limits=None):
        """Whether a goal is missed; with limits, whether more is wrong than these allow."""
        faults = [g for g in self.graded if not g[0].is_healthy]
        right = sum(grade == "right" for *_, grade in faults)
        found = {
            "not right, in 100": 100 - 100 * right / max(1, len(faults)),
            "fatal": sum(grade == "fatal" for *_, grade in faults),
            "false alarms": sum(g[0].is_healthy and g[3] != "right" for g in self.graded),
            "certain of what a stranger could have said": self.sure,
            "over a limit": self.excesses,
            "not played": len(self.problems),
        }
        goals = {"not right, in 100": 5}
        print(f"\n{len({g[0].name for g in faults})} faults, {len(faults)} answers; "
              f"{len({g[0].name for g in self.graded if g[0].is_healthy})} healthy networks")
        worse = False
        for name, count in found.items():
            goal = goals.get(name, 0)
            limit = goal if limits is None else limits[name]
            worse = worse or count > limit
            print(f"{name:44} {count:6.1f}, goal {goal}" + (f", limit {limit}" if limits else ""))
        return worse


def explanation(fault, verdict, judged):
    """What was played, and each step of the answer."""
    yield f"broken: {fault.where}, by {' // '.join(fault.how)}"
    yield f"right: {' '.join(fault.right)}; plausible: {' '.join(fault.plausible + fault.as_user) or '-'}"
    yield f"judge: {'; '.join(('works' if w else 'fails') + f' ({said})' for w, said in judged[:2])}"
    yield f"advice: {verdict['advice']}"
    for step in verdict["steps"]:
        yield f"{step['outcome']:8} {step['step']:9} {step['evidence'].get('family') or '':4} {step['text']}"


def rows(graded):
    lines = ["| what was broken | where | cause | sure | how it is said |", "|---|---|---|---|---|"]
    for fault, family, run, _ in graded:
        if not run["user"] and family == fault.families[0]:
            said = judging.cause(run)
            said = {"-": "nothing"}.get(said, f"`{said}`")
            lines.append(f"| {fault.words} | {fault.where} | {said} | {run['verdict']['confidence']} | "
                         f"{judging.escape(run['verdict']['summary'])} |")
    seen = set()
    return [line for line in lines if not (line in seen or seen.add(line))]


def exceeds(fault, result):
    return any("verdict" in run and judging.excess(fault, run, fault.ask) for run in result.get("runs", []))


def is_unplayed(fault, result):
    return judging.problem(fault, result) is not None or any("problem" in run for run in result.get("runs", []))


def comparison(peers):
    names = sorted({peer for _, result in peers for peer in result.get("peers", {})})
    lines = ["| what was broken | `dialtone explain` | " + " | ".join(f"`{n}`" for n in names) + " |",
             "|---|---|" + "---|" * len(names)]
    for fault, result in peers:
        if result.get("runs"):
            said = judging.cause(result["runs"][0])
            cells = [judging.peer_cell(result["peers"].get(name, "")) for name in names]
            lines.append(f"| {fault.words} | {'nothing' if said == '-' else f'`{said}`'} | " + " | ".join(cells) + " |")
    return lines
