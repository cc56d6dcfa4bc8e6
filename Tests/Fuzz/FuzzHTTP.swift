// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1

@testable import Dialtone
@testable import DialtoneSites

/// Reads the bytes as an answer, and as the target of a redirect. The first byte says where the answer is cut in two.
func fuzzHTTP(_ bytes: [UInt8]) {
  let text = String(decoding: bytes, as: UTF8.self)
  for url in [SiteURL("http://site.example/a/b?c"), SiteURL("https://[2001:db8::1]:8443/")] {
    let target = RedirectTarget(text, from: url)
    guard let location = target.location else { continue }
    require(
      location.hasPrefix("http://") || location.hasPrefix("https://"), "a scheme that is not reported: \(location)")
    require(location.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }, "a control character")
    require(location.count <= 2048, "a long target")
  }
  guard let first = bytes.first else { return }
  let answer = bytes.dropFirst()
  let whole = normalized([answer])
  let cut = answer.startIndex + Int(first) % (answer.count + 1)
  let halves = normalized([answer[..<cut], answer[cut...]])
  let single = normalized(answer.map { [$0][...] })
  // However the bytes are cut, what comes out is the same, up to where they are refused.
  require(halves.isRefused == whole.isRefused && single.isRefused == whole.isRefused, "refused only if it is cut")
  if !whole.isRefused {
    require(halves.bytes == whole.bytes && single.bytes == whole.bytes, "other bytes if it is cut")
  }
}

private func normalized(_ pieces: [ArraySlice<UInt8>]) -> (bytes: [UInt8], isRefused: Bool) {
  var normalizer = HeadNormalizer()
  var output = ByteBuffer()
  do {
    for piece in pieces { try normalizer.normalize(ByteBuffer(bytes: piece), into: &output) }
    return (Array(output.readableBytesView), false)
  } catch {
    return (Array(output.readableBytesView), true)
  }
}
