// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CNetworkLab

extension NetworkLab {
  /// `ip [-6] rule add [not] pref PRIORITY … ACTION`.
  ///
  /// `from` and `to` are prefixes; `mark` is compared under `mask`; `inverted` is `not`. The ends of `uids` must exist;
  /// if ``canSwitchUser`` is false, only 0 does.
  package func addRule(
    priority: UInt32, _ action: LabRuleAction, family: LabFamily = .v4, mark: UInt32? = nil, mask: UInt32? = nil,
    inverted: Bool = false, uids: ClosedRange<UInt32>? = nil, iif: String? = nil, oif: String? = nil,
    from: String? = nil, to: String? = nil, suppressPrefixLength: UInt32? = nil
  ) throws {
    try rule(
      .add, priority: priority, action, family: family, mark: mark, mask: mask, inverted: inverted, uids: uids,
      iif: iif, oif: oif, from: from, to: to, suppressPrefixLength: suppressPrefixLength)
  }

  /// `ip [-6] rule del pref PRIORITY`: the first with that priority.
  package func deleteRule(priority: UInt32, family: LabFamily = .v4) throws {
    try rule(.delete, priority: priority, nil, family: family)
  }

  private func rule(
    _ verb: LabVerb, priority: UInt32, _ action: LabRuleAction?, family: LabFamily, mark: UInt32? = nil,
    mask: UInt32? = nil, inverted: Bool = false, uids: ClosedRange<UInt32>? = nil, iif: String? = nil,
    oif: String? = nil, from: String? = nil, to: String? = nil, suppressPrefixLength: UInt32? = nil
  ) throws {
    let source = try from.map { text throws(LabError) in try LabAddress(text) }
    let destination = try to.map { text throws(LabError) in try LabAddress(text) }
    var message = LabMessage(verb == .delete ? RTM_DELRULE : RTM_NEWRULE, flags: verb.flags)
    // struct fib_rule_hdr: family, destination and source length, tos, table (see FRA_TABLE), two unused, action, flags
    message.append(family.rawValue, destination?.prefix ?? 0, source?.prefix ?? 0, UInt8(0), UInt8(0), UInt8(0))
    message.append(UInt8(0), action?.code ?? 0, UInt32(inverted ? FIB_RULE_INVERT : 0))
    message.attribute(FRA_PRIORITY, priority)
    if let table = action?.table { message.attribute(FRA_TABLE, table) }
    if let destination { message.attribute(FRA_DST, destination.bytes) }
    if let source { message.attribute(FRA_SRC, source.bytes) }
    if let mark { message.attribute(FRA_FWMARK, mark) }
    if let mask { message.attribute(FRA_FWMASK, mask) }
    if let uids { message.attribute(FRA_UID_RANGE, LabMessage.integers(uids.lowerBound, uids.upperBound)) }
    if let iif { message.attribute(FRA_IIFNAME, iif) }
    if let oif { message.attribute(FRA_OIFNAME, oif) }
    if let suppressPrefixLength { message.attribute(FRA_SUPPRESS_PREFIXLEN, suppressPrefixLength) }
    let words = "ip \(family == .v6 ? "-6 " : "")rule \(verb) pref \(priority)"
    try writer.send(message, "\(words) \(action?.description ?? "")")
  }
}
#endif
