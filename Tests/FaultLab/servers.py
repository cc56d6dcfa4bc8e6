"""Servers for the faults of Scripts/explain-faults: name servers that tell the truth, lie or are silent; sites that
answer, or not.

  servers.py dns READY ADDRESS MODE [NAME=ADDRESS…]
  servers.py site READY PORT MODE [CERTIFICATE KEY]

READY is a file that is made once the server listens. It ends with its process group.
"""
import ipaddress
import pathlib
import socket
import ssl
import struct
import sys
import threading
import time


def records(zone, name, kind):
    wanted = 4 if kind == 1 else 6 if kind == 28 else 0
    return [a for n, a in zone if n == name and a.version == wanted]


def question(packet):
    """The name and type that are asked for, and where the question ends."""
    labels, offset = [], 12
    while packet[offset]:
        length = packet[offset]
        labels.append(packet[offset + 1:offset + 1 + length].decode())
        offset += 1 + length
    return ".".join(labels).lower(), struct.unpack("!H", packet[offset + 1:offset + 3])[0], offset + 5


def answer(packet, code, addresses):
    name, kind, end = question(packet)
    head = packet[:2] + struct.pack("!HHHHH", 0x8180 | code, 1, len(addresses), 0, 0)
    body = b"".join(
        b"\xc0\x0c" + struct.pack("!HHIH", 1 if a.version == 4 else 28, 1, 60, len(a.packed)) + a.packed
        for a in addresses)
    return head + packet[12:end] + body


def dns(ready, address, mode, *entries):
    zone = [(e.split("=")[0], ipaddress.ip_address(e.split("=")[1])) for e in entries]
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    server = socket.socket(family, socket.SOCK_DGRAM)
    server.bind((address, 53))
    if mode == "truncated":
        threading.Thread(target=dns_by_tcp, args=(family, address, zone), daemon=True).start()
    pathlib.Path(ready).touch()
    while True:
        packet, client = server.recvfrom(512)
        name, kind, _ = question(packet)
        found, code = records(zone, name, kind), 0
        known = any(n == name for n, _ in zone) or name == ""
        if mode == "silent" or mode == "no-aaaa" and kind == 28:
            continue
        if mode.startswith("slow="):
            # Each question by itself, and the first one of several for the same.
            late = answer(packet, code if known else 3, found)
            threading.Timer(float(mode[5:]), server.sendto, (late, client)).start()
            continue
        if mode == "truncated":
            # TC: the answer is to be had over TCP alone (RFC 1035, 4.2.1).
            server.sendto(packet[:2] + b"\x83\x80" + packet[4:6] + bytes(6) + packet[12:], client)
            continue
        if mode == "refused":
            found, code = [], 5
        elif mode == "failing":
            found, code = [], 2
        elif mode == "lying":
            # Each name has the address of the first entry.
            found = [a for _, a in zone if a.version == (4 if kind == 1 else 6 if kind == 28 else 0)][:1]
        elif not known:
            code = 3
        server.sendto(answer(packet, code, found), client)


def dns_by_tcp(family, address, zone):
    server = socket.socket(family, socket.SOCK_STREAM)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind((address, 53))
    server.listen(16)
    while True:
        client, _ = server.accept()
        threading.Thread(target=converse, args=(client, zone), daemon=True).start()


def converse(client, zone):
    stream = client.makefile("rwb")
    while True:
        head = stream.read(2)
        if len(head) < 2:
            return
        packet = stream.read(struct.unpack("!H", head)[0])
        name, kind, _ = question(packet)
        known = any(n == name for n, _ in zone) or name == ""
        reply = answer(packet, 0 if known else 3, records(zone, name, kind))
        stream.write(struct.pack("!H", len(reply)) + reply)
        stream.flush()


ANSWERS = {
    "ok": b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nHello",
    "portal": (b"HTTP/1.1 302 Found\r\nLocation: http://login.example/\r\nContent-Length: 0\r\n"
               b"Connection: close\r\n\r\n"),
    "www": (b"HTTP/1.1 301 Moved Permanently\r\nLocation: https://www.site.example/\r\nContent-Length: 0\r\n"
            b"Connection: close\r\n\r\n"),
    "login": b"HTTP/1.1 511 Network Authentication Required\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    "failing": b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    "broken": b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    "missing": b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    "garbage": b"\x00\x01\x02 this is no HTTP\r\n\r\n",
}


def serve(client, mode, context):
    try:
        if mode == "closing":
            client.recv(1)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            client.close()
            return
        if mode == "old-tls":
            # handshake_failure (RFC 8446, 6.2): no version and no cipher suite in common.
            client.recv(4096)
            client.sendall(b"\x15\x03\x01\x00\x02\x02\x28")
            return
        if context:
            client = context.wrap_socket(client, server_side=True)
        if mode == "mute":
            threading.Event().wait()
        data = b""
        while b"\r\n\r\n" not in data:
            more = client.recv(4096)
            if not more:
                return
            data += more
        if mode == "hanging-up":
            return
        if mode == "slow":
            time.sleep(5)
            mode = "ok"
        client.sendall(ANSWERS[mode])
        client.shutdown(socket.SHUT_WR)
        while client.recv(4096):
            pass
    except OSError:
        pass
    finally:
        client.close()


def site(ready, port, mode, certificate=None, key=None):
    context = None
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
    server = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
    server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(("::", int(port)))
    server.listen(64)
    pathlib.Path(ready).touch()
    while True:
        client, _ = server.accept()
        threading.Thread(target=serve, args=(client, mode, context), daemon=True).start()


{"dns": dns, "site": site}[sys.argv[1]](*sys.argv[2:])
