// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CNetworkLab

/// A connection that a program would make. Dialtone's state of its target must agree with it.
package struct LabConnection: Sendable {
  package enum Transport: String, Sendable { case tcp, udp }

  /// An IPv4 or IPv6 address, also with a zone: `fe80::2%v0`.
  package var destination: String
  package var port: UInt16
  /// The address to which the socket is bound, bind(2).
  package var source: String?
  package var sourcePort: UInt16 = 0
  /// The interface to which the socket is bound, `SO_BINDTODEVICE`.
  package var interface: String?
  /// `SO_MARK`. It needs a privilege, which the lab has.
  package var mark: UInt32 = 0
  package var transport = Transport.tcp
  /// `IP_TOS` or `IPV6_TCLASS`, ip(7).
  package var typeOfService: UInt8 = 0
  /// Whether TCP sends nothing either. The routes are looked up nevertheless; no neighbour is asked for.
  package var isSilent = false

  /// The default port is one that no rule of a test names.
  package init(to destination: String, port: UInt16 = 40_404) {
    self.destination = destination
    self.port = port
  }

  /// The result of a real socket.
  package struct Outcome: Sendable, CustomStringConvertible {
    /// The errno of bind(2) or connect(2); 0 if connect(2) goes on (EINPROGRESS) or is done. It is also what `SO_ERROR`
    /// says at once, as a firewall on this machine causes.
    package let error: Int32
    /// The address that the socket has then, getsockname(2); `nil` after an error.
    package let source: String?
    package let sourcePort: UInt16
    /// The link by which its packets leave: ``LabConnection/interface`` if there is one, else the link that `ip route
    /// get` gives for exactly this connection, with both addresses and both ports. `nil` after an error.
    package let link: String?
    /// The next hop from `ip route get`; `nil` if there is none.
    package let gateway: String?

    /// Whether packets are on their way. ECONNREFUSED comes from the other end, which is this machine.
    package var isSent: Bool { error == 0 || error == ECONNREFUSED }

    package var description: String {
      if error != 0 { return "\(LabError("connect", code: error))" }
      return "from \(source ?? "?") over \(link ?? "?")" + (gateway.map { " via \($0)" } ?? "")
    }
  }
}

extension NetworkLab {
  /// Connects a socket without waiting for an answer, and asks where its packets go. TCP sends one segment, UDP sends
  /// nothing.
  ///
  /// The state of the link is ignored: a link that carries nothing drops the packets without an error.
  package func connect(_ connection: LabConnection) throws -> LabConnection.Outcome {
    let found = try open(connection)
    let family: LabFamily = connection.destination.contains(":") ? .v6 : .v4
    guard found.error == 0 else {
      return LabConnection.Outcome(error: found.error, source: nil, sourcePort: 0, link: nil, gateway: nil)
    }
    let source = Self.text(found.local, family)
    let way = try way(of: connection, from: source, port: found.port)
    return LabConnection.Outcome(
      error: 0, source: source, sourcePort: found.port, link: connection.interface ?? way.value(after: "dev"),
      // "via" may be followed by a family: "via inet6 fe80::1".
      gateway: way.value(after: "via").flatMap { $0.hasPrefix("inet") ? way.value(after: $0) : $0 })
  }

  /// Connects a socket. Returns what connect(2) and getsockname(2) returned: the errno or 0, and the socket's address.
  package func socket(_ connection: LabConnection) throws -> (error: Int32, source: String?) {
    let found = try open(connection)
    let family: LabFamily = connection.destination.contains(":") ? .v6 : .v4
    return (found.error, found.error == 0 ? Self.text(found.local, family) : nil)
  }

  /// The words of `ip route get` for a connection.
  ///
  /// An IPv6 socket uses the lookup without a source, unless that fails or the program chose the source. If it is bound
  /// to an interface it keeps to that one, which a query does only without a source.
  private func way(of connection: LabConnection, from source: String, port: UInt16) throws -> [String] {
    let parts = connection.destination.split(separator: "%").map(String.init)
    var words = "ipproto \(connection.transport) sport \(port) dport \(connection.port)"
    let interface = connection.interface ?? parts.dropFirst().first
    if let interface { words += " oif \(interface)" }
    if connection.mark != 0 { words += " mark \(connection.mark)" }
    if connection.typeOfService != 0 { words += " tos \(connection.typeOfService)" }
    if connection.destination.contains(":"), connection.source == nil || interface != nil {
      let first = try ip("-oneline route get \(parts[0]) \(words)")
      if first.status == 0 { return first.output.split(separator: " ").map(String.init) }
    }
    return try ip("-oneline route get \(parts[0]) from \(source) \(words)").output.split(separator: " ")
      .map(String.init)
  }

  private func open(_ connection: LabConnection) throws -> (error: Int32, local: [UInt8], port: UInt16) {
    let parts = connection.destination.split(separator: "%").map(String.init)
    let destination = try LabAddress(parts[0])
    let source = try connection.source.map { text throws(LabError) in try LabAddress(text) }
    let zone = try (parts.dropFirst().first ?? connection.interface).map { try index(of: $0) } ?? 0
    return try run {
      var how = unsafe lab_connect()
      unsafe how.v6 = destination.family == .v6
      unsafe how.udp = connection.transport == .udp
      unsafe how.silent = connection.isSilent && connection.transport == .tcp
      // Both fields are 16 bytes, which no address exceeds.
      unsafe withUnsafeMutableBytes(of: &how.destination) { unsafe $0.copyBytes(from: destination.bytes) }
      if let source {
        guard source.family == destination.family else { throw LabError("a source of another family") }
        unsafe how.has_source = true
        unsafe withUnsafeMutableBytes(of: &how.source) { unsafe $0.copyBytes(from: source.bytes) }
      }
      unsafe (how.port, how.source_port, how.mark) = (connection.port, connection.sourcePort, connection.mark)
      unsafe how.scope = UInt32(zone)
      unsafe how.tos = Int32(connection.typeOfService)
      var found = lab_connected()
      // The name lives until the call returns, which keeps nothing.
      let result =
        if let interface = connection.interface {
          unsafe interface.withCString { name in
            unsafe how.interface = name
            return unsafe lab_connect(&how, &found)
          }
        } else {
          unsafe lab_connect(&how, &found)
        }
      try check(result, "making a socket for \(connection.destination)")
      let local = unsafe withUnsafeBytes(of: found.local) { unsafe Array($0) }
      return (found.error, local, found.local_port)
    }
  }

  private static func text(_ bytes: [UInt8], _ family: LabFamily) -> String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    // inet_ntop reads 4 or 16 bytes, of which there are 16, and ends its text with a NUL.
    _ = unsafe inet_ntop(CInt(family.rawValue), bytes, &text, socklen_t(text.count))
    return String(text)
  }
}

extension [String] {
  fileprivate func value(after word: String) -> String? {
    guard let position = firstIndex(of: word), position + 1 < count else { return nil }
    return self[position + 1]
  }
}
#endif
