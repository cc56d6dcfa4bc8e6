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
/// | `flags…` | the phrases of a ``ReachabilityFlags/summary``, with `{state}` and `{condition}` |
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
    [Reachability.Status.undetermined, .unreachable, .requiresConnection, .reachable].map(status)
    + Reachability.Reason.all.map(reason) + InterfaceKind.all.map(kind) + [interface]
    + [stateAlone, stateOverInterface, stateForReason, stateOverInterfaceForReason]
    + [flagsUnreachable, flagsReachable, flagsReachableCellular, flagsReachableLocalAddress]
    + [flagsReachableTransient, flagsReachableDirect, flagsConditional, flagsOnConnection, flagsOnTraffic]
    + [flagsOnDemand, flagsOnIntervention]
    + [NetworkPath.Status.undetermined, .unsatisfied, .requiresConnection, .satisfied].map(pathStatus)
    + [pathAlone, pathOverInterfaces, pathForReason]
    + [pathNextInterface, pathExpensive, pathConstrained]

  /// A status, such as "requires a connection".
  public static func status(_ status: Reachability.Status) -> ReachabilityText {
    let english =
      switch status {
      case .undetermined: "undetermined"
      case .unreachable: "unreachable"
      case .requiresConnection: "requires a connection"
      case .reachable: "reachable"
      }
    return ReachabilityText("status.\(status.identifier)", english)
  }

  /// A reason, such as "no route to the destination".
  public static func reason(_ reason: Reachability.Reason) -> ReachabilityText {
    ReachabilityText("reason.\(reason.identifier)", reason.description)
  }

  /// A kind of interface, such as "Wi-Fi".
  public static func kind(_ kind: InterfaceKind) -> ReachabilityText {
    ReachabilityText("kind.\(kind.identifier)", kind.description)
  }

  static let interface = ReachabilityText("interface", "{kind} ({name})")

  static let stateAlone = ReachabilityText("state", "{status}")
  static let stateOverInterface = ReachabilityText("state.interface", "{status} via {interface}")
  static let stateForReason = ReachabilityText("state.reason", "{status}: {reason}")
  static let stateOverInterfaceForReason = ReachabilityText(
    "state.interface-and-reason", "{status} via {interface}: {reason}")

  static let flagsUnreachable = ReachabilityText("flags.unreachable", "not reachable")
  static let flagsReachable = ReachabilityText("flags.reachable", "reachable")
  static let flagsReachableCellular = ReachabilityText(
    "flags.reachable-cellular", "reachable over a cellular interface")
  static let flagsReachableLocalAddress = ReachabilityText(
    "flags.reachable-local-address", "reachable on this machine")
  static let flagsReachableTransient = ReachabilityText(
    "flags.reachable-transient", "reachable over a transient connection")
  static let flagsReachableDirect = ReachabilityText("flags.reachable-direct", "reachable without a gateway")

  static let flagsConditional = ReachabilityText("flags.conditional", "{state}, {condition}")
  static let flagsOnConnection = ReachabilityText("flags.on-connection", "once a connection is made")
  static let flagsOnTraffic = ReachabilityText("flags.on-traffic", "once traffic makes a connection")
  static let flagsOnDemand = ReachabilityText("flags.on-demand", "once a connection is made on demand")
  static let flagsOnIntervention = ReachabilityText(
    "flags.on-intervention", "once somebody acts and a connection is made")

  /// A path's status, such as "satisfied".
  public static func pathStatus(_ status: NetworkPath.Status) -> ReachabilityText {
    let english =
      switch status {
      case .undetermined: "undetermined"
      case .unsatisfied: "unsatisfied"
      case .requiresConnection: "requires a connection"
      case .satisfied: "satisfied"
      }
    return ReachabilityText("path-status.\(status.identifier)", english)
  }

  static let pathAlone = ReachabilityText("path", "{status}")
  static let pathOverInterfaces = ReachabilityText("path.interfaces", "{status} via {interfaces}")
  static let pathForReason = ReachabilityText("path.reason", "{status}: {reason}")
  static let pathNextInterface = ReachabilityText("path.next-interface", "{interfaces}, {interface}")
  static let pathExpensive = ReachabilityText("path.expensive", "{path}, expensive")
  static let pathConstrained = ReachabilityText("path.constrained", "{path}, constrained")
}
