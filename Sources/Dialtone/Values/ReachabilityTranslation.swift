// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The words of another language for the texts of this library, by key.
///
/// ```swift
/// let german = ReachabilityTranslation([
///   "status.reachable": "erreichbar", "state.interface": "{status} über {interface}",
/// ])
/// label.text = monitor.current.description(in: german)  // "erreichbar über Wi-Fi (wlan0)"
/// ```
///
/// With Foundation, the words come from the app's own tables of strings:
///
/// ```swift
/// let localized = ReachabilityTranslation { text in
///   Bundle.main.localizedString(forKey: text.key, value: text.english, table: "Reachability")
/// }
/// ```
///
/// ``ReachabilityText/all`` lists what you can translate. What you do not translate stays English.
public struct ReachabilityTranslation: Sendable {
  private let translate: @Sendable (ReachabilityText) -> String?

  /// No other language.
  public static let english = ReachabilityTranslation { _ in nil }

  /// Asks `translate` for the words whenever they are needed, on the thread that needs them.
  ///
  /// - Parameter translate: Returns the words for a text, with the same braces, or `nil` for the English ones.
  public init(_ translate: @escaping @Sendable (ReachabilityText) -> String?) { self.translate = translate }

  /// Takes the words from a table, by ``ReachabilityText/key``. Unknown keys do no harm.
  public init(_ table: [String: String]) { self.init { table[$0.key] } }

  /// The translated words for `text`, or the English ones. Braces are not filled in.
  subscript(text: ReachabilityText) -> String { translate(text) ?? text.english }

  /// Returns the words for `text`, with the names in braces replaced by their values. Unknown names stay. Braces inside
  /// values are not replaced: a value may be the name of an interface, which may be anything.
  func fill(_ text: ReachabilityText, _ values: KeyValuePairs<String, String>) -> String {
    var rest = self[text][...]
    var result = ""
    while let open = rest.firstIndex(of: "{") {
      result += rest[..<open]
      rest = rest[open...]
      let value = values.first { rest.hasPrefix("{\($0.key)}") }
      result += value?.value ?? "{"
      rest = rest.dropFirst(value.map { $0.key.count + 2 } ?? 1)
    }
    return result + rest
  }
}

extension Reachability {
  /// The state in the words of `translation`; see ``description``.
  public func description(in translation: ReachabilityTranslation) -> String {
    let status = status.description(in: translation)
    let interface = interface?.description(in: translation)
    let reason = reason?.description(in: translation)
    return switch (interface, reason) {
    case (nil, nil): translation.fill(.stateAlone, ["status": status])
    case (let interface?, nil): translation.fill(.stateOverInterface, ["status": status, "interface": interface])
    case (nil, let reason?): translation.fill(.stateForReason, ["status": status, "reason": reason])
    case (let interface?, let reason?):
      translation.fill(
        .stateOverInterfaceForReason, ["status": status, "interface": interface, "reason": reason])
    }
  }
}

extension Reachability.Status {
  /// The status in the words of `translation`; in English, for instance, "requires a connection".
  public func description(in translation: ReachabilityTranslation) -> String { translation[.status(self)] }
}

extension Reachability.Reason {
  /// The reason in the words of `translation`; see ``description``.
  public func description(in translation: ReachabilityTranslation) -> String { translation[.reason(self)] }
}

extension NetworkPath {
  /// The path in the words of `translation`; see ``description``.
  public func description(in translation: ReachabilityTranslation) -> String {
    let status = status.description(in: translation)
    let reason = reason?.description(in: translation)
    let names = leading.map { $0.identity.description(in: translation) }
    let interfaces = names.first.map { first in
      names.dropFirst().reduce(first) {
        translation.fill(.pathNextInterface, ["interfaces": $0, "interface": $1])
      }
    }
    // There are never both: only a satisfied path has leading interfaces, and it has no reason.
    var text =
      if let interfaces {
        translation.fill(.pathOverInterfaces, ["status": status, "interfaces": interfaces])
      } else if let reason {
        translation.fill(.pathForReason, ["status": status, "reason": reason])
      } else {
        translation.fill(.pathAlone, ["status": status])
      }
    if isExpensive { text = translation.fill(.pathExpensive, ["path": text]) }
    if isConstrained { text = translation.fill(.pathConstrained, ["path": text]) }
    return text
  }
}

extension NetworkPath.Status {
  /// The status in the words of `translation`; in English, for instance, "unsatisfied".
  public func description(in translation: ReachabilityTranslation) -> String { translation[.pathStatus(self)] }
}
