// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if NIO
internal import CDialtoneSystem

/// What a socket asks of routing, besides its addresses.
struct SocketRouting: Hashable, Sendable {
  /// SO_MARK, socket(7).
  var mark: UInt32 = 0
  /// SO_BINDTODEVICE, socket(7). A connection to a link-local IPv6 address has it, too.
  var interface: String?

  #if os(Linux)
  /// Reads what an open socket has; `nil` if routes by its addresses do not tell about it.
  ///
  /// That is any socket but one of TCP, a multipath one (which moves to other addresses by itself), and a transparent
  /// one (whose local address is another machine's).
  init?(descriptor: CInt) {
    // Constants that libc has in some versions alone: asm-generic/socket.h, linux/in.h, linux/in6.h.
    let (protocolOption, markOption, deviceOption): (CInt, CInt, CInt) = (38, 36, 25)
    let (transparent, transparent6): (CInt, CInt) = (19, 75)
    guard Self.integer(descriptor, SOL_SOCKET, protocolOption) == CInt(IPPROTO_TCP),
      Self.integer(descriptor, CInt(IPPROTO_IP), transparent) != 1,
      Self.integer(descriptor, CInt(IPPROTO_IPV6), transparent6) != 1
    else { return nil }
    mark = UInt32(bitPattern: Self.integer(descriptor, SOL_SOCKET, markOption) ?? 0)
    var name = [UInt8](repeating: 0, count: Int(IF_NAMESIZE))
    var length = socklen_t(name.count)
    // The kernel writes at most `length` bytes.
    if unsafe getsockopt(descriptor, SOL_SOCKET, deviceOption, &name, &length) == 0, length > 0 {
      let text = String(decoding: name.prefix(Int(length)).prefix { $0 != 0 }, as: UTF8.self)
      interface = text.isEmpty ? nil : text
    }
  }
  #endif

  init() {}

  /// Returns an option that is an integer; `nil` if the socket has none of that kind.
  static func integer(_ descriptor: CInt, _ level: CInt, _ option: CInt) -> CInt? {
    var value: CInt = 0
    var length = socklen_t(MemoryLayout<CInt>.size)
    // The kernel writes at most `length` bytes.
    return unsafe getsockopt(descriptor, level, option, &value, &length) == 0 ? value : nil
  }
}

#if os(Linux)
extension SocketProgress {
  /// Asks the kernel about a connection; `nil` if it does not say.
  init?(descriptor: CInt) {
    var bytes = [UInt8](repeating: 0, count: 256)
    var length = socklen_t(bytes.count)
    // The kernel writes at most `length` bytes.
    guard unsafe getsockopt(descriptor, CInt(IPPROTO_TCP), TCP_INFO, &bytes, &length) == 0 else { return nil }
    self.init(unsafe bytes.span.extracting(first: Int(length)).bytes)
    hasUnread = csystem_unread_bytes(descriptor) > 0
  }
}

/// A socket's own settings of keepalive, while others are in force.
struct KeepaliveSettings {
  private var values: [CInt] = []

  private static let options: [(level: CInt, option: CInt, probing: CInt)] = [
    // Switched on first: then the time counts from what came last, so that a probe may be sent at once. One second is
    // the least that the kernel takes.
    (SOL_SOCKET, SO_KEEPALIVE, 1),
    (CInt(IPPROTO_TCP), TCP_KEEPIDLE, 1),
    (CInt(IPPROTO_TCP), TCP_KEEPINTVL, 1),
    // So that the kernel does not give up: it is ours to judge.
    (CInt(IPPROTO_TCP), TCP_KEEPCNT, 127),
  ]

  /// Has the kernel probe the connection; `nil` if it refuses.
  init?(probing descriptor: CInt) {
    for (level, option, _) in Self.options {
      guard let value = SocketRouting.integer(descriptor, level, option) else { return nil }
      values.append(value)
    }
    for (level, option, value) in Self.options where !Self.set(descriptor, level, option, value) {
      restore(descriptor)
      return nil
    }
  }

  /// Gives the socket its own settings back.
  func restore(_ descriptor: CInt) {
    for (position, setting) in Self.options.enumerated().reversed() {
      // A socket that is being closed has none.
      _ = Self.set(descriptor, setting.level, setting.option, values[position])
    }
  }

  private static func set(_ descriptor: CInt, _ level: CInt, _ option: CInt, _ value: CInt) -> Bool {
    var value = value
    // The kernel reads `MemoryLayout<CInt>.size` bytes.
    return unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<CInt>.size)) == 0
  }
}
#endif
#endif
