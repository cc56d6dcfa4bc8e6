// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
extension HostileSite {
  /// Hostile below HTTP, for a server without TLS that gets an https request.
  package static let insteadOfTLS: [HostileSite] = [
    HostileSite("stalls before the hello", .timesOut("tls"), opens: .stall),
    HostileSite("stalls after the hello", .timesOut("tls"), opens: .awaitBytes, .stall),
    HostileSite(
      "stalls in its own hello", .timesOut("tls"), opens: .awaitBytes, .send([0x16, 3, 3, 0, 200, 2, 0, 0, 196, 3, 3]),
      .stall),
    HostileSite(
      "drips its hello", .timesOut("tls"), opens: .awaitBytes, .send([0x16, 3, 3, 0x3F, 0xFF, 2, 0, 0x3F, 0xFB, 3, 3]),
      .drip([0], every: .milliseconds(10))),
    HostileSite("garbage for a hello", .fails(["tls"]), opens: .awaitBytes, .send("SSH-2.0-OpenSSH_9.2\r\n"), .stall),
    HostileSite(
      "a plain answer", .fails(["tls"]), opens: .awaitBytes,
      .send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"), .close),
    HostileSite("an alert", .fails(["tls"]), opens: .awaitBytes, .send([0x15, 3, 3, 0, 2, 2, 40]), .close),
    HostileSite(
      "a record of a wrong size", .fails(["tls"]), opens: .awaitBytes,
      .send([0x16, 3, 3, 0xFF, 0xFF] + [UInt8](repeating: 0, count: 1000)), .stall),
    HostileSite(
      "endless handshake messages", .fails(["tls"]), opens: .awaitBytes,
      .sendForEver([0x16, 3, 3, 0x40, 0] + [UInt8](repeating: 2, count: 0x4000))),
    HostileSite(
      "endless warnings", .fails(["tls"]), opens: .awaitBytes, .sendForEver([0x15, 3, 3, 0, 2, 1, 90])),
    HostileSite("resets after the hello", .fails(["tls"]), opens: .awaitBytes, .reset),
    HostileSite("closes after the hello", .fails(["tls"]), opens: .awaitBytes, .close),
  ]
}
#endif
