// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
import CNetlink
import Dialtone
import Glibc
import TestSupport
import Testing

/// Names that getaddrinfo(3) would take for addresses, since it writes them in ASCII before it looks (AI_IDN, by libidn2).
@Suite(
  .enabled(if: withUTF8 { isTakenForAnAddress("１０.１") }, "needs libidn2 and the locale C.UTF-8"),
  .timeLimit(.minutes(5)), .fewAtATime)
struct DisguisedNumberTests {
  /// Every character there is, where it could stand for a part of a number.
  @Test func isNoHost() {
    withUTF8 {
      for value in UInt32(0x80)...0xE01EF {
        guard let scalar = Unicode.Scalar(value), scalar.properties.generalCategory != .unassigned,
          scalar.properties.generalCategory != .privateUse
        else { continue }
        for text in ["1\(scalar)", "\(scalar)1", "10\(scalar)1", "0\(scalar)1", "0x\(scalar)", "\(scalar)\(scalar)1"]
        where isTakenForAnAddress(text) {
          #expect(throws: ReachabilityError.self, "\(text), \(scalar.codePoint)") { try ReachabilityTarget.host(text) }
        }
      }
    }
  }
}

/// Whether the system's resolver takes the text for an address; nobody is asked.
private func isTakenForAnAddress(_ text: String) -> Bool {
  var hints = unsafe addrinfo()
  unsafe hints.ai_flags = AI_NUMERICHOST | CInt(cnetlink_AI_IDN)
  unsafe hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
  var list: UnsafeMutablePointer<addrinfo>?
  guard unsafe getaddrinfo(text, nil, &hints, &list) == 0 else { return false }
  unsafe freeaddrinfo(list)
  return true
}

/// Has this thread alone read names as UTF-8 meanwhile, as a program does that has set its locale: the resolver goes by it.
private func withUTF8<Result>(_ body: () -> Result) -> Result {
  guard let locale = unsafe newlocale(1 << LC_CTYPE, "C.UTF-8", nil) else { return body() }
  let former = unsafe uselocale(locale)
  defer {
    unsafe uselocale(former)
    unsafe freelocale(locale)
  }
  return body()
}
#endif
