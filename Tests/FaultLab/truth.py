"""Outages that Benchmarks/outages plays, and whether the journal of `dialtone record` tells the truth about them.

What is right is what the page Outages promises, measured by what the lab did, what the kernel announced, and what a
judge of each target saw: never by the program that is judged.
"""
import datetime
import json
import statistics

from sites import context

# The recorder's --every, its limit for an answer, and how exact it is where the kernel tells.
EVERY, TIMEOUT, EXACT = 1.0, 5.0, 0.2
# How long a name's first lookup may take before a recorder that has just begun says that nothing is known.
LOOKUP = 1.0
NAMED = ["https://site.example/", "http://site.example/"]
# With a URL that has no name, a dead router can be told from a name server.
URLS = NAMED + ["http://203.0.113.11/"]
ROUTED = ["internet", "203.0.113.10:443"] + URLS
ALL = ROUTED + ["192.0.2.1:53"]
# How long an outage has to be so that it must be recorded, and how late its begin and its end may be.
BARS = {"told": (0.1, EXACT, EXACT), "refused": (EVERY + 0.5, EVERY + EXACT, EVERY + EXACT),
        "silent": (EVERY + 2 * TIMEOUT + 1, EVERY + EXACT, EVERY + TIMEOUT + EXACT)}
# How long it takes until one check has failed: a path that is lost later does not hide since when.
ONE_CHECK = {"told": 0, "refused": EVERY + 0.5, "silent": EVERY + TIMEOUT + 0.5}
SITE, ALLOW = "nft site input tcp dport { 80, 443 }", "site nft delete table inet finput"
DEFAULT = "here ip route replace default via $gw dev eth0"


def site(**changes):
    return lambda play: [setattr(play.sites["443"], name, value(play)) for name, value in changes.items()]


# Kind: where; the layers that are right, the broken one first; whose outages; how they show; what breaks, what mends.
# The uplink is the router's and the provider's. A silent site is blamed on the provider without --beyond (Outages.md).
KINDS = {
    "link switched off": ("here", ["machine"], ALL, "told", ["here ip link set eth0 down"],
                          ["here ip link set eth0 up", DEFAULT]),
    "carrier lost": ("here", ["link"], ALL, "told", ["router ip link set near down"], ["router ip link set near up"]),
    "address deleted": ("here", ["machine"], ALL, "told", ["here ip address delete $me/$len dev eth0"],
                        ["here ip address add $me/$len dev eth0", DEFAULT]),
    "route deleted": ("here", ["machine"], ROUTED, "told", ["here ip route delete default"], [DEFAULT]),
    "route unreachable": ("here", ["machine"], ROUTED, "told", ["here ip route replace unreachable default"],
                          ["here ip route delete unreachable default", DEFAULT]),
    "router dead": ("router", ["router"], URLS, "silent", [
        "router nft 'add table netdev t; add chain netdev t i "
        "{ type filter hook ingress device near priority 0; policy drop; }'"], ["router nft delete table netdev t"]),
    "uplink pulled": ("wan", ["provider", "router"], URLS, "silent", ["router ip link set wan down"],
                      ["router ip link set wan up", "router ip route replace default via $isp"]),
    "provider dead": ("isp", ["provider"], URLS, "silent", [
        "nft isp forward iifname cust drop", "nft isp input iifname cust meta l4proto { tcp, udp, icmp } drop"],
        ["isp nft 'delete table inet fforward; delete table inet finput'"]),
    "name server silent": ("dns", ["name-server"], NAMED, "silent", ["mode router silent"], ["mode router honest"]),
    "name server refuses": ("dns", ["name-server"], NAMED, "refused", ["mode router refused"], ["mode router honest"]),
    "site refuses": ("site", ["site"], URLS, "refused", [f"{SITE} reject with tcp reset"], [ALLOW]),
    "site silent": ("site", ["site", "provider"], URLS, "silent", [f"{SITE} drop"], [ALLOW]),
    # Any status is an answer.
    "site answers 500": ("site", [], [], "refused", [site(mode=lambda _: "500")], [site(mode=lambda _: "ok")]),
    "certificate expired": ("site", ["site"], NAMED[:1], "refused", [
        site(context=lambda play: context(play.certificates, "expired"))],
        [site(context=lambda play: context(play.certificates, "site"))]),
}
SHORT = ["link switched off", "carrier lost", "route deleted", "site refuses", "name server refuses"]


class Part:
    """What one act did to one target: the spans in which it must have begun and ended, and how exact the journal is."""
    def __init__(self, played, number, target):
        name, *spans = played["acts"][number]
        self.begin, self.end = map(tuple, spans)
        _, self.layers, targets, how, *_ = KINDS[name]
        self.number, self.name, (self.due, self.begin_bar, self.end_bar) = number, name, BARS[how]
        self.how, self.is_silent, self.is_told = how, how == "silent", how == "told"
        failing = {name: spans for name, spans in played["failing"].items() if name in targets}
        self.seen = any(a < self.begin[1] + 1.5 and b > self.end[0] - 0.5 for a, b in failing[target])
        if target in URLS:  # The network may need a moment after the act.
            working = max([b for spans in failing.values() for a, b in spans if a < self.end[0] + 0.1 < b], default=0)
            self.end = (self.end[0], max(self.end[1], working))
        if name == "carrier lost":  # The kernel may announce it up to a second later, and what is over by then never.
            told = [next((when for when, runs in played["carrier"] if first <= when < first + 2 and runs == up), 0)
                    for first, up in [(self.begin[0], False), (self.end[0], True)]]
            self.is_told = 0 < told[0] < self.end[0]
            self.due = self.due if self.is_told else float("inf")
            self.begin, self.end = [(first, max(last, heard))
                                    for (first, last), heard in zip([self.begin, self.end], told)]

    def pieces(self, gaps, others):
        """What of it the recorder could see, if that was long enough, and until when it has to have begun there."""
        start, end, found, blind = self.begin[1], self.end[0], [], [(a, b) for a, b, _ in gaps]
        if self.is_silent:  # What overlaps it fails as well.
            asked = [p for p in others if p.how != "told"]
            start, end = min(p.begin[1] for p in asked), max(p.end[0] for p in asked)
        elif self.how == "refused":  # Who gets no answer gets no refusal, nor does a check that began then.
            blind += [(p.begin[0], p.end[1] + TIMEOUT) for p in others if p.is_silent]
        for first, last in sorted(blind) + [(end, end)]:
            if start < first <= end:
                found.append((start, first))
            if start < last and first <= end:
                start = last
        pieces = []
        for a, b in found:
            lost = min((p.begin[1] for p in others if p.is_told and a < p.begin[1] < b), default=b)
            has_failed = lost - a >= ONE_CHECK[self.how]
            if b - a >= self.due or lost < b and has_failed and self.due < float("inf"):
                pieces.append(((a if has_failed else lost) + self.begin_bar, b))
        return pieces


class Truth:
    """A real outage of a target, by one act or several that overlap: from when to when may it be in the journal?"""
    def __init__(self, parts, gaps):
        pieces = [(a, b - EXACT) for p in parts for a, b in p.pieces(gaps, parts)]
        self.parts, self.due, self.cut = parts, bool(pieces), False
        begin, end = parts[0].begin, max(p.end[::-1] for p in parts)[::-1]
        is_short, bar = end[0] - begin[1] < 1, max(p.end_bar for p in parts)
        for first, again, verb in gaps:
            if first - 0.1 < begin[1] < again:
                begin = (begin[0], again)
            # Nor need it have seen the end before, or what is left of the outage if it is too short to be recorded.
            if first - bar < end[1] and end[0] < again + max(BARS[p.how][0] for p in parts):
                end, self.cut = (end[0], max(end[1], again)), self.cut or verb == "kill"
        self.span, late = (begin, end), end[1] + bar
        self.begin = (parts[0].begin[0] - EXACT, min([a for a, _ in pieces], default=late))
        self.end = (max([b for _, b in pieces], default=self.begin[0]), late)
        self.layers = [layer for p in parts for layer in p.layers]
        during = [f"recorder: {verb}" for a, b, verb in gaps if a < late and b > self.begin[0]]
        self.row = (during + ["several at a time"] * (len(parts) > 1) + ["below a second"] * is_short
                    + [parts[0].name])[0]


def truths(played, target):
    parts = sorted((Part(played, number, target) for number, (name, *_) in played["acts"].items()
                    if target in KINDS[name][2]), key=lambda p: p.begin[0])
    groups = []
    for part in parts:
        if groups and part.begin[0] <= max(p.end[1] for p in groups[-1]):
            groups[-1].append(part)
        else:
            groups.append([part])
    named = [(first, again + (LOOKUP if verb == "kill" else 0), verb) for first, again, verb in played["gaps"]]
    return [Truth(group, named if target in NAMED and all(part.how == "told" for part in group) else played["gaps"])
            for group in groups]


def off(when, span):
    return max(span[0] - when, when - span[1], 0)


def clock(when):
    return datetime.datetime.fromtimestamp(when, datetime.UTC).strftime("%H:%M:%S.%f")[:-3]


class Report:
    def __init__(self, played, records):
        self.rows, self.wrong, self.late, self.lateness = {}, [], 0, played["late"]
        for number, (name, *_) in played["acts"].items():
            if not KINDS[name][2]:
                self.row(name)["played"].add(number)
        for record in records:
            record["span"] = [datetime.datetime.fromisoformat(record[key] or "9999-01-01T00:00Z").timestamp()
                              for key in ("began", "ended")]
        for target in ALL:
            left = [record for record in records if record["target"] == target]
            for truth in truths(played, target):
                mine = [r for r in left if r["span"][0] <= truth.end[1] and r["span"][1] >= truth.begin[0]]
                left = [r for r in left if r not in mine]
                self.add(truth, target, mine)
            for record in left:
                seen = any(a < record["span"][1] and b > record["span"][0] for a, b in played["failing"][target])
                self.wrong.append(("invented, " + ("but the judge saw it, too" if seen else "nothing was wrong"),
                                   [record]))
        self.wrong += [(f"the lab is at fault: {words}", []) for words in played["failures"]]

    def row(self, name):
        return self.rows.setdefault(name, {"played": set(), "due": 0, "found": 0, "more": 0, "begin": [], "end": [],
                                           "layers": [], "strict": 0})

    def add(self, truth, target, records):
        row, parts = self.row(truth.row), truth.parts
        row["played"].add(tuple(p.number for p in parts))
        row["due"] += truth.due
        words = " + ".join(f"{p.name} {clock(p.begin[0])}–{clock(p.end[1])}" for p in parts) + f", {target}"
        if not all(p.seen for p in parts if p.end[0] - p.begin[1] > 1.5):
            self.wrong.append((f"the judge did not see it: {words}", records))
        if len(records) != 1:
            if truth.due or records:
                self.wrong.append((f"recorded {len(records)} times: {words}", records))
            return
        record, = records
        row["found" if truth.due else "more"] += 1
        edges = list(zip(["begin", "end"], record["span"], truth.span, [truth.begin, truth.end]))
        # The last line of a recorder that was killed may be minutes old.
        for edge, when, span, allowed in edges[:1] if truth.cut and record["ending"] == "cut" else edges:
            row[edge].append(off(when, span))
            excess = off(when, allowed)
            slow = max([b - a for a, b in self.lateness if a - 1 < when < b + 1], default=0)
            self.late += 0 < excess <= slow
            if excess > slow:
                self.wrong.append((f"{edge} off by {off(when, span):.3f} s, {excess:.3f} s too much: {words}", records))
        # Without an explanation, silence is blamed on the provider.
        silent = ["provider"] if record["unexplained"] and any(p.is_silent for p in parts) else []
        right = record["layer"] in truth.layers + silent
        row["layers"].append(right)
        row["strict"] += record["layer"] in [p.layers[0] for p in parts]
        if not right:
            self.wrong.append((f"layer {record['layer']}, not {' or '.join(truth.layers)}: {words}", records))

    def show(self):
        """Prints all, and returns whether each bar holds."""
        def figures(values):
            return f"{statistics.median(values):6.3f} {max(values):6.3f}" if values else f"{'':13}"
        print(f"{'':56}   begin off, s     end off, s    layer\n"
              f"{'outage':28}{'played':>7}{'due':>9}{'recorded':>12}   median    max   median    max    right")
        for name in [*KINDS, "below a second", "several at a time", "recorder: kill", "recorder: stop"]:
            row = self.row(name)
            more = f" +{row['more']}" if row["more"] else ""
            print(f"{name:28}{len(row['played']):7}{row['due']:9}{str(row['found']) + more:>12}   "
                  f"{figures(row['begin'])}   {figures(row['end'])}   {sum(row['layers']):3}/{len(row['layers'])}")
        for words, records in self.wrong:
            print(f"\n✗ {words}")
            for record in records:
                print("  " + json.dumps({k: v for k, v in record.items() if k not in ("steps", "advice", "span")}))
        layers = [right for row in self.rows.values() for right in row["layers"]]
        shares = [100 * count / max(1, len(layers)) for count in
                  (sum(layers), sum(row["strict"] for row in self.rows.values()))]
        broken = [words for words, _ in self.wrong if not words.startswith("layer")]
        passed = not broken and shares[0] >= 95
        due, found = [sum(row[key] for row in self.rows.values()) for key in ("due", "found")]
        print(f"\n{due} outages of targets had to be recorded, {found} were once; {len(broken)} missed, twice, "
              f"invented or too far off; {self.late} late as the judges\nthe layer is right in {shares[0]:.1f} %, "
              f"in {shares[1]:.1f} % if silence does not count as the provider's; {'passed' if passed else 'FAILED'}")
        return passed
