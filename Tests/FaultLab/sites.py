"""Sites, portals and proxies of the lab. Each has a mode, which is how it misbehaves; see serve() and proxy()."""
import select
import socket
import ssl
import struct
import threading
import time

import http2

MARK = b"Hello from the site"


def page(status, body=b"", *fields):
    head = "\r\n".join([f"HTTP/1.1 {status}", *fields, f"Content-Length: {len(body)}", "Connection: close"])
    return head.encode() + b"\r\n\r\n" + body


ANSWERS = {
    "ok": page("200 OK", MARK),
    "missing": page("404 Not Found", MARK),
    "www": page("301 Moved Permanently", MARK, "Location: https://www.site.example/"),
    "elsewhere": page("301 Moved Permanently", MARK, "Location: https://cdn.example/"),
    "chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n" + MARK + b"\r\n0\r\n\r\n",
    "auth": page("401 Unauthorized", MARK, 'WWW-Authenticate: Basic realm="site"'),
    "empty-204": page("204 No Content"),
    "large": page("200 OK", MARK + b"." * 200_000),
    "portal": page("302 Found", b"", "Location: http://login.example/"),
    "portal-https": page("302 Found", b"", "Location: https://login.example/"),
    "portal-307": page("307 Temporary Redirect", b"", "Location: http://192.0.2.1:8080/login"),
    "portal-page": page("200 OK", b"<html><title>Login</title><form method=post>Room number</form></html>"),
    "portal-script": page("200 OK", b"<html><script>location.href='http://login.example/'</script></html>"),
    "portal-refresh": page("200 OK", b"<html>wait</html>", "Refresh: 0; url=http://login.example/"),
    "portal-meta": page("200 OK", b"<meta http-equiv=refresh content='0; url=http://login.example/'>"),
    "portal-401": page("401 Unauthorized", b"Log in", 'WWW-Authenticate: Basic realm="guests"'),
    "portal-403": page("403 Forbidden", b"Blocked"),
    "empty-line": b"\r\n" + page("200 OK", MARK),
    "portal-511": page("511 Network Authentication Required", b"Log in"),
    "503": page("503 Service Unavailable"),
    "500": page("500 Internal Server Error"),
    "502": page("502 Bad Gateway"),
    "garbage": b"\x00\x01\x02 this is no HTTP\r\n\r\n",
    "endless-head": b"HTTP/1.1 200 OK\r\n" + b"X-Filler: " + b"x" * 400_000,
}


def reset(client):
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()


class Site:
    """A server on a port of a machine, of both families."""

    def __init__(self, network, machine, port, mode="ok", context=None, address="::"):
        self.mode, _, rest = mode.partition(",")
        # A pattern has a digit for each exchange; connections on which nothing is sent are none.
        self.is_pattern, _, text = rest.rpartition("=")
        self.is_pattern = self.is_pattern == "pattern"
        self.pattern = text if self.is_pattern else "1".zfill(int(text)) if text else "1"
        self.mode, _, self.value = self.mode.partition("=")
        self.context, self.network, self.machine, self.count = context, network, machine, 0
        self.lock = threading.Lock()
        if self.mode.startswith("h2-"):
            context.set_alpn_protocols(["h2"] if self.mode == "h2-alone" else ["h2", "http/1.1"])
        if self.mode == "wants-certificate":
            context.verify_mode, self.mode = ssl.CERT_REQUIRED, "ok"
        server = network.socket(machine, socket.AF_INET6, socket.SOCK_STREAM)
        server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind((address, port))
        self.server = server
        server.listen(0 if self.mode == "full" else 64)
        if self.mode == "full":
            self.fill(port)
        else:
            network.start(machine, self.accept)

    def fill(self, port):
        """Nobody accepts, and the queue is full: further SYNs are dropped (listen(2))."""
        self.kept = [self.network.socket(self.machine, socket.AF_INET, socket.SOCK_STREAM) for _ in range(3)]
        for one in self.kept:
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", port))

    def accept(self):
        while True:
            client, _ = self.server.accept()
            mode = None if self.is_pattern else self.next_mode()
            threading.Thread(target=self.serve, args=(client, mode), daemon=True).start()

    def next_mode(self):
        with self.lock:
            self.count += 1
            return self.mode if self.pattern[(self.count - 1) % len(self.pattern)] == "1" else "ok"

    def serve(self, client, mode):
        try:
            if mode is None:
                if not client.recv(1, socket.MSG_PEEK):
                    return
                mode = self.next_mode()
            self.converse(client, mode)
        except OSError:
            pass  # The client went away, or does not trust the certificate.
        finally:
            client.close()

    def converse(self, client, mode):
        if mode == "reset":
            time.sleep(0.05)  # Behind the handshake, as the other end sees it.
            return reset(client)
        if mode == "close":
            return None
        if mode == "mute":
            threading.Event().wait()
        if mode == "reset-hello":
            client.recv(4096)
            return reset(client)
        if mode == "old-tls":
            # handshake_failure (RFC 8446, 6.2): no version and no cipher suite in common.
            client.recv(4096)
            return client.sendall(b"\x15\x03\x01\x00\x02\x02\x28")
        if self.context:
            client = self.context.wrap_socket(client, server_side=True)
            if client.selected_alpn_protocol() == "h2":
                return http2.serve(client, mode.removeprefix("h2-"), MARK)
            if mode.startswith("h2-"):
                mode = "ok"
        if mode == "mute-after-tls":
            threading.Event().wait()
        data = b""
        while b"\r\n\r\n" not in data:
            more = client.recv(4096)
            if not more:
                return None
            data += more
        # Only what asks for the head, or for all, is answered badly.
        if mode.startswith(("head-", "get-")):
            method, _, rest = mode.partition("-")
            mode = rest if data.lower().startswith(method.encode()) else "ok"
        if mode == "reset-request":
            return reset(client)
        if mode == "hang-request":
            threading.Event().wait()
        if mode == "hanging-up":
            return None
        if mode == "slow":
            time.sleep(float(self.value))
            mode = "ok"
        if mode == "portal-slow":
            time.sleep(2)
            mode = "portal"
        if mode == "drip":
            for byte in ANSWERS["ok"]:
                client.sendall(bytes([byte]))
                time.sleep(0.3)
        if mode == "stops":
            client.sendall(ANSWERS["large"][:1000])
            threading.Event().wait()
        if mode == "half":
            return client.sendall(ANSWERS["large"][:1000])
        client.sendall(ANSWERS[mode])
        client.shutdown(socket.SHUT_WR)
        while client.recv(4096):
            pass
        return None


class Proxy:
    """A proxy for both protocols: CONNECT and plain requests of HTTP (RFC 9110), and SOCKS5 (RFC 1928)."""

    def __init__(self, network, machine, port, mode="ok"):
        self.network, self.machine, self.mode = network, machine, mode
        self.server = network.socket(machine, socket.AF_INET6, socket.SOCK_STREAM)
        self.server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        self.server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.server.bind(("::", port))
        self.server.listen(64)
        network.start(machine, self.accept)

    def accept(self):
        while True:
            client, _ = self.server.accept()
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        self.network.enter(self.machine)
        try:
            if self.mode == "mute":
                threading.Event().wait()
            if self.mode == "reset":
                return reset(client)
            first = client.recv(1, socket.MSG_PEEK)
            (self.serve_socks if first == b"\x05" else self.serve_http)(client)
        except OSError:
            pass  # One of both ends went away.
        finally:
            client.close()
        return None

    def reach(self, host, port):
        """To the other end; the proxy asks the provider's name server, whatever this machine knows."""
        from names import ZONE
        if self.mode == "nowhere":
            raise OSError("no way")
        addresses = ZONE.get(host, []) if any(c.isalpha() for c in host) and ":" not in host else [host]
        if self.mode == "nameless" or not addresses:
            raise LookupError(host)
        return socket.create_connection((addresses[0], port), 3)

    def serve_http(self, client):
        head = b""
        while b"\r\n\r\n" not in head:
            more = client.recv(4096)
            if not more:
                return
            head += more
        if self.mode in ("403", "407", "502", "503"):
            words = {"403": "Forbidden", "407": "Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=x",
                     "502": "Bad Gateway", "503": "Service Unavailable"}[self.mode]
            return client.sendall(f"HTTP/1.1 {self.mode} {words}\r\nContent-Length: 0\r\n\r\n".encode())
        if self.mode == "squid":
            return client.sendall(b"HTTP/1.1 403 Forbidden\r\nX-Squid-Error: ERR_ACCESS_DENIED 0\r\n"
                                  b"Content-Length: 0\r\n\r\n")
        if self.mode == "hangs-up":
            return None
        if self.mode == "garbage":
            return client.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")
        method, target, _ = head.split(b"\r\n")[0].decode().split(" ")
        authority = target if method == "CONNECT" else target.split("/")[2]
        host, _, port = authority.rpartition(":") if authority.rpartition(":")[2].isdigit() else (authority, "", "80")
        try:
            other = self.reach(host.strip("[]"), int(port))
        except (OSError, LookupError):
            return client.sendall(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
        if method == "CONNECT":
            if self.mode == "slow":
                time.sleep(4)
            client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            other.sendall(head)
        relay(client, other)

    def serve_socks(self, client):
        count = client.recv(2)[1]
        methods = client.recv(count)
        if self.mode == "password" or b"\0" not in methods:
            return client.sendall(b"\x05\xff")
        client.sendall(b"\x05\0")
        _, _, _, kind = client.recv(4)
        if kind == 3:
            host = client.recv(client.recv(1)[0]).decode()
        else:
            family, size = (socket.AF_INET, 4) if kind == 1 else (socket.AF_INET6, 16)
            host = socket.inet_ntop(family, client.recv(size))
        port, = struct.unpack("!H", client.recv(2))
        failures = {"403": 2, "nowhere": 3, "nameless": 4}
        try:
            if self.mode in failures:
                raise OSError
            other = self.reach(host, port)
        except (OSError, LookupError):
            return client.sendall(bytes([5, failures.get(self.mode, 1), 0, 1]) + bytes(6))
        client.sendall(b"\x05\0\0\x01" + bytes(6))
        relay(client, other)


def relay(left, right):
    with right:
        while True:
            for source in select.select([left, right], [], [])[0]:
                data = source.recv(65536)
                if not data:
                    return
                (right if source is left else left).sendall(data)


def context(certificates, name):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(f"{certificates}/{name}.pem", f"{certificates}/key.pem")
    return made
