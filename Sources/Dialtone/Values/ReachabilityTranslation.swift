// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The words of another language for the texts of this library, by key.
///
/// ```swift
/// let german = ReachabilityTranslation(["status.reachable": "erreichbar", "state.interface": "{status} über {interface}"])
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
/// ``ReachabilityText/all`` lists what can be translated; English stands in for whatever is not.
public struct ReachabilityTranslation: Sendable {
  private let translate: @Sendable (ReachabilityText) -> String?

  /// No other language.
  public static let english = ReachabilityTranslation { _ in nil }

  /// Asks `translate` for the words each time that they are needed, on the thread that needs them.
  ///
  /// - Parameter translate: Gives the words for a text, with the same braces, or `nil` for the English ones.
  public init(_ translate: @escaping @Sendable (ReachabilityText) -> String?) { self.translate = translate }

  /// Takes the words from a table, by ``ReachabilityText/key``. Keys that there are not do no harm.
  public init(_ table: [String: String]) { self.init { table[$0.key] } }

  /// The words for `text`: the translated ones, or else the English ones. Braces are not filled in.
  public subscript(text: ReachabilityText) -> String { translate(text) ?? text.english }

  /// The words for `text` with what stands in braces filled in. Braces of no known name stay, and what is filled in is
  /// not looked into: it holds the names of interfaces, which may be anything.
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
