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

  /// An interface by its kind and its name: "Wi-Fi (wlan0)".
  static let interface = ReachabilityText("interface", "{kind} ({name})")

  /// A state of which nothing but the status is known.
  static let stateAlone = ReachabilityText("state", "{status}")
  /// A state over an interface: "reachable via Wi-Fi (wlan0)".
  static let stateOverInterface = ReachabilityText("state.interface", "{status} via {interface}")
  /// A state that has a reason: "unreachable: no route to the destination".
  static let stateForReason = ReachabilityText("state.reason", "{status}: {reason}")
  /// A state over an interface that has a reason.
  static let stateOverInterfaceForReason = ReachabilityText(
    "state.interface-and-reason", "{status} via {interface}: {reason}")

  /// Flags without `reachable`.
  static let flagsUnreachable = ReachabilityText("flags.unreachable", "not reachable")
  /// Flags that say that the target is reachable, and nothing of the way.
  static let flagsReachable = ReachabilityText("flags.reachable", "reachable")
  /// Reachable, with `isWWAN`.
  static let flagsReachableCellular = ReachabilityText(
    "flags.reachable-cellular", "reachable over a cellular interface")
  /// Reachable, with `isLocalAddress`.
  static let flagsReachableLocalAddress = ReachabilityText(
    "flags.reachable-local-address", "reachable on this machine")
  /// Reachable, with `transientConnection`, and not over a cellular interface.
  static let flagsReachableTransient = ReachabilityText(
    "flags.reachable-transient", "reachable over a transient connection")
  /// Reachable, with `isDirect`.
  static let flagsReachableDirect = ReachabilityText("flags.reachable-direct", "reachable without a gateway")

  /// One of the phrases on being reachable, with one of the conditions.
  static let flagsConditional = ReachabilityText("flags.conditional", "{state}, {condition}")
  /// The condition if `connectionRequired` stands alone.
  static let flagsOnConnection = ReachabilityText("flags.on-connection", "once a connection is made")
  /// The condition if traffic makes the connection.
  static let flagsOnTraffic = ReachabilityText("flags.on-traffic", "once traffic makes a connection")
  /// The condition if a demand makes the connection.
  static let flagsOnDemand = ReachabilityText("flags.on-demand", "once a connection is made on demand")
  /// The condition if somebody has to act.
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

  /// A path of which nothing but the status is known.
  static let pathAlone = ReachabilityText("path", "{status}")
  /// A path over interfaces: "satisfied via Wi-Fi (wlan0), wired (eth0)".
  static let pathOverInterfaces = ReachabilityText("path.interfaces", "{status} via {interfaces}")
  /// A path that has a reason: "unsatisfied: no route to the destination".
  static let pathForReason = ReachabilityText("path.reason", "{status}: {reason}")
  /// One more interface after others, or after the first.
  static let pathNextInterface = ReachabilityText("path.next-interface", "{interfaces}, {interface}")
  /// Any of these forms, of a path that may cost money.
  static let pathExpensive = ReachabilityText("path.expensive", "{path}, expensive")
  /// Any of these forms, of a path that is to be used sparingly.
  static let pathConstrained = ReachabilityText("path.constrained", "{path}, constrained")
}
