// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
/// The behaviour of a server: the steps when a client connects, then the steps for each request.
package struct SiteBehaviour: Sendable {
  package var opening: [SiteStep]
  package var answer: @Sendable (SiteRequest) -> [SiteStep]

  /// Answers each request. Without `.stall`, `.close` or `.reset` at the end, waits for the next request.
  package init(
    opening: [SiteStep] = [], answer: @escaping @Sendable (SiteRequest) -> [SiteStep] = { _ in [.stall] }
  ) {
    self.opening = opening
    self.answer = answer
  }

  /// Sends the same bytes for each request, then closes.
  package static func text(_ text: String) -> SiteBehaviour {
    SiteBehaviour { _ in [.send(text), .close] }
  }

  /// Sends a well-formed answer with a length, without its body for HEAD, then closes.
  package static func answer(
    _ status: Int, fields: [String] = [], body: String = ""
  ) -> SiteBehaviour {
    SiteBehaviour { request in [.answer(status, to: request, fields: fields, body: Array(body.utf8)), .close] }
  }

  /// Redirects to another host or page.
  package static func redirect(_ status: Int = 302, to location: String) -> SiteBehaviour {
    .answer(status, fields: ["Location: \(location)"])
  }

  /// One answer for HEAD, another for anything else.
  package static func head(_ head: SiteBehaviour, otherwise: SiteBehaviour) -> SiteBehaviour {
    SiteBehaviour { request in request.method == "HEAD" ? head.answer(request) : otherwise.answer(request) }
  }
}

extension SiteStep {
  /// A well-formed answer with its length, without its body if the request is HEAD.
  package static func answer(
    _ status: Int, to request: SiteRequest, fields: [String] = [], body: [UInt8] = []
  ) -> SiteStep {
    var lines = ["HTTP/1.1 \(status) Whatever"] + fields
    // RFC 9110, 8.6: 1xx and 204 have no length.
    if status >= 200, status != 204, status != 304 { lines.append("Content-Length: \(body.count)") }
    let head = Array((lines + ["", ""]).joined(separator: "\r\n").utf8)
    return .send(request.method == "HEAD" ? head : head + body)
  }
}
#endif
