"""The network in which a fault is played: machines in a row, each a network namespace of its own.

  here eth0 ── near router wan ── cust isp core ── eth0 net      name servers, the root's among them, and proxies
                                      isp edge ── eth0 site     site.example

One process runs all of it: a thread of each server lives in its machine's namespace (setns(2) is per thread). It is
made for Tests/FaultLab/play.py, which runs inside `unshare --net --mount --pid`; nothing of it is on the machine
outside.
"""
import ctypes
import fcntl
import os
import pathlib
import socket
import struct
import subprocess
import threading
import time

CLONE_NEWNET = 0x40000000
# The port of this machine from which another program asks: no question of the one that is judged.
OTHERS = 5999
LIBC = ctypes.CDLL(None, use_errno=True)

# The root servers at their real addresses (https://www.iana.org/domains/root/servers).
ROOTS = {
    "a": ("198.41.0.4", "2001:503:ba3e::2:30"), "b": ("170.247.170.2", "2801:1b8:10::b"),
    "c": ("192.33.4.12", "2001:500:2::c"), "d": ("199.7.91.13", "2001:500:2d::d"),
    "e": ("192.203.230.10", "2001:500:a8::e"), "f": ("192.5.5.241", "2001:500:2f::f"),
    "g": ("192.112.36.4", "2001:500:12::d0d"), "h": ("198.97.190.53", "2001:500:1::53"),
    "i": ("192.36.148.17", "2001:7fe::53"), "j": ("192.58.128.30", "2001:503:c27::2:30"),
    "k": ("193.0.14.129", "2001:7fd::1"), "l": ("199.7.83.42", "2001:500:9f::42"),
    "m": ("202.12.27.33", "2001:dc3::35"),
}

# What a step of a fault may name; a step that names one is done once for each family of the network.
WORDS = {
    4: {"f": "-4", "ip": "ip", "nf": "ipv4", "gw": "192.0.2.1", "me": "192.0.2.2", "len": "24", "lan": "192.0.2.0/24",
        "site": "203.0.113.10", "two": "203.0.113.11", "sites": "203.0.113.0/24", "edge": "203.0.113.1",
        "absent": "203.0.113.77", "nobody": "192.0.2.99", "far": "198.19.0.1", "farnet": "198.19.0.0/24",
        "ns": "198.51.100.53", "proxy": "198.51.100.8", "isp": "198.18.0.1", "wan": "198.18.0.2",
        "all": "0.0.0.0/0", "icmp": "icmp", "w_me": "192.0.3.2", "w_gw": "192.0.3.1", "zero": "0.0.0.0",
        "blackhole": "192.0.0.66"},
    6: {"f": "-6", "ip": "ip6", "nf": "ipv6", "gw": "2001:db8:1::1", "me": "2001:db8:1::2", "len": "64",
        "lan": "2001:db8:1::/64", "site": "2001:db8:2::10", "two": "2001:db8:2::11", "sites": "2001:db8:2::/64",
        "edge": "2001:db8:2::1", "absent": "2001:db8:2::77", "nobody": "2001:db8:1::99", "far": "2001:db8:9::1",
        "farnet": "2001:db8:9::/64", "ns": "2001:db8:5::53", "proxy": "2001:db8:5::8", "isp": "2001:db8:f::1",
        "wan": "2001:db8:f::2", "all": "::/0", "icmp": "icmpv6", "w_me": "2001:db8:3::2", "w_gw": "2001:db8:3::1",
        "zero": "::", "blackhole": "2001:db8:66::1"},
}


def check(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


class Network:
    def __init__(self, families, wires=()):
        self.families = families
        self.machines = {}
        self.stopping = threading.Event()
        self.processes = []
        self.failures = []
        self.counted = 0
        self.machines["here"] = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        for name in ["router", "isp", "net", "site"]:
            self.add_machine(name)
        for name in self.machines:
            self.prepare(name)
        self.join("here", "eth0", "router", "near", "here" in wires)
        self.join("router", "wan", "isp", "cust", "wan" in wires)
        self.join("isp", "core", "net", "eth0")
        self.join("isp", "edge", "site", "eth0")
        self.address()

    def add_machine(self, name):
        check(LIBC.unshare(CLONE_NEWNET))
        self.machines[name] = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        self.enter("here")

    def enter(self, name):
        check(LIBC.setns(self.machines[name], CLONE_NEWNET))

    def prepare(self, name):
        self.enter(name)
        for path, value in [
            ("ipv4/icmp_ratelimit", 0), ("ipv4/icmp_msgs_per_sec", 100000), ("ipv6/icmp/ratelimit", 0),
            # Duplicate addresses are looked for only where a fault is about that.
            ("ipv6/conf/all/accept_dad", 0), ("ipv6/conf/default/accept_dad", 0),
        ] + ([("ipv4/ip_forward", 1), ("ipv6/conf/all/forwarding", 1)] if name in ("router", "isp") else []):
            try:
                pathlib.Path("/proc/sys/net", path).write_text(str(value))
            except FileNotFoundError:
                # An older kernel limits messages for all namespaces together (ip-sysctl).
                pass
        self.enter("here")

    def join(self, left, left_link, right, right_link, with_wire=False):
        """A cable; with a wire, each end of it leads to that, which can be slow."""
        path = f"/proc/{os.getpid()}/fd/{self.machines[right]}"
        if not with_wire:
            self.run(left, ["ip", "link", "add", left_link, "type", "veth", "peer", "name", right_link, "netns", path])
            return
        if "wire" not in self.machines:
            self.add_machine("wire")
        wire = f"/proc/{os.getpid()}/fd/{self.machines['wire']}"
        for machine, link in [(left, left_link), (right, right_link)]:
            self.run(machine, ["ip", "link", "add", link, "type", "veth", "peer", "name", f"w.{link}", "netns", wire])
            self.run("wire", ["ip", "link", "set", f"w.{link}", "up"])

    def address(self):
        """Addresses and routes of all machines. The families are those of this machine's link; behind it are both."""
        lan = [WORDS[f] for f in self.families]
        both = [WORDS[4], WORDS[6]]

        def lines(up, addresses, routes):
            return ([f"link set {link} up" for link in ["lo"] + up]
                    + [f"address add {a} dev {link}" + (" nodad" if ":" in a else "") for link, a in addresses]
                    + [f"route add {r}" for r in routes])

        roots = [a for pair in ROOTS.values() for a in pair]
        batches = {
            "router": lines(["near", "wan"], [("near", f"{w['gw']}/{w['len']}") for w in lan]
                            + [("wan", "198.18.0.2/30"), ("wan", "2001:db8:f::2/64")],
                            [f"{w['all']} via {w['isp']}" for w in both]),
            "isp": lines(["cust", "core", "edge"],
                         [("cust", "198.18.0.1/30"), ("cust", "2001:db8:f::1/64"), ("core", "198.51.100.1/24"),
                          ("core", "2001:db8:5::1/64"), ("edge", "203.0.113.1/24"), ("edge", "2001:db8:2::1/64")],
                         [f"{w['lan']} via {w['wan']}" for w in lan]
                         + [f"{a} via {WORDS[6 if ':' in a else 4]['ns']}" for a in roots]),
            "net": lines(["eth0"], [("eth0", "198.51.100.53/24"), ("eth0", "2001:db8:5::53/64"),
                                    ("eth0", "198.51.100.8/24"), ("eth0", "2001:db8:5::8/64")]
                         + [("lo", a + ("/128" if ":" in a else "/32")) for a in roots],
                         ["0.0.0.0/0 via 198.51.100.1", "::/0 via 2001:db8:5::1"]),
            "site": lines(["eth0"], [("eth0", a) for a in ["203.0.113.10/24", "203.0.113.11/24",
                                                           "2001:db8:2::10/64", "2001:db8:2::11/64"]],
                          ["0.0.0.0/0 via 203.0.113.1", "::/0 via 2001:db8:2::1"]),
            "here": lines(["eth0"], [("eth0", f"{w['me']}/{w['len']}") for w in lan],
                          [f"{w['all']} via {w['gw']} dev eth0" for w in lan]),
        }
        # A wire has no packets of several segments.
        batches["site"].append("link set eth0 gso_max_segs 1")
        for machine, batch in batches.items():
            self.run(machine, ["ip", "-batch", "-"], "\n".join(batch))

    # MARK: What is done on a machine

    def run(self, machine, command, text=None, **options):
        """Runs a program on a machine, and fails if it does."""
        done = self.try_run(machine, command, text, **options)
        if done.returncode != 0:
            shown = command if isinstance(command, str) else " ".join(command)
            raise RuntimeError(f"{machine}: {shown}: {done.stdout}{done.stderr}")
        return done.stdout

    def try_run(self, machine, command, text=None, **options):
        self.enter(machine)
        try:
            return subprocess.run(
                command, shell=isinstance(command, str), input=text or "", capture_output=True, text=True, **options)
        finally:
            self.enter("here")

    def start(self, machine, function, *arguments):
        """Runs a function on a machine, on a thread of its own, which ends with the process."""
        def body():
            self.enter(machine)
            try:
                function(*arguments)
            except Exception as error:  # A server that died would be a fault that nobody labelled.
                if not self.stopping.is_set():
                    self.failures.append(f"{machine}: {function.__name__}: {error!r}")
        threading.Thread(target=body, daemon=True).start()

    def socket(self, machine, *arguments):
        self.enter(machine)
        try:
            return socket.socket(*arguments)
        finally:
            self.enter("here")

    def until(self, condition, words, limit=60):
        end = time.monotonic() + limit
        while not condition():
            if time.monotonic() > end:
                raise RuntimeError(f"not within {limit} s: {words}")
            time.sleep(0.02)

    def filter(self, machine, hook, rule, counts=False):
        """A rule of nftables; one that counts what it meets is asked later whether it met anything."""
        table = f"f{hook}"
        family = "arp" if hook.startswith("arp-") else "inet"
        hook = hook.removeprefix("arp-")
        kind, priority = ("nat", -100) if hook in ("dstnat", "srcnat") else ("filter", 0)
        place = {"dstnat": "prerouting", "srcnat": "postrouting"}.get(hook, hook)
        self.counted += counts
        words = rule.split()
        # The counter stands before the verdict, behind all matches.
        verdicts = {"drop", "reject", "accept", "redirect", "dnat", "snat", "masquerade"}
        at = next((i for i, word in enumerate(words) if word in verdicts), len(words))
        rule = " ".join(words[:at] + ["counter"] * counts + words[at:])
        self.run(machine, ["nft", "-f", "-"], f"""
            add table {family} {table}
            add chain {family} {table} c {{ type {kind} hook {place} priority {priority}; policy accept; }}
            add rule {family} {table} c {rule}
        """)

    def met(self):
        """How many packets the rules met that count, all together."""
        rules = "\n".join(self.run(machine, ["nft", "list", "ruleset"]) for machine in self.machines)
        return sum(int(line.split("counter packets")[1].split()[0]) for line in rules.splitlines() if "counter" in line)


class Capture:
    """All frames that leave this machine or come in, since it was made; the socket keeps them, with their time."""

    def __init__(self, network):
        self.socket = network.socket("here", socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self.socket.setsockopt(socket.SOL_SOCKET, 33, 16 << 20)  # SO_RCVBUFFORCE
        self.socket.setsockopt(socket.SOL_SOCKET, 35, 1)  # SO_TIMESTAMPNS
        self.socket.setblocking(False)

    def frames(self):
        found = []
        while True:
            try:
                frame, notes, _, (link, _, direction, *_) = self.socket.recvmsg(65536, 64)
            except BlockingIOError:
                return found
            if link != "lo":
                seconds, nanoseconds = struct.unpack("qq", notes[0][2])
                found.append((seconds + nanoseconds / 1e9, direction == socket.PACKET_OUTGOING, frame))


def carry(sockets, delay, jitter, lose):
    """A wire between two links: each frame arrives later, and every lose-th one never. The order stays."""
    import heapq
    import random
    import select
    chance = random.Random(7)
    waiting, number, last = [], 0, {}
    while True:
        pause = max(0, waiting[0][0] - time.monotonic()) if waiting else None
        for source in select.select(sockets, [], [], pause)[0]:
            frame, address = source.recvfrom(1 << 17)
            number += 1
            if address[2] == socket.PACKET_OUTGOING or lose and number % lose == 0:
                continue
            other = sockets[1 - sockets.index(source)]
            due = max(time.monotonic() + delay + chance.random() * jitter, last.get(other, 0))
            last[other] = due
            heapq.heappush(waiting, (due, number, other, frame))
        while waiting and waiting[0][0] <= time.monotonic():
            _, _, other, frame = heapq.heappop(waiting)
            try:
                other.send(frame)
            except OSError:
                pass  # The link is down.


def wire(network, left, right, delay=0.0, jitter=0.0, lose=0):
    sockets = []
    for link in [left, right]:
        one = network.socket("wire", socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        # With the kernel's header (packet(7): PACKET_VNET_HDR, 15), so that check sums and large segments survive.
        one.setsockopt(263, 15, 1)
        one.bind((f"w.{link}", 3))
        sockets.append(one)
    network.start("wire", carry, sockets, delay, jitter, lose)


def tunnel_device(network, machine, name):
    """A tun device, and its descriptor (Documentation/networking/tuntap.rst)."""
    network.enter(machine)
    try:
        device = os.open("/dev/net/tun", os.O_RDWR)
        fcntl.ioctl(device, 0x400454ca, struct.pack("16sH22x", name.encode(), 0x1001))
    finally:
        network.enter("here")
    return device
