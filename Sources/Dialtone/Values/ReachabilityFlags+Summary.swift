// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

extension ReachabilityFlags {
  /// The flags in words for a person: "reachable over a cellular interface, once a connection is made".
  ///
  /// It says what concerns a person most: of several ways that the flags name, cellular before this machine, before
  /// transient, before direct; of several conditions, that somebody has to act before traffic, before demand. Without
  /// `reachable` it is "not reachable", whatever else is set. ``description`` leaves nothing out.
  public var summary: String { summary(in: .english) }

  /// The ``summary`` in the words of `translation`.
  public func summary(in translation: ReachabilityTranslation) -> String {
    guard contains(.reachable) else { return translation[.flagsUnreachable] }
    let state: ReachabilityText =
      if contains(.isWWAN) {
        .flagsReachableCellular
      } else if contains(.isLocalAddress) {
        .flagsReachableLocalAddress
      } else if contains(.transientConnection) {
        .flagsReachableTransient
      } else if contains(.isDirect) {
        .flagsReachableDirect
      } else {
        .flagsReachable
      }
    guard contains(.connectionRequired) else { return translation[state] }
    let condition: ReachabilityText =
      if contains(.interventionRequired) {
        .flagsOnIntervention
      } else if contains(.connectionOnTraffic) {
        .flagsOnTraffic
      } else if contains(.connectionOnDemand) {
        .flagsOnDemand
      } else {
        .flagsOnConnection
      }
    return translation.fill(
      .flagsConditional, ["state": translation[state], "condition": translation[condition]])
  }
}
