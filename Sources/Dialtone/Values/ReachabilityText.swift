// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// A text for people, in English, under a key that never changes, so that you can translate it.
///
/// ``all`` lists the texts: all words that describe states, flags, interfaces and paths. A ``ReachabilityTranslation``
/// has the words of another language; a text that it lacks stays English. Messages of errors are only in English. So
/// are the descriptions of targets and monitors, which name what was typed.
///
/// | keys | texts |
/// |---|---|
/// | `status.` and the ``Reachability/Status-swift.enum/identifier`` | each status |
/// | `reason.` and the ``Reachability/Reason-swift.struct/identifier`` | each reason |
/// | `kind.` and the ``InterfaceKind/identifier`` | each kind of interface |
/// | `interface` | how an interface is named, with `{kind}` and `{name}` |
/// | `state…` | the forms of a ``Reachability/description``, with `{status}`, `{interface}` and `{reason}` |
/// | `flags…` | the phrases of a ``ReachabilityFlags/summary(in:)``, with `{state}` and `{condition}` |
/// | `path-status.` and the ``NetworkPath/Status/identifier`` | each status of a path |
/// | `path…` | the forms of a ``NetworkPath/description``, with `{status}`, `{interfaces}`, `{reason}` and `{path}` |
///
/// Names in braces are filled in. A translation may contain them in any order. More texts will come, with more reasons
/// and kinds.
public struct ReachabilityText: Hashable, Sendable {
  /// The text's name in a table of translations, such as `reason.no-route`. It never changes.
  public let key: String

  /// The text in English, such as "no route to the destination".
  public let english: String

  private init(_ key: String, _ english: String) {
    self.key = key
    self.english = english
  }
}

extension ReachabilityText {
  /// Every text, in a fixed order: what a translator has to translate.
  public static let all: [ReachabilityText] =
    Reachability.Status.allCases.map(status)
    + Reachability.Reason.all.map(reason) + InterfaceKind.all.map(kind) + [interface]
    + [stateAlone, stateOverInterface, stateForReason, stateOverInterfaceForReason]
    + [flagsUnreachable, flagsReachable, flagsReachableCellular, flagsReachableLocalAddress]
    + [flagsReachableTransient, flagsReachableDirect, flagsConditional, flagsOnConnection, flagsOnTraffic]
    + [flagsOnDemand, flagsOnIntervention]
    + [NetworkPath.Status.undetermined, .unsatisfied, .requiresConnection, .satisfied].map(pathStatus)
    + [pathAlone, pathOverInterfaces, pathForReason]
    + [pathNextInterface, pathExpensive, pathConstrained]

  /// A status, such as "requires a connection".
  static func status(_ status: Reachability.Status) -> ReachabilityText { Self("status", ofStatus: status.identifier) }

  private init(_ group: String, ofStatus identifier: String) {
    self.init("\(group).\(identifier)", identifier == "requires-connection" ? "requires a connection" : identifier)
  }

  /// A reason, such as "no route to the destination".
  static func reason(_ reason: Reachability.Reason) -> ReachabilityText {
    Self("reason.\(reason.identifier)", reason.description)
  }

  /// A kind of interface, such as "Wi-Fi".
  static func kind(_ kind: InterfaceKind) -> ReachabilityText {
    Self("kind.\(kind.identifier)", kind.description)
  }

  static let interface = Self("interface", "{kind} ({name})")

  static let stateAlone = Self("state", "{status}")
  static let stateOverInterface = Self("state.interface", "{status} via {interface}")
  static let stateForReason = Self("state.reason", "{status}: {reason}")
  static let stateOverInterfaceForReason = Self("state.interface-and-reason", "{status} via {interface}: {reason}")

  static let flagsUnreachable = Self("flags.unreachable", "not reachable")
  static let flagsReachable = Self("flags.reachable", "reachable")
  static let flagsReachableCellular = Self("flags.reachable-cellular", "reachable over a cellular interface")
  static let flagsReachableLocalAddress = Self("flags.reachable-local-address", "reachable on this machine")
  static let flagsReachableTransient = Self("flags.reachable-transient", "reachable over a transient connection")
  static let flagsReachableDirect = Self("flags.reachable-direct", "reachable without a gateway")

  static let flagsConditional = Self("flags.conditional", "{state}, {condition}")
  static let flagsOnConnection = Self("flags.on-connection", "once a connection is made")
  static let flagsOnTraffic = Self("flags.on-traffic", "once traffic makes a connection")
  static let flagsOnDemand = Self("flags.on-demand", "once a connection is made on demand")
  static let flagsOnIntervention = Self("flags.on-intervention", "once somebody acts and a connection is made")

  /// A path's status, such as "satisfied".
  static func pathStatus(_ status: NetworkPath.Status) -> ReachabilityText {
    Self("path-status", ofStatus: status.identifier)
  }

  static let pathAlone = Self("path", "{status}")
  static let pathOverInterfaces = Self("path.interfaces", "{status} via {interfaces}")
  static let pathForReason = Self("path.reason", "{status}: {reason}")
  static let pathNextInterface = Self("path.next-interface", "{interfaces}, {interface}")
  static let pathExpensive = Self("path.expensive", "{path}, expensive")
  static let pathConstrained = Self("path.constrained", "{path}, constrained")
}
