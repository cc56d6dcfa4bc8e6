// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

public import Dialtone
public import Foundation

extension ReachabilityTarget {
  /// The host and the port of a URL. The host is a name, looked up in the background, or an address. Without a port,
  /// http has 80, https 443, and other schemes none.
  ///
  /// User, path, query and fragment do not count. A percent-encoded host is decoded first. A name with letters outside
  /// ASCII is looked up as RFC 5890 A-labels. A relative URL has the host of its base.
  ///
  /// - Parameter url: Any URL with a host.
  /// - Throws: `ReachabilityError` with the code `invalidHost` if the URL has no host (`file:`, `mailto:`) or one
  ///   that is no name, `invalidAddress` if the host looks like an address but is none that can be reached. The error
  ///   repeats nothing of the URL except its host.
  public init(url: URL) throws(ReachabilityError) {
    // It is also nil if the bytes are no UTF-8. Encoded, they are refused like any other text that is no name.
    let host = url.host(percentEncoded: false) ?? url.host(percentEncoded: true) ?? ""
    if host.isEmpty {
      throw ReachabilityError(.invalidHost, "the URL has no host; give one such as https://example.com/")
    }
    // Once decoded, the host could pass for a path or another URL.
    if host.contains("/") {
      throw ReachabilityError(.invalidHost, "the URL's host contains a slash; give one such as https://example.com/")
    }
    let port = try Self.port(of: url)
    let target = try ReachabilityTarget.host(host)
    // Once decoded, a part of the host could pass for its port.
    if target.port != nil {
      throw ReachabilityError(.invalidHost, "the URL's host contains a colon; give one such as https://example.com/")
    }
    self = ReachabilityTarget(target.storage, port: port)
  }

  private static func port(of url: URL) throws(ReachabilityError) -> UInt16? {
    if let port = url.port {
      guard let port = UInt16(exactly: port), port > 0 else {
        throw ReachabilityError(.invalidHost, "the URL's port is not a number from 1 to 65535")
      }
      return port
    }
    return url.scheme.flatMap { PortNumber.usual(forScheme: $0[...]) }
  }
}
