"""What a fault does to the network beyond a command or a rule: portals, tunnels, translators, strange neighbours."""
import os
import select
import socket
import struct
import subprocess
import threading
import time

from network import OTHERS, WORDS, tunnel_device, wire
from sites import Site, context


def portal(play, kind, https="reset"):
    """The router sends what this machine asks of any site to itself. Over https: reset, drop, certificate or pass.

    "after" is a portal at which somebody has logged in: its rules are there, and let this machine pass.
    """
    network = play.network
    mode = "portal" if kind == "after" else f"portal-{kind}" if kind != "302" else "portal"
    counts = kind != "after"
    Site(network, "router", 8080, mode)
    Site(network, "router", 8443, mode, context(play.certificates, "other"))
    for family in network.families:
        word = WORDS[family]
        guest = f"meta nfproto {word['nf']} iifname near"
        if kind == "after":
            network.filter("router", "dstnat", f"{word['ip']} saddr {word['me']} accept")
            network.filter("router", "forward", f"{word['ip']} saddr {word['me']} accept")
        network.filter("router", "dstnat", f"{guest} tcp dport 80 redirect to :8080", counts)
        if https == "certificate":
            network.filter("router", "dstnat", f"{guest} tcp dport 443 redirect to :8443", counts)
        elif https == "reset":
            network.filter("router", "forward", f"{guest} tcp dport 443 reject with tcp reset", counts)
        elif https == "drop":
            network.filter("router", "forward", f"{guest} tcp dport 443 drop", counts)


def place(play, machine, port, mode, certificate=None):
    """A site that stands where none should."""
    Site(play.network, machine, int(port), mode, context(play.certificates, certificate) if certificate else None)


def second_link(play):
    """A second link of this machine: w0 ── wide, at the router."""
    network = play.network
    network.join("here", "w0", "router", "wide")
    network.run("here", "ip link set w0 up")
    network.run("router", "ip link set wide up")
    for family in network.families:
        word = WORDS[family]
        nodad = " nodad" if family == 6 else ""
        network.run("here", f"ip address add {word['w_me']}/{word['len']} dev w0{nodad}")
        network.run("router", f"ip address add {word['w_gw']}/{word['len']} dev wide{nodad}")
        network.run("isp", f"ip route add {word['w_me']} via {word['wan']}")


def containers(play):
    """What fifty containers leave on a host: a bridge, and a link into each of them."""
    lines = ["link add name cni0 type bridge", "address add 10.88.0.1/16 dev cni0", "link set cni0 up"]
    for number in range(50):
        lines += [f"link add veth{number} type veth peer name c{number}", f"link set veth{number} master cni0",
                  f"link set veth{number} up", f"link set c{number} up"]
    play.network.run("here", ["ip", "-batch", "-"], "\n".join(lines))


def shovel(device, datagrams, peer):
    """Both ways between a tun device and the datagrams that carry its packets."""
    while True:
        for source in select.select([device, datagrams], [], [])[0]:
            try:
                if source is device:
                    datagrams.sendto(os.read(device, 65536), peer[0])
                else:
                    packet, peer[0] = datagrams.recvfrom(65536)
                    os.write(device, packet)
            except OSError:
                continue  # The way beneath is part of a fault.


def vpn(play, far="up"):
    """A tunnel with wg-quick's rules (wg-quick(8)): a table of its own, and a mark for what carries it.

    The kernel here may have no WireGuard, so a tun device and datagrams do what it does.
    """
    network = play.network
    for machine, address in [("here", "10.8.0.2"), ("net", "10.8.0.1")]:
        device = tunnel_device(network, machine, "wg0")
        network.run(machine, ["ip", "-batch", "-"], f"address add {address}/24 dev wg0\nlink set wg0 mtu 1420 up")
        datagrams = network.socket(machine, socket.AF_INET, socket.SOCK_DGRAM)
        datagrams.bind(("0.0.0.0", 51820))
        datagrams.setsockopt(socket.SOL_SOCKET, socket.SO_MARK, 51820)
        if machine == "here" or far == "up":
            network.start(machine, shovel, device, datagrams, [("198.51.100.53", 51820)])
        play.kept += [device, datagrams]
    network.run("net", "sysctl -qw net.ipv4.ip_forward=1")
    network.filter("net", "srcnat", "iifname wg0 oifname eth0 masquerade")
    network.run("here", ["ip", "-batch", "-"], """
        route add 0.0.0.0/0 dev wg0 table 51820
        rule add not fwmark 51820 table 51820
        rule add table main suppress_prefixlength 0
    """)
    network.run("here", "sysctl -qw net.ipv4.conf.all.src_valid_mark=1")


def nat64(play):
    """The router translates 64:ff9b::/96 (RFC 6052) for TCP, and for questions to name servers."""
    network = play.network
    network.run("router", "ip -6 route add local 64:ff9b::/96 dev lo")
    for port in [53, 80, 443]:
        server = network.socket("router", socket.AF_INET6, socket.SOCK_STREAM)
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.setsockopt(socket.SOL_IP, 19, 1)  # IP_TRANSPARENT
        server.bind(("64:ff9b::", port) if port == 53 else ("::", port))
        server.listen(64)
        network.start("router", translate, network, server)


def translate(network, server):
    from sites import relay
    while True:
        client, _ = server.accept()
        if client.family == socket.AF_INET6:
            address = client.getsockname()
            four = socket.inet_pton(socket.AF_INET6, address[0])[12:], address[1]
        else:  # SO_ORIGINAL_DST: where it went before the router took it.
            _, port, address = struct.unpack("!HH4s8x", client.getsockopt(socket.SOL_IP, 80, 16))
            four = address, port

        def both(client=client, address=four[0], port=four[1]):
            network.enter("router")
            try:
                relay(client, socket.create_connection((socket.inet_ntoa(address), port), 3))
            except OSError:
                pass  # One of both ends went away.
            finally:
                client.close()
        threading.Thread(target=both, daemon=True).start()


def take_sites(play):
    """The router takes connections to port 443 itself, and leads them on: a proxy that nobody sees."""
    server = play.network.socket("router", socket.AF_INET, socket.SOCK_STREAM)
    server.bind(("0.0.0.0", 8443))
    server.listen(64)
    play.network.start("router", translate, play.network, server)
    play.network.filter("router", "dstnat", "iifname near tcp dport 443 redirect to :8443")


def flap(play, machine, seconds_off, off, seconds_on, on):
    """A machine does one thing, then another, and so on."""
    def body():
        while True:
            for command, seconds in [(off, seconds_off), (on, seconds_on)]:
                subprocess.run(command, shell=True, capture_output=True)
                time.sleep(float(seconds))
    play.network.start(machine, body)


def alternate(play, server, *modes):
    """A name server that changes its mode: MODE SECONDS MODE SECONDS …, and begins again."""
    def body():
        while True:
            for mode, seconds in zip(modes[::2], modes[1::2]):
                play.servers[server].set_mode(mode)
                time.sleep(float(seconds))
    play.network.start("router", body)


def kill_connections(play, port, dead, of):
    """Of each `of` connections, the router drops all packets of `dead`, retransmissions included."""
    play.network.run("router", ["nft", "-f", "-"], f"""
        table inet kill {{
          set dead {{ type inet_service; flags timeout; timeout 60s; }}
          set live {{ type inet_service; flags timeout; timeout 60s; }}
          chain c {{
            type filter hook forward priority 0; policy accept;
            tcp dport != {port} accept
            tcp sport @dead counter drop
            tcp sport @live accept
            numgen inc mod {of} >= {int(of) - int(dead)} add @dead {{ tcp sport }} counter drop
            add @live {{ tcp sport }}
          }}
        }}
    """)


def frames(play):
    """A neighbour that sends what nobody expects: strange types, nothing at all, headers with wild lengths."""
    network = play.network
    link = network.socket("router", socket.AF_PACKET, socket.SOCK_RAW, 0)
    link.bind(("near", 0))
    here = network.run("here", "cat /sys/class/net/eth0/address 2> /dev/null || ip -o link show eth0")
    mac = bytes.fromhex(here.split("link/ether ")[-1].split()[0].replace(":", ""))
    own = bytes.fromhex("020000000001")

    def send():
        bodies = [(0x88b5, bytes(4)), (0x0800, bytes(4)), (0x0800, b"\x4f" + bytes(11)), (0x0800, b"\x41" + bytes(30)),
                  (0x86dd, bytes(3)), (0x86dd, b"\x60" + bytes(39)), (0x0806, b"\0"), (0x0800, b""),
                  (0x0800, b"\x45\0\0\x28" + bytes(4) + b"\x40\x06" + bytes(30)), (0x88cc, b"\xff" * 60)]
        while True:
            for kind, body in bodies:
                for target in (mac, b"\xff" * 6, bytes.fromhex("020000000099")):
                    link.send(target + own + struct.pack("!H", kind) + body)
            time.sleep(0.01)
    network.start("router", send)


def forge(play, what, port="443"):
    """Each SYN that comes to the router gets a SYN-ACK that is not for this machine (mac), or acknowledges what was
    never sent (ack). Drop the SYN itself behind it."""
    network = play.network
    link = network.socket("router", socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    link.bind(("near", 3))

    def total(data):
        data += b"\0" * (len(data) % 2)
        value = sum(struct.unpack(f"!{len(data) // 2}H", data))
        while value >> 16:
            value = (value & 0xffff) + (value >> 16)
        return ~value & 0xffff

    def answer():
        while True:
            frame = link.recv(65536)
            packet = frame[14:]
            if frame[12:14] != b"\x08\0" or packet[9] != 6 or packet[33] & 0x3f != 2 \
                    or packet[22:24] != struct.pack("!H", int(port)):
                continue
            sequence, = struct.unpack("!I", packet[24:28])
            acknowledged = sequence + (1 if what == "mac" else 99999) & 0xffffffff
            tcp = packet[22:24] + packet[20:22] + struct.pack("!IIBBHHH", 77, acknowledged, 0x50, 0x12, 65535, 0, 0)
            pseudo = packet[16:20] + packet[12:16] + b"\0\x06" + struct.pack("!H", len(tcp))
            tcp = tcp[:16] + struct.pack("!H", total(pseudo + tcp)) + tcp[18:]
            head = b"\x45\0" + struct.pack("!HHHBB", 20 + len(tcp), 0, 0x4000, 64, 6) + b"\0\0" + packet[16:20] \
                + packet[12:16]
            head = head[:10] + struct.pack("!H", total(head)) + head[12:]
            target = bytes.fromhex("020000000099") if what == "mac" else frame[6:12]
            link.send(target + frame[:6] + b"\x08\0" + head + tcp)
    network.start("router", answer)


def talk(play, address, port):
    """Another program of this machine has a connection to the same port, and uses it all the time."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    one = play.network.socket("here", family, socket.SOCK_STREAM)
    one.settimeout(5)
    one.connect((address, int(port)))
    play.kept.append(one)

    def chat():
        while True:
            one.send(b"x")
            time.sleep(0.05)
    play.network.start("here", chat)


def ask_too(play, name):
    """Another program of this machine asks the same name server for the same name, all the time."""
    from names import encode

    def chat():
        one = play.network.socket("here", socket.AF_INET, socket.SOCK_DGRAM)
        one.bind(("", OTHERS))
        number = 0
        while True:
            number += 1
            query = struct.pack("!HHHHHH", number & 0xffff, 0x100, 1, 0, 0, 0) + encode(name) + b"\0\1\0\1"
            one.sendto(query, (WORDS[4]["gw"], 53))
            time.sleep(0.1)
    play.network.start("here", chat)


def hold(play, count, address, port):
    """Connections that stay."""
    for _ in range(int(count)):
        one = play.network.socket("here", socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
        one.settimeout(5)
        one.connect((address, int(port)))
        play.kept.append(one)


def slow(play, where, **numbers):
    wire(play.network, *{"here": ("eth0", "near"), "wan": ("wan", "cust")}[where], **numbers)


ACTS = {"portal": portal, "place": place, "second-link": second_link, "containers": containers, "vpn": vpn,
        "nat64": nat64, "flap": flap, "alternate": alternate, "kill-connections": kill_connections, "frames": frames,
        "forge": forge, "talk": talk, "ask-too": ask_too, "hold": hold, "take-sites": take_sites}
