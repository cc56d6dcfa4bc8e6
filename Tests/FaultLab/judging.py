"""What of an answer is right, and the tables that are made of many. Nothing here knows how the answers came about."""
import re

LIMIT, HEALTHY_LIMIT, QUESTIONS = 10.0, 3.0, 40
# The command may take this much longer than its time-out: a process begins and ends, and many do at a time.
GRACE = 1.5
# What a stranger on the way can say as well as the one who is meant: a reset, an ICMP error, an answer of DNS, or
# nothing at all; and that a clock is wrong. None of it can be certain.
HEARSAY = {
    "refused", "prohibited", "silent", "router-no-route", "uplink-down", "routing-loop", "host-absent", "address-dead",
    "denied", "unreliable", "name-server-silent", "name-server-refuses", "name-unknown", "name-hijacked",
    "captive-portal", "path-mtu", "gateway-silent", "proxy-refuses", "clock-wrong",
}
GRADES = ["right", "plausible", "unknown", "wrong", "fatal"]


def cause(run):
    """The cause that was named; "-" is nothing wrong, "unknown" that something may be."""
    return run["verdict"]["cause"] or {0: "-", 2: "unknown"}.get(run["status"], "?")


def grade(fault, run, judged):
    """right, plausible, unknown, wrong or fatal: wrong and certain, or "nothing is wrong" where the judge failed."""
    said, is_certain = cause(run), run["verdict"]["confidence"] == "certain"
    if fault.turns and said == "-":
        # Nothing is wrong only if all that it tried itself went well, as the capture saw it.
        return "fatal" if run["failed"] else "right"
    if said in fault.right:
        return "right"
    if said == "unknown":
        return "unknown"
    if said in fault.plausible or run["user"] and said in fault.as_user:
        # What fits and is not so can never have been proven.
        return "fatal" if is_certain and said != "-" else "plausible"
    if said == "-" and not all(works for works, _ in judged) or is_certain:
        return "fatal"
    return "wrong"


def is_too_sure(run):
    return run["verdict"]["confidence"] == "certain" and cause(run) in HEARSAY


def problem(fault, result):
    """Why a fault does not count: it could not be played, or the judge does not see what the table says."""
    if result.get("problem"):
        return result["problem"]
    if result["failures"]:
        return "; ".join(result["failures"])
    works = [w for w, _ in result["judged"]]
    said = result["judged"][-1][1]
    if fault.turns and len(set(works)) < 2:
        return f"it is not intermittent: the judge says {'it works' if works[0] else said} {len(works)} times"
    if not fault.turns and fault.works and not works[0]:
        return f"it does not work: {said}"
    if not fault.turns and not fault.works and works[0]:
        return f"the judge sees no fault: {said}"
    if result.get("met") == 0 and not fault.is_healthy:
        return "no packet met a rule that was made for this fault"
    return None


def excess(fault, run, ask):
    """Limits that an answer broke."""
    limit = HEALTHY_LIMIT if fault.is_healthy and not fault.slow else LIMIT
    asked = sum(run["asked"].values())
    found = []
    if "--timeout" not in ask and run["elapsed"] > limit + GRACE:
        found.append(f"{run['elapsed']:.1f} s")
    if asked > QUESTIONS:
        found.append(f"{asked} questions")
    return found


def by_confidence(graded):
    """The table of causes by confidence: rows of (confidence, numbers by grade)."""
    table = {}
    for _, _, run, found in graded:
        confidence = run["verdict"]["confidence"] if cause(run) != "-" else "nothing wrong"
        table.setdefault(confidence, dict.fromkeys(GRADES, 0))[found] += 1
    return table


def percent(values, part):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))] if ordered else 0


def escape(text):
    return re.sub(r"\s+", " ", text).replace("|", "\\|")


def peer_cell(text):
    """What a peer said in a line: the error or the loss if it names one, else its last words."""
    # Behind a route, ip route get says that it was cached.
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("    cache")]
    telling = [line for line in lines if re.match(r"\w+: |.* packet loss", line)]
    shown = (telling or [line for line in lines if not line.startswith("exit ")] or lines or ["nothing"])
    shown = shown[0 if telling else -1]
    shown = re.sub(r"\b[0-9.]+ ms\b", "… ms", escape(shown))
    return shown if len(shown) <= 60 else shown[:59] + "…"
