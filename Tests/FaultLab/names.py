"""Name servers of the lab: the root's, the provider's (which knows the names), and the router's, which forwards to it.

Each of them can be told a mode, which is how it misbehaves; see MODES.
"""
import ipaddress
import itertools
import socket
import struct
import threading
import time

from network import ROOTS, WORDS

ZONE = {
    "site.example": ["203.0.113.10", "2001:db8:2::10"],
    "four.example": ["203.0.113.10"],
    "six.example": ["2001:db8:2::10"],
    "proxy.example": ["198.51.100.8", "2001:db8:5::8"],
    "login.example": ["192.0.2.1", "2001:db8:1::1"],
    **{f"{letter}.root-servers.net": list(pair) for letter, pair in ROOTS.items()},
}
A, NS, CNAME, SOA, AAAA = 1, 2, 5, 6, 28

# How a name server misbehaves. "every=N" does it to every N-th question only, counted from the first.
MODES = {
    "honest", "silent", "refused", "servfail", "formerr", "notimp", "empty", "nxdomain", "lying", "slow", "truncated",
    "mute-tcp", "no-aaaa", "wrong-id", "wrong-question", "wrong-owner", "no-question", "elsewhere", "garbage", "short",
    "loop", "zero", "root-silent", "aaaa-servfail", "not-a-reply", "dns64", "cname", "six-second", "rootless",
    "notauth", "referral",
}


def encode(name):
    return b"".join(bytes([len(part)]) + part.encode() for part in name.split(".") if part) + b"\0"


def question(packet):
    """The name and type that are asked for, and where the question ends."""
    labels, offset = [], 12
    while packet[offset]:
        length = packet[offset]
        labels.append(packet[offset + 1:offset + 1 + length].decode("ascii", "replace"))
        offset += 1 + length
    return ".".join(labels).lower(), struct.unpack("!H", packet[offset + 1:offset + 3])[0], offset + 5


def record(owner, kind, ttl, data):
    return owner + struct.pack("!HHIH", kind, 1, ttl, len(data)) + data


def message(packet, code, answers=(), authority=(), additional=(), flags=0x8180):
    _, _, end = question(packet)
    head = packet[:2] + struct.pack("!HHHHH", flags | code, 1, len(answers), len(authority), len(additional))
    return head + packet[12:end] + b"".join([*answers, *authority, *additional])


def of_kind(addresses, kind):
    wanted = {A: 4, AAAA: 6}.get(kind)
    found = [ipaddress.ip_address(a) for a in addresses]
    return [a for a in found if a.version == wanted]


def records(addresses, kind, owner=b"\xc0\x0c"):
    return [record(owner, kind, 60, a.packed) for a in of_kind(addresses, kind)]


def root_answer(packet):
    """RFC 9609: the priming answer is authoritative, with whole TTLs, and recursion is not available."""
    name, kind, _ = question(packet)
    flags = 0x8400 | (packet[2] & 1) << 8
    servers = [record(b"\0", NS, 518400, encode(f"{letter}.root-servers.net")) for letter in ROOTS]
    if name == "" and kind == NS:
        glue = [record(encode(f"{letter}.root-servers.net"), A, 518400, ipaddress.ip_address(pair[0]).packed)
                for letter, pair in ROOTS.items()]
        return message(packet, 0, servers, additional=glue[:6], flags=flags)
    soa = record(b"\0", SOA, 86400, encode("a.root-servers.net") + encode("nstld.example")
                 + struct.pack("!IIIII", 1, 1800, 900, 604800, 86400))
    known = name == "" or name.endswith("example")
    return message(packet, 0 if known else 3, authority=[soa], flags=flags)


class NameServer:
    def __init__(self, network, machine, addresses, mode="honest", upstream=None, port=53):
        self.network, self.machine, self.addresses = network, machine, addresses
        self.upstream, self.port = upstream, port
        self.zone = {name: list(found) for name, found in ZONE.items()}
        self.cache = {}
        self.counter = itertools.count(1)
        self.set_mode(mode)

    def set_mode(self, mode):
        self.mode, _, rest = mode.partition(",")
        self.every = 1
        if rest:
            self.every = int(rest.removeprefix("every="))
        self.mode, _, self.value = self.mode.partition("=")
        if self.mode not in MODES:
            raise ValueError(f"no such mode of a name server: {self.mode}")

    def start(self):
        for address in self.addresses:
            family = socket.AF_INET6 if ":" in address else socket.AF_INET
            datagrams = self.network.socket(self.machine, family, socket.SOCK_DGRAM)
            datagrams.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            datagrams.bind((address, self.port))
            self.network.start(self.machine, self.serve_datagrams, datagrams)
            stream = self.network.socket(self.machine, family, socket.SOCK_STREAM)
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            stream.bind((address, self.port))
            stream.listen(16)
            self.network.start(self.machine, self.serve_streams, stream)

    def serve_datagrams(self, server):
        while True:
            packet, client = server.recvfrom(4096)
            threading.Thread(target=self.answer_datagram, args=(server, packet, client), daemon=True).start()

    def answer_datagram(self, server, packet, client):
        self.network.enter(self.machine)
        reply = self.reply(packet, False)
        if reply is None:
            return
        try:
            if self.mode == "elsewhere":
                server = socket.socket(server.family, socket.SOCK_DGRAM)
            server.sendto(reply, client)
        except OSError:
            pass  # The way back is part of a fault.

    def serve_streams(self, server):
        while True:
            client, _ = server.accept()
            threading.Thread(target=self.converse, args=(client,), daemon=True).start()

    def converse(self, client):
        self.network.enter(self.machine)
        try:
            stream = client.makefile("rwb")
            while len(head := stream.read(2)) == 2:
                reply = self.reply(stream.read(struct.unpack("!H", head)[0]), True)
                if reply is not None:
                    stream.write(struct.pack("!H", len(reply)) + reply)
                    stream.flush()
        except OSError:
            pass  # The client went away.

    def reply(self, packet, by_stream):
        name, kind, _ = question(packet)
        misbehaves = next(self.counter) % self.every == 0
        mode = self.mode if misbehaves else "honest"
        codes = {"formerr": 1, "servfail": 2, "nxdomain": 3, "notimp": 4, "refused": 5, "notauth": 9}
        if mode == "silent" or mode == "no-aaaa" and kind == AAAA or mode == "root-silent" and name == "":
            return None
        if mode == "mute-tcp" and by_stream:
            return None
        if mode in codes:
            return message(packet, codes[mode])
        if mode == "aaaa-servfail" and kind == AAAA:
            return message(packet, 2)
        if mode == "garbage":
            return bytes(range(7, 67))
        if mode == "slow" or mode == "no-aaaa" and self.value:
            time.sleep(float(self.value))
        if mode in ("truncated", "mute-tcp") and not by_stream:
            # TC: the answer comes over TCP alone (RFC 1035, 4.2.1).
            return packet[:2] + b"\x83\x80" + packet[4:6] + bytes(6) + packet[12:]
        good = self.honest(packet, name, kind)
        return self.bend(mode, packet, name, kind, good)

    def bend(self, mode, packet, name, kind, good):
        if mode == "empty" or mode == "rootless" and name == "":
            return message(packet, 0)
        if mode == "referral":
            return message(packet, 0, authority=[record(encode("example"), NS, 60, encode("ns.example"))], flags=0x8100)
        if mode == "lying":
            return message(packet, 0, records(self.value.split("+"), kind))
        if mode == "zero":
            return message(packet, 0, records(["0.0.0.0", "::"], kind)) if name in self.zone else good
        if mode == "loop":
            return message(packet, 0, [record(b"\xc0\x0c", CNAME, 60, b"\xc0\x0c")])
        if mode == "cname" and name in self.zone:
            target = encode("www." + name)
            return message(packet, 0, [record(b"\xc0\x0c", CNAME, 60, target)]
                           + records(self.zone[name], kind, target))
        if good is None:
            return None
        if mode == "wrong-id":
            return bytes([good[0] ^ 0x55, good[1] ^ 0x55]) + good[2:]
        if mode == "wrong-question":
            other = packet[:12] + encode("other.invalid") + struct.pack("!HH", kind, 1)
            return message(other, 0, records(self.zone["site.example"], kind))
        if mode == "wrong-owner":
            return message(packet, 0, records(self.zone["site.example"], kind, encode("other.example")))
        if mode == "no-question":
            return good[:4] + bytes(8)
        if mode == "not-a-reply":
            return packet
        if mode == "short":
            return good[:-3]
        if mode == "dns64" and kind == AAAA and name in self.zone and not of_kind(self.zone[name], AAAA):
            mapped = ["64:ff9b::" + a for a in self.zone[name]]
            return message(packet, 0, records(mapped, kind))
        return good

    def honest(self, packet, name, kind):
        """From the cache, else from the name server that this one forwards to; without one, from the zone itself."""
        if self.upstream is None:
            known = name in self.zone or name == ""
            answers = records(self.zone.get(name, []), kind)
            if name == "" and kind == NS:
                answers = [record(b"\0", NS, 3600, encode(f"{letter}.root-servers.net")) for letter in ROOTS]
            return message(packet, 0 if known else 3, answers)
        cached = self.cache.get((name, kind))
        if cached is None:
            cached = self.forward(packet)
            if cached is None:
                return message(packet, 2)
            if cached[3] & 15 in (0, 3):
                self.cache[name, kind] = cached
        return packet[:2] + cached[2:]

    def forward(self, packet):
        family = socket.AF_INET6 if ":" in self.upstream else socket.AF_INET
        asking = self.network.socket(self.machine, family, socket.SOCK_DGRAM)
        self.network.enter(self.machine)
        with asking:
            # Two tries, two seconds in all: what dnsmasq and the C library's clients live with.
            for _ in range(2):
                try:
                    asking.settimeout(1)
                    asking.sendto(packet, (self.upstream, 53))
                    return asking.recv(4096)
                except OSError:
                    continue
        return None


class RootServer(NameServer):
    def honest(self, packet, name, kind):
        return root_answer(packet)


def start_all(network, forwarder_mode="honest"):
    provider = NameServer(network, "net", [WORDS[4]["ns"], WORDS[6]["ns"]])
    root = RootServer(network, "net", [a for pair in ROOTS.values() for a in pair])
    router = NameServer(
        network, "router", [WORDS[f]["gw"] for f in network.families], forwarder_mode, upstream=WORDS[4]["ns"])
    for server in [provider, root, router]:
        server.start()
    return {"provider": provider, "root": root, "router": router}
