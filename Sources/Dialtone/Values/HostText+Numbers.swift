// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

extension HostText {
  /// Throws where the name would be taken for an IPv4 address. One whose last part is a number is such an address or nothing (RFC 1123,
  /// 2.1); without this check, getaddrinfo(3) would take `10.1` for 10.0.0.1.
  ///
  /// Other programs would so take `１０。１`: they write names in ASCII as UTS 46 says before they look at them.
  static func checkIPv4Shape(_ text: String) throws(ReachabilityError) {
    let labels = text.unicodeScalars.split(whereSeparator: \.separatesLabels)
    guard let last = labels.last, isNumber(last) else { return }
    let remedy =
      text.utf8.allSatisfy { $0 < 0x80 }
      ? "write four numbers from 0 to 255, such as 192.0.2.1"
      : "write an address with full stops and digits of ASCII, such as 192.0.2.1"
    throw ReachabilityError(.invalidAddress, "\(quoted(text)) is not an IPv4 address; \(remedy)")
  }

  /// Whether inet_aton(3) would take the label for a number: decimal, octal, or hexadecimal after `0x`.
  private static func isNumber(_ label: Substring.UnicodeScalarView) -> Bool {
    let label = label.map(\.narrow)
    guard label.allSatisfy(\.mayBecomeASCII) else { return false }
    let known = label.filter(\.isASCII).map(Character.init)
    if known.count < label.count {
      // Wherever the others could make a number of it, they are taken to do so.
      return known.allSatisfy { $0.isHexDigit || $0 == "x" || $0 == "X" }
    }
    let isHexadecimal = known.starts(with: "0x") || known.starts(with: "0X")
    return known.dropFirst(isHexadecimal ? 2 : 0).allSatisfy { isHexadecimal ? $0.isHexDigit : $0.isNumber }
  }
}
