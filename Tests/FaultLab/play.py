#!/usr/bin/env python3
"""Plays one fault in a network of its own: breaks it, lets a judge see that it is broken, and asks what is wrong.

  play.py CASE.json        inside `unshare --net --mount --pid`; Scripts/faults starts it, and reads its output: JSON

First the network is made and broken. Then the judge, another program that has nothing to do with Dialtone, says whether
what was asked for works. Only then is `dialtone explain` asked, with and without privileges, while a capture runs.
"""
import json
import os
import pathlib
import re
import shlex
import shutil
import socket
import struct
import subprocess
import sys
import time

import acts
import names
from network import OTHERS, ROOTS, WORDS, Capture, Network
from sites import MARK, Proxy, Site, context

SETTINGS = {"dns", "provider", "root", "zone", "serve", "wire", "proxy", "env", "resolv", "hosts", "nsswitch", "clock"}


class Play:
    def __init__(self, case):
        self.case = case
        self.certificates = case["certificates"]
        self.folder = pathlib.Path.cwd()
        self.kept = []
        self.environment = dict(os.environ, LC_ALL="C", SWIFT_BACKTRACE="enable=no",
                                SSL_CERT_FILE=f"{self.certificates}/authority.pem")
        for name in list(self.environment):
            if name.lower().endswith("_proxy"):
                del self.environment[name]
        word = WORDS[case["families"][0]]
        for key in ["ask", "judge"]:
            case[key] = re.sub(r"\$(\w+)", lambda m: f"[{word[m[1]]}]" if ":" in word[m[1]] else word[m[1]], case[key])
        self.steps = [step for line in case["how"] for step in self.expand(line)]

    def expand(self, line):
        """A step that names a word of a family is done once for each family of the network."""
        found = set(re.findall(r"\$(\w+)", line)) & set(WORDS[4])
        return [re.sub(r"\$(\w+)", lambda m: WORDS[f].get(m[1], m[0]), line)
                for f in (self.case["families"] if found else self.case["families"][:1])]

    def settings(self, name):
        return [step.split(None, 1)[1] if " " in step else "" for step in self.steps if step.split()[0] == name]

    # MARK: The network

    def make(self):
        files = {
            "hosts": ["127.0.0.1 localhost"] + self.settings("hosts"),
            "nsswitch.conf": self.settings("nsswitch") or ["hosts: files dns"],
            "resolv.conf": [line for text in self.settings("resolv") for line in text.split("; ")]
            or [f"nameserver {WORDS[f]['gw']}" for f in self.case["families"]],
        }
        subprocess.run(["mount", "--make-rprivate", "/"], check=True)
        for name, lines in files.items():
            (self.folder / name).write_text("".join(line + "\n" for line in lines))
            subprocess.run(["mount", "--bind", str(self.folder / name), f"/etc/{name}"], check=True)
        wires = [shlex.split(text) for text in self.settings("wire")]
        self.network = Network(self.case["families"], [words[0] for words in wires])
        for where, *numbers in wires:
            pairs = (number.split("=") for number in numbers)
            acts.slow(self, where, **{k: int(v) if k == "lose" else float(v) for k, v in pairs})
        self.serve()
        for text in self.settings("env"):
            name, _, value = text.partition("=")
            self.environment[name] = value
        for seconds in self.settings("clock"):
            self.environment.update(CLOCK_OFFSET=seconds, LD_PRELOAD=f"{self.certificates}/clock.so")
        self.await_links()

    def serve(self):
        self.servers = names.start_all(self.network)
        for text, server in [("dns", "router"), ("provider", "provider"), ("root", "root")]:
            for mode in self.settings(text):
                self.servers[server].set_mode(mode)
        for text in self.settings("zone"):
            for entry in text.split():
                name, known, addresses = entry.partition("=")
                self.servers["provider"].zone[name] = [a for a in addresses.split("+") if a]
                if not known:
                    del self.servers["provider"].zone[name]
        sites = {"80": ("ok", None), "443": ("ok", "site")}
        for text in self.settings("serve"):
            port, mode, *certificate = text.split()
            sites[port] = (mode, certificate[0] if certificate else None)
        self.sites = {}
        for port, (mode, certificate) in sites.items():
            port, _, address = port.partition("@")
            if mode != "none":
                made = context(self.certificates, certificate) if certificate else None
                self.sites[port] = Site(self.network, "site", int(port), mode, made, address or "::")
        for text in self.settings("proxy"):
            port, *mode = text.split()
            Proxy(self.network, "net", int(port), *mode)

    def await_links(self):
        """A link and its routes take a moment; behind this, the network works."""
        for family in self.case["families"]:
            name_server = WORDS[family]["ns"]
            self.network.until(lambda a=name_server: self.connects("router", a, 53), "no way to the provider")

    def connects(self, machine, address, port, limit=3.0):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        with self.network.socket(machine, family, socket.SOCK_STREAM) as one:
            one.settimeout(limit)
            return one.connect_ex((address, port)) == 0

    def break_it(self):
        for step in self.steps:
            verb, _, rest = step.partition(" ")
            if verb in SETTINGS:
                continue
            if verb in self.network.machines:
                self.network.run(verb, rest, env=self.environment)
            elif verb == "nft":
                machine, hook, rule = rest.split(None, 2)
                self.network.filter(machine, hook, rule, counts=True)
            elif verb == "until":
                machine, _, command = rest.partition(" ")
                self.network.until(lambda: self.network.try_run(machine, command).returncode == 0, rest)
            elif verb == "warm":
                self.curl(rest or "https://site.example/", [], 5)
            elif verb == "mode":
                server, mode = rest.split()
                self.servers[server].set_mode(mode)
            elif verb in acts.ACTS:
                acts.ACTS[verb](self, *shlex.split(rest))
            else:
                raise ValueError(f"no such step: {step}")

    # MARK: The judge

    def curl(self, url, options, limit):
        done = self.network.try_run(
            "here", ["curl", "-sS", "--cacert", self.environment["SSL_CERT_FILE"], "-m", str(limit), *options, url],
            env=self.environment)
        return done.returncode == 0 and MARK.decode() in done.stdout, done.stderr.strip() or done.stdout[:80]

    def judge(self):
        """Whether what was asked for works, and what the judge says."""
        words = shlex.split(self.case["judge"] or self.case["ask"])
        target, options, limit = words[0], [], 5
        rest = iter(words[1:])
        for option in rest:
            if option in ("-4", "-6"):
                options.append(option)
            elif option in ("--interface", "-i"):
                options += ["--interface", next(rest)]
            elif option in ("--timeout", "-t"):
                limit = max(limit, float(next(rest).rstrip("s")))
        if target == "internet":
            target = "https://site.example/"
        if "://" in target:
            return self.curl(target, options, limit)
        host, port = target, None
        if target.count(":") == 1 or target.startswith("["):
            host, _, port = target.rpartition(":")
        ports = [int(port)] if port else [443, 80]
        return self.plain(host.strip("[]"), ports, options)

    def plain(self, host, ports, options):
        """A plain socket to each address that the C library knows, one after the other."""
        family = "AF_INET" if "-4" in options else "AF_INET6" if "-6" in options else "AF_UNSPEC"
        script = f"""
import socket
error = None
for port in {ports}:
    for family, kind, protocol, _, address in socket.getaddrinfo({host!r}, port, socket.{family}, socket.SOCK_STREAM):
        try:
            one = socket.socket(family, kind, protocol)
            one.settimeout(3)
            one.connect(address)
            raise SystemExit(0)
        except OSError as failure:
            error = failure
raise error
"""
        done = self.network.try_run("here", [sys.executable, "-c", script], env=self.environment)
        return done.returncode == 0, (done.stderr.strip().splitlines() or ["it connects"])[-1]

    # MARK: The question

    def explain(self, as_user):
        words = shlex.split(self.case["ask"])
        command = [self.case["dialtone"], "explain", "--json", "--timeout", "10", *words[1:], words[0]]
        if as_user:
            # A user of a namespace within has no privileges over this one's network (user_namespaces(7)).
            command = ["unshare", "--user", "--map-user=1000", "--map-group=1000", "--"] + command
        capture = Capture(self.network)
        begin = time.monotonic()
        try:
            done = self.network.try_run("here", command, env=self.environment, timeout=60)
            status, output, errors = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired:
            status, output, errors = -1, "", "it did not end within 60 s"
        result = {"user": as_user, "status": status, "elapsed": time.monotonic() - begin}
        try:
            result["verdict"] = json.loads(output)
        except ValueError:
            result["problem"] = f"no JSON: status {status}: {output[:200]}{errors[-500:]}"
        result.update(questions(capture.frames()))
        return result

    def peers(self):
        words = shlex.split(self.case["ask"])
        host = words[0].split("://")[-1].split("/")[0]
        host = host if host != "internet" else "198.41.0.4"
        name = host.rpartition(":")[0] if host.count(":") == 1 else host.strip("[]")
        address = name if re.fullmatch(r"[0-9a-f.:]+", name) else WORDS[self.case["families"][0]]["site"]
        url = words[0] if "://" in words[0] else f"http://{host}/"
        peers = {
            "ip route get": ["ip", "route", "get", address], "getent": ["getent", "ahosts", name],
            "ping": ["ping", "-q", "-c", "1", "-W", "3", name], "mtr": ["mtr", "-n", "-r", "-c", "1", name],
            "traceroute": ["traceroute", "-n", "-q", "1", "-w", "1", "-m", "6", name],
            "curl": ["curl", "-sS", "-m", "6", "-o", "/dev/null", url], "netdoc": ["netdoc", host],
        }
        # All at the same time: each has a process of its own, in this machine's namespace.
        self.network.enter("here")
        running = {peer: subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, text=True,
                                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                   for peer, command in peers.items() if shutil.which(command[0])}
        said = {}
        for peer, process in running.items():
            try:
                said[peer] = process.communicate(timeout=20)[0].strip()
            except subprocess.TimeoutExpired:
                process.kill()
                said[peer] = "no answer in 20 s"
            if process.returncode:
                said[peer] += f"\nexit {process.returncode}"
        return said

    def result(self):
        self.make()
        self.break_it()
        if self.case.get("show"):
            return {"shown": self.show()}
        turns, judged, runs = self.case["turns"], [], []
        tries = 12 if turns else 1
        for _ in range(tries):
            judged.append(self.judge())
            if len({works for works, _ in judged}) == 2:
                break
        for number in range(3 if turns else 1):
            for as_user in self.case["users"]:
                runs.append(self.explain(as_user))
                if turns:
                    judged.append(self.judge())
        found = {"judged": judged, "runs": runs, "failures": self.network.failures}
        if self.network.counted:
            found["met"] = self.network.met()
        if self.case["peers"]:
            found["peers"] = self.peers()
        return found

    def show(self):
        """What the command prints, for the documentation."""
        text = ""
        for words in self.case["show"]:
            done = self.network.try_run(
                "here", f"exec {shlex.quote(self.case['dialtone'])} {words} 2>&1", env=self.environment, timeout=120)
            text += f"$ dialtone {words}\n{done.stdout}"
        return text


# MARK: The capture

# Who is asked beside the target: what becomes of that is no failure of what was asked for.
BESIDE = {socket.inet_pton(socket.AF_INET6 if ":" in a else socket.AF_INET, a)
          for pair in [*ROOTS.values(), ("198.51.100.254", "203.0.113.254"),
                       ("192.0.2.254", "3fff::fffe")] for a in pair}


def questions(frames):
    """What was asked of others, each once, and how many tries were seen to fail. Frames: (time, outgoing, bytes)."""
    asked, flows, queries, errors = {}, {}, {}, 0
    tunnels = (4789, 51820)
    end = frames[-1][0] if frames else 0
    for when, outgoing, frame in frames:
        kind, packet, body = struct.unpack("!H", frame[12:14])[0] if len(frame) > 13 else 0, frame[14:], b""
        if kind == 0x0806 and outgoing and packet[6:8] == b"\0\1" and len(packet) >= 28:
            asked["arp", packet[24:28]] = "arp"
        elif kind == 0x0800 and len(packet) >= 20:
            start = 4 * (packet[0] & 15)
            ends, protocol, body = (packet[12:16], packet[16:20]), packet[9], packet[start:]
        elif kind == 0x86dd and len(packet) >= 40:
            ends, protocol, body = (packet[8:24], packet[24:40]), packet[6], packet[40:]
        if len(body) < 8:
            continue
        ports = struct.unpack("!HH", body[:4])
        # What a tunnel carries was seen inside it.
        if protocol == 17 and (ports[1] in tunnels or OTHERS in ports):
            continue
        # Seen from here: our end, the other end.
        flow = (ends[0], ports[0], ends[1], ports[1]) if outgoing else (ends[1], ports[1], ends[0], ports[0])
        if protocol == 6 and len(body) >= 20:
            seen = flows.setdefault(flow, {"syn": 0, "answered": False, "reset": False, "sent": 0, "got": 0})
            data = len(body) - 4 * (body[12] >> 4)
            if outgoing and body[13] & 0x12 == 2:
                seen["syn"] += 1
                asked["syn", flow] = "syn"
            elif outgoing:
                seen["sent"] += data > 0
            else:
                seen["answered"] |= body[13] & 0x12 == 0x12
                seen["reset"] |= bool(body[13] & 4)
                seen["got"] += data > 0
        elif protocol == 17 and outgoing:
            asked["udp", flow, body[8:]] = "dns" if ports[1] == 53 else "datagram"
            # Nor is the question whether a name that cannot exist has an address.
            if ports[1] == 53 and ends[1] not in BESIDE and b"\7invalid\0" not in body:
                queries.setdefault(body[20:], when)
        elif protocol == 17 and ports[0] == 53 and len(body) >= 12 and body[11] & 15 in (0, 3):
            # The question comes back with the answer; who was asked first does not matter.
            for asked_once in [query for query in queries if query and body[20:].startswith(query)]:
                del queries[asked_once]
        elif protocol in (1, 58) and outgoing and body[0] in (8, 128):
            asked["echo", ends[1], body[4:8]] = "echo"
        elif protocol == 58 and outgoing and body[0] == 135 and ends[0] != bytes(16):
            asked["arp", body[8:24]] = "arp"
        elif not outgoing and (protocol == 1 and body[0] in (3, 11) or protocol == 58 and body[0] in (1, 2, 3)):
            # The packet that it is about follows: a connection, or a question to a name server.
            quoted = body[8 + 4 * (body[8] & 15):] if protocol == 1 else body[48:]
            about = body[17] if protocol == 1 else body[14]
            target = body[24:28] if protocol == 1 else body[32:48]
            errors += target not in BESIDE and (about == 6 or about == 17 and quoted[2:4] == b"\0\x35")

    def went_wrong(f):
        silent = f["syn"] > 1 and not f["answered"] or f["sent"] > 1 and not f["got"]
        cut = f["reset"] and not f["got"] and (f["sent"] > 0 or not f["answered"])
        return f["syn"] > 0 and (silent or cut)

    judged = [seen for flow, seen in flows.items() if flow[2] not in BESIDE]
    failed = errors + sum(map(went_wrong, judged)) + sum(end - when > 1 for when in queries.values())
    kinds = list(asked.values())
    return {"asked": {kind: kinds.count(kind) for kind in sorted(set(kinds))}, "failed": failed}


def main():
    case = json.loads(pathlib.Path(sys.argv[1]).read_text())
    os.chdir(pathlib.Path(sys.argv[1]).parent)
    play = Play(case)
    try:
        result = play.result()
    except (RuntimeError, ValueError, OSError, subprocess.SubprocessError) as error:
        result = {"problem": f"it could not be played: {type(error).__name__}: {error}"}
    sys.stdout.write(json.dumps(result))
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
