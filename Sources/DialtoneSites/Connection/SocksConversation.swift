// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// Asks by SOCKS, version 5, to be connected (RFC 1928, RFC 1929).
struct SocksConversation: TunnelConversation {
  private enum State {
    case greeted, identified, asked
  }

  private let url: SiteURL
  private let socks: ProxyServer.Socks
  private var state = State.greeted
  private var bytes: [UInt8] = []

  init(to url: SiteURL, _ socks: ProxyServer.Socks) {
    self.url = url
    self.socks = socks
  }

  /// Which ways to prove who asks this program knows: none, and a password if there is one.
  var greeting: [UInt8] { socks.user == nil ? [5, 1, 0] : [5, 2, 0, 2] }

  mutating func take(_ more: some Sequence<UInt8>) -> TunnelStep {
    bytes += more
    // The longest answer has a name of 255 bytes.
    if bytes.count > 512 { return failed("said more than it was asked") }
    switch state {
    case .greeted:
      guard bytes.count >= 2 else { return bytes.first.map { $0 == 5 } ?? true ? .wait : noSocks }
      guard bytes[0] == 5 else { return noSocks }
      switch (bytes[1], socks.user) {
      case (0, _): return next(.asked, request)
      case (2, let user?): return next(.identified, [1] + Self.counted(user) + Self.counted(socks.password))
      default: return failed("wants a password")
      }
    case .identified:
      guard bytes.count >= 2 else { return .wait }
      return bytes[1] == 0 ? next(.asked, request) : failed("does not take the password")
    case .asked:
      guard bytes.count >= 5 else { return .wait }
      guard bytes[0] == 5 else { return noSocks }
      if bytes[1] != 0 { return failed("refused to connect to the site (\(bytes[1]))") }
      let addressCount = bytes[3] == 1 ? 4 : bytes[3] == 4 ? 16 : 1 + Int(bytes[4])
      let count = 4 + addressCount + 2
      if bytes.count < count { return .wait }
      // A client speaks first, over http and in TLS: nothing else can have come yet.
      return bytes.count == count ? .connected : failed("said more than it was asked")
    }
  }

  private mutating func next(_ state: State, _ answer: [UInt8]) -> TunnelStep {
    // An answer takes two bytes so far.
    bytes.removeFirst(2)
    self.state = state
    return .send(answer)
  }

  private var request: [UInt8] {
    var request: [UInt8] = [5, 1, 0]
    switch socks.target.map(SiteURL.Host.address) ?? url.host {
    case .name(let name): request += [3] + Self.counted(Array(name.text.utf8))
    case .address(let address):
      let bytes = address.unmapped.networkBytes
      request += [bytes.count == 4 ? 1 : 4] + bytes
    }
    return request + [UInt8(url.port >> 8), UInt8(url.port & 0xFF)]
  }

  /// At most 255 bytes, and their number before them.
  private static func counted(_ bytes: [UInt8]) -> [UInt8] { [UInt8(min(255, bytes.count))] + bytes.prefix(255) }

  private var noSocks: TunnelStep { failed("does not speak SOCKS 5") }

  private func failed(_ words: String) -> TunnelStep { .failed(SiteError(.proxyFailed, "the proxy \(words)")) }
}
