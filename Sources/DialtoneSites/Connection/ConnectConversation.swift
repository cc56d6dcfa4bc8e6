// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone

/// Asks by HTTP to be connected (RFC 9110, 9.3.6).
struct ConnectConversation: TunnelConversation {
  let greeting: [UInt8]
  /// What has come of the answer being read.
  private var answer: [UInt8] = []
  private var byteCount = 0

  init(to url: SiteURL, by proxy: ProxyServer, agent: String?) {
    let target = "\(url.hostText):\(url.port)"
    var request = "CONNECT \(target) HTTP/1.1\r\nHost: \(target)\r\n"
    if let authorization = proxy.authorization { request += "Proxy-Authorization: \(authorization)\r\n" }
    if let agent { request += "User-Agent: \(agent)\r\n" }
    greeting = Array((request + "\r\n").utf8)
  }

  mutating func take(_ more: some Sequence<UInt8>) -> TunnelStep {
    let known = answer.count
    answer += more
    byteCount += answer.count - known
    if byteCount > Limits.headers { return .failed(SiteError(.proxyFailed, "the proxy's answer has no end")) }
    // The blank line may have begun in what came before.
    var start = max(0, known - 2)
    while let blank = Self.blankLine(in: answer[start...]) {
      let line = answer.prefix { $0 != 0x0D && $0 != 0x0A }
      guard line.starts(with: "HTTP/1.".utf8), line.count >= 12, line[8] == 0x20 else {
        return .failed(SiteError(.proxyFailed, "the proxy answered with something that is not HTTP/1"))
      }
      let status = line[9..<12]
      // RFC 9110, 15.2: interim answers say nothing of the final one. Nobody asked to switch protocols (101).
      if status.first == 0x31, status != [0x31, 0x30, 0x31] {
        answer.removeFirst(blank.upperBound)
        start = 0
        continue
      }
      guard status.first == 0x32 else {
        let digits = String(decoding: status.filter(ASCII.isDigit), as: UTF8.self)
        return .failed(SiteError(.proxyFailed, "the proxy refused to connect to the site (\(digits))"))
      }
      // In TLS the client speaks first: nothing else can have come yet.
      guard blank.upperBound == answer.count else {
        return .failed(SiteError(.proxyFailed, "the proxy said more than it was asked"))
      }
      return .connected
    }
    return .wait
  }

  /// The end of a line and of the one after it, which is empty; LF alone may end one (RFC 9112, 2.2).
  private static func blankLine(in bytes: ArraySlice<UInt8>) -> Range<Int>? {
    for end in bytes.indices where bytes[end] == 0x0A {
      let next = bytes[(end + 1)...].prefix(2)
      if next.first == 0x0A { return end..<end + 2 }
      if next.elementsEqual([0x0D, 0x0A]) { return end..<end + 3 }
    }
    return nil
  }
}
