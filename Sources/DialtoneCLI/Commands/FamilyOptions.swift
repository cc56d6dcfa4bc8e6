// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Dialtone

/// The families that count: the same for all commands.
struct FamilyOptions: ParsableArguments {
  @Flag(name: .customShort("4"), help: "Only IPv4 counts.")
  var onlyIPv4 = false

  @Flag(name: .customShort("6"), help: "Only IPv6 counts.")
  var onlyIPv6 = false

  /// `nil` is both.
  var family: IPAddress.Family? { onlyIPv4 ? .ipv4 : onlyIPv6 ? .ipv6 : nil }

  func validate() throws {
    if onlyIPv4, onlyIPv6 { throw ValidationError("-4 and -6 exclude each other; give one of them, or none for both") }
  }
}
