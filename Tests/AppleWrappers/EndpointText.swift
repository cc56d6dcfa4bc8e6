// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

// A file that knows of endpoints and of socket addresses alone.

import Foundation

#if canImport(Network)
import Network
#elseif canImport(DialtoneNetwork)
import DialtoneNetwork
#endif

/// The text of an endpoint, whatever it is.
package func text(of endpoint: NWEndpoint) -> String {
  switch endpoint {
  case .hostPort(let host, let port): return "\(host) \(port)"
  case .service(let name, _, _, _): return name
  case .unix(let path): return path
  case .url(let url): return url.absoluteString
  case .opaque: return "opaque"
  @unknown default: return "?"
  }
}

/// The length that a socket address of IPv4, and one of IPv6, has by Apple's fields.
package func addressLengths() -> [UInt8] {
  var four = sockaddr_in()
  four.sin_len = UInt8(MemoryLayout<sockaddr_in>.size)
  var six = sockaddr_in6()
  six.sin6_len = UInt8(MemoryLayout<sockaddr_in6>.size)
  return [four.sin_len, six.sin6_len]
}
