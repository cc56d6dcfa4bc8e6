// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneSystem
package import Dialtone

package enum ListenAddress: Sendable, Equatable {
  /// With `nil`, every address of the machine.
  case network(IPAddress?, port: UInt16)
  case path(String)
  /// A socket that somebody else has opened.
  case inherited(CInt)

  /// blackbox_exporter's port, on this machine alone.
  package static let usual = ListenAddress.network(IPAddress("127.0.0.1"), port: 9115)

  /// Reads `127.0.0.1:9115`, `[::1]:9115`, `:9115` and `unix:/run/dialtone.sock`; `nil` if it is none of these.
  package init?(_ text: String) {
    if text.hasPrefix("unix:") {
      let path = String(text.dropFirst("unix:".count))
      // unix(7): sun_path has 108 bytes, the last of them zero.
      guard path.hasPrefix("/"), path.utf8.count < 108 else { return nil }
      self = .path(path)
      return
    }
    guard let colon = text.lastIndex(of: ":"), let port = PortNumber.parse(text[text.index(after: colon)...]) else {
      return nil
    }
    var host = text[..<colon]
    let isBracketed = host.first == "[" && host.last == "]"
    if isBracketed { host = host.dropFirst().dropLast() }
    if host.isEmpty, !isBracketed {
      self = .network(nil, port: port)
      return
    }
    if host == "localhost" { host = "127.0.0.1" }
    guard let address = IPAddress(host), (address.family == .ipv6) == isBracketed else { return nil }
    self = .network(address, port: port)
  }

  /// The sockets that a service manager has opened for this process (sd_listen_fds(3)). They are closed in programs
  /// that this one starts.
  ///
  /// - Throws: `SystemError` if one is no socket.
  package static var handedOver: [ListenAddress] {
    get throws(SystemError) {
      guard EnvironmentVariable["LISTEN_PID"] == String(getpid()),
        let count = EnvironmentVariable["LISTEN_FDS"].flatMap({ Int32($0) }), (1...64).contains(count)
      else { return [] }
      return try (3..<3 + count).map { descriptor throws(SystemError) in
        if csystem_close_on_exec(descriptor) != 0 || domain(of: descriptor) == nil {
          throw SystemError("the socket \(descriptor) of the service manager")
        }
        return .inherited(descriptor)
      }
    }
  }

  /// Whether only this machine reaches it.
  package var isLocal: Bool {
    switch self {
    case .network(let address, _): address?.unmapped.isLoopback ?? false
    case .path: true
    case .inherited(let descriptor): Self.isLocal(descriptor)
    }
  }

  /// The domain of a socket (socket(7)); `nil` if it is none, with errno.
  private static func domain(of descriptor: CInt) -> CInt? {
    var domain: CInt = 0
    var length = socklen_t(MemoryLayout<CInt>.size)
    // Both are written during the call.
    return unsafe getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 ? domain : nil
  }

  private static func isLocal(_ descriptor: CInt) -> Bool {
    guard let domain = domain(of: descriptor) else { return false }
    if domain == AF_UNIX { return true }
    var bytes = [UInt8](repeating: 0, count: 16)
    var port: UInt16 = 0
    // Of the 16 bytes it writes 4, all or none, and says so.
    let count = Int(unsafe csystem_local_endpoint(descriptor, &bytes, &port))
    let address = unsafe IPAddressBits(bytes.span.bytes, in: 0..<count)
    return address.map { IPAddress($0).unmapped.isLoopback } ?? false
  }
}
