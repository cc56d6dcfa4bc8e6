// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct TranslationTests {
  /// Keys that translators rely on. They never change. If the library gets a new one, it is added here.
  static let keys: [(key: String, english: String)] = [
    ("status.undetermined", "undetermined"), ("status.unreachable", "unreachable"),
    ("status.requires-connection", "requires a connection"), ("status.reachable", "reachable"),
    ("reason.no-route", "no route to the destination"),
    ("reason.unreachable-route", "an unreachable route stands in the way"),
    ("reason.prohibited", "a route or rule prohibits it"), ("reason.blackhole", "a blackhole route swallows it"),
    ("reason.link-down", "the interface is down"),
    ("reason.no-carrier", "no carrier: nothing is connected to the interface"),
    ("reason.no-address", "no usable source address"), ("reason.no-interface", "the interface does not exist"),
    ("reason.name-not-resolved", "the name could not be resolved"),
    ("reason.denied", "the system denies access to the network's state"),
    ("reason.dormant", "the link is dormant: it waits to be let in"), ("reason.no-session", "the modem has no session"),
    ("reason.radio-blocked", "the radio is blocked"),
    (
      "reason.out-of-descriptors",
      "no file descriptor is left: raise the limit of the process (ulimit -n) or of the system (fs.file-max)"
    ),
    (
      "reason.out-of-threads",
      "no thread is left: raise the limit of the user (ulimit -u) or of the control group (pids.max)"
    ), ("reason.out-of-memory", "the system has no memory left"), ("kind.wifi", "Wi-Fi"), ("kind.cellular", "cellular"),
    ("kind.wired", "wired"), ("kind.loopback", "loopback"), ("kind.tunnel", "tunnel"), ("kind.other", "other"),
    ("interface", "{kind} ({name})"), ("state", "{status}"), ("state.interface", "{status} via {interface}"),
    ("state.reason", "{status}: {reason}"), ("state.interface-and-reason", "{status} via {interface}: {reason}"),
    ("flags.unreachable", "not reachable"), ("flags.reachable", "reachable"),
    ("flags.reachable-cellular", "reachable over a cellular interface"),
    ("flags.reachable-local-address", "reachable on this machine"),
    ("flags.reachable-transient", "reachable over a transient connection"),
    ("flags.reachable-direct", "reachable without a gateway"), ("flags.conditional", "{state}, {condition}"),
    ("flags.on-connection", "once a connection is made"), ("flags.on-traffic", "once traffic makes a connection"),
    ("flags.on-demand", "once a connection is made on demand"),
    ("flags.on-intervention", "once somebody acts and a connection is made"),
    ("path-status.undetermined", "undetermined"), ("path-status.unsatisfied", "unsatisfied"),
    ("path-status.requires-connection", "requires a connection"), ("path-status.satisfied", "satisfied"),
    ("path", "{status}"), ("path.interfaces", "{status} via {interfaces}"), ("path.reason", "{status}: {reason}"),
    ("path.next-interface", "{interfaces}, {interface}"), ("path.expensive", "{path}, expensive"),
    ("path.constrained", "{path}, constrained"),
  ]

  @Test func everyKeyIsListedOnce() {
    #expect(ReachabilityText.all.map(\.key) == Self.keys.map(\.key))
    #expect(ReachabilityText.all.map(\.english) == Self.keys.map(\.english))
    #expect(Set(ReachabilityText.all).count == ReachabilityText.all.count)
  }

  /// Counts the declarations: a value that is missing from the tables would be missing from `all`, too.
  @Test(arguments: [
    ("Reachability+Reason.swift", "public static let ", "= Reason(code:", "reason."),
    ("InterfaceKind.swift", "public static let ", "= InterfaceKind(code:", "kind."),
    ("Reachability.swift", "    case ", "", "status."), ("NetworkPath.swift", "    case ", "", "path-status."),
    ("ReachabilityText.swift", "  static let ", "= Self(", ""),
  ])
  func whateverIsDeclaredHasAKey(file: String, start: String, end: String, prefix: String) throws {
    let declared = try sourceText("Sources/Dialtone/Values/\(file)").split(separator: "\n").count { line in
      // The cases of a switch end with a colon.
      line.contains(start) && line.contains(end) && (start != "    case " || !line.contains(":"))
    }
    let listed = ReachabilityText.all.count { text in
      prefix.isEmpty
        ? !["status.", "reason.", "kind.", "path-status."].contains { text.key.hasPrefix($0) }
        : text.key.hasPrefix(prefix)
    }
    #expect(declared > 0)
    #expect(listed == declared, "\(file)")
  }

  /// Words made of the key, with the braces of the English text in reverse order.
  private static let mirrored = ReachabilityTranslation { text in
    let braces = text.english.split(separator: "{", omittingEmptySubsequences: false).dropFirst().map {
      "{\($0.prefix { $0 != "}" })}"
    }
    return "<" + ([text.key] + braces.reversed()).joined(separator: " ") + ">"
  }

  private func state(_ path: ScriptedPath) async throws -> Reachability {
    let network = scriptedNetwork()
    network.set(path)
    return try await network.monitor().waitUntilKnown()
  }

  @Test func everyFormIsTranslated() async throws {
    let mirrored = Self.mirrored
    let wifi = "<interface wlan0 <kind.wifi>>"
    let reachable = try await state(.wifi)
    #expect(reachable.description(in: mirrored) == "<state.interface \(wifi) <status.reachable>>")
    let unreachable = try await state(.unreachable())
    #expect(unreachable.description(in: mirrored) == "<state.reason <reason.no-route> <status.unreachable>>")
    let dormant = try await state(.requiresConnection(.dormant, over: interface("wlan0")))
    #expect(
      dormant.description(in: mirrored)
        == "<state.interface-and-reason <reason.dormant> \(wifi) <status.requires-connection>>")
    #expect(dormant.flags.summary(in: mirrored) == "<flags.conditional <flags.on-traffic> <flags.reachable>>")
    #expect(Reachability.unknown.description(in: mirrored) == "<state <status.undetermined>>")
  }

  @Test func everyFormOfAPathIsTranslated() {
    let wifi = NetworkPath.Interface(interface("wlan0"))
    let cellular = NetworkPath.Interface(interface("wwan0", 4, .cellular), isExpensive: true, isConstrained: true)
    func text(_ path: NetworkPath) -> String { path.description(in: Self.mirrored) }
    #expect(text(NetworkPath(.undetermined)) == "<path <path-status.undetermined>>")
    #expect(
      text(NetworkPath(.unsatisfied, reason: .noRoute)) == "<path.reason <reason.no-route> <path-status.unsatisfied>>")
    #expect(
      text(NetworkPath(.requiresConnection, reason: .noSession))
        == "<path.reason <reason.no-session> <path-status.requires-connection>>")
    let names = "<path.next-interface <interface wwan0 <kind.cellular>> <interface wlan0 <kind.wifi>>>"
    let used = "<path.interfaces \(names) <path-status.satisfied>>"
    #expect(text(NetworkPath(.satisfied, interfaces: [wifi, cellular])) == used)
    let costly = text(NetworkPath(.satisfied, interfaces: [cellular]))
    let over = "<path.interfaces <interface wwan0 <kind.cellular>> <path-status.satisfied>>"
    #expect(costly == "<path.constrained <path.expensive \(over)>>")
  }

  @Test func everyValueIsTranslatedByItsKey() throws {
    for text in ReachabilityText.all {
      let parts = text.key.split(separator: ".")
      let translated: String? =
        switch parts.first {
        case "reason": try #require(Reachability.Reason(identifier: parts[1])).description(in: Self.mirrored)
        case "kind": try #require(InterfaceKind(identifier: parts[1])).description(in: Self.mirrored)
        default: nil
        }
      if let translated { #expect(translated == "<\(text.key)>") }
    }
    #expect(Reachability.Status.requiresConnection.description(in: .english) == "requires a connection")
  }

  @Test func everyPhraseOfFlagsHasAKey() {
    let phrases = Set(
      ReachabilityFlags.combinations.map { $0.summary(in: Self.mirrored) }.flatMap { summary in
        summary.split { "<> ".contains($0) }.map(String.init)
      })
    let keys = Self.keys.map(\.key).filter { $0.hasPrefix("flags.") }
    #expect(phrases == Set(keys))
  }

  @Test func missingWordsAreEnglish() async throws {
    let partial = ReachabilityTranslation([
      "status.reachable": "erreichbar", "state.interface": "{interface}: {status}", "x": "y",
    ])
    #expect(try await state(.wifi).description(in: partial) == "Wi-Fi (wlan0): erreichbar")
    #expect(try await state(.unreachable()).description(in: partial) == "unreachable: no route to the destination")
    #expect(Reachability.Status.unreachable.description(in: partial) == "unreachable")
    for path in [ScriptedPath.wifi, .unreachable(), .requiresConnection(.noSession, over: interface("wwan0"))] {
      let state = try await state(path)
      #expect(state.description(in: .english) == state.description)
      #expect(state.description(in: ReachabilityTranslation([:])) == state.description)
    }
  }

  @Test func whatIsFilledInIsNotLookedInto() async throws {
    let state = try await state(.reachable(over: interface("{status}{x")))
    #expect(state.description == "reachable via Wi-Fi ({status}{x)")
  }

  @Test(arguments: [
    ("{", "{"), ("}{", "}{"), ("{status", "{status"), ("{Status}", "{Status}"), ("{{status}}", "{reachable}"),
    ("{status}{status}", "reachablereachable"), ("", ""), ("none", "none"), ("{interface}", "Wi-Fi (wlan0)"),
    ("{reason}", "{reason}"),
  ])
  func bracesOfNoKnownNameStay(form: String, text: String) async throws {
    let translation = ReachabilityTranslation(["state.interface": form])
    #expect(try await state(.wifi).description(in: translation) == text)
  }
}
