"""HTTP/2 (RFC 9113) as a site of the lab speaks it: one request, and its ways to go wrong. See serve()."""
import struct
import threading

DATA, HEADERS, RST_STREAM, SETTINGS, GOAWAY = 0, 1, 3, 4, 7
END_STREAM, ACK, END_HEADERS = 1, 1, 4
STATUS_200 = b"\x88"  # The static table of HPACK (RFC 7541, A).
STATUS_103 = b"\x08\x03103"
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
# Error codes (RFC 9113, 7).
PROTOCOL_ERROR, INTERNAL_ERROR, HTTP_1_1_REQUIRED = 1, 2, 13


def frame(kind, flags, stream, payload=b""):
    return struct.pack("!I", len(payload))[1:] + struct.pack("!BBI", kind, flags, stream) + payload


def number(value):
    return struct.pack("!I", value)


def read(client, count):
    data = b""
    while len(data) < count:
        more = client.recv(count - len(data))
        if not more:
            raise OSError("closed")
        data += more
    return data


def request(client):
    """The stream of the next request."""
    while True:
        length, kind, flags, stream = struct.unpack("!IBBI", b"\0" + read(client, 9))
        read(client, length)
        if kind == HEADERS:
            return stream
        if kind == SETTINGS and not flags & ACK:
            client.sendall(frame(SETTINGS, ACK, 0))


def serve(client, mode, page):
    """Answers a request with `page`, or fails by `mode`: `mute`, `close`, `http1`, `garbage`, `goaway`, `rst`, `hang`,
    `half` (the stream is ended in mid-answer), `stops` (nothing follows the head), `required` (HTTP_1_1_REQUIRED)."""
    read(client, len(PREFACE))
    if mode == "mute":
        threading.Event().wait()
    if mode == "close":
        return
    if mode == "http1":
        return client.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
    client.sendall(frame(SETTINGS, 0, 0))
    if mode == "goaway":
        return client.sendall(frame(GOAWAY, 0, 0, number(0) + number(INTERNAL_ERROR)))
    stream = request(client)
    if mode == "hang":
        threading.Event().wait()
    if mode == "garbage":
        return client.sendall(frame(HEADERS, END_HEADERS, stream, b"\xff\xff\xff\xff\xff"))
    if mode in ("rst", "required"):
        code = HTTP_1_1_REQUIRED if mode == "required" else INTERNAL_ERROR
        client.sendall(frame(RST_STREAM, 0, stream, number(code)))
    else:
        for status in (STATUS_103, STATUS_200):
            client.sendall(frame(HEADERS, END_HEADERS, stream, status))
        if mode == "stops":
            threading.Event().wait()
        if mode == "large":
            page += b"." * 60_000  # A stream's first window is 65,535 bytes (RFC 9113, 6.9.2).
        client.sendall(frame(DATA, 0 if mode == "half" else END_STREAM, stream, page))
        if mode == "half":
            client.sendall(frame(RST_STREAM, 0, stream, number(PROTOCOL_ERROR)))
    while client.recv(4096):
        pass
