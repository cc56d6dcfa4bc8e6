// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

extension ReachabilityFlags {
  /// Each flag with its letter and its name, in the order of ``description``.
  private static let letters: [(flag: ReachabilityFlags, letter: Character, name: String)] = [
    (.isWWAN, "W", "isWWAN"),
    (.reachable, "R", "reachable"),
    (.transientConnection, "t", "transientConnection"),
    (.connectionRequired, "c", "connectionRequired"),
    (.connectionOnTraffic, "C", "connectionOnTraffic"),
    (.interventionRequired, "i", "interventionRequired"),
    (.connectionOnDemand, "D", "connectionOnDemand"),
    (.isLocalAddress, "l", "isLocalAddress"),
    (.isDirect, "d", "isDirect"),
  ]

  /// The same, in ascending order of their bits.
  private static let ascending = letters.sorted { $0.flag.rawValue < $1.flag.rawValue }

  /// The names of the flags that are set, in ascending order of their bits.
  package var names: [String] { Self.ascending.filter { contains($0.flag) }.map(\.name) }

  /// Nine characters, `WdlDiCcRt`, the most significant bit first, with `-` for each flag that is clear: "-------R-" is
  /// reachable and no more.
  ///
  /// SCNetworkReachabilityKit prints this form. ``init(_:)`` reads it.
  public var descriptionByBit: String {
    String(Self.ascending.reversed().map { contains($0.flag) ? $0.letter : "-" })
  }

  /// Reads what ``description`` or ``descriptionByBit`` wrote; the length tells which of the two it is.
  ///
  /// Returns `nil` if the text is neither form: each letter must be in its place, with nothing around the text. Bits
  /// without a letter are not written, so they are clear in what is read.
  ///
  /// - Parameter text: Ten characters, `WR tcCiDld`, or nine, `WdlDiCcRt`; `-` for a flag that is clear.
  public init?(_ text: some StringProtocol) {
    // By scalars: a combining mark must not hide behind the letter that it follows.
    let scalars = text.unicodeScalars.map(Character.init)
    let places: [(flag: ReachabilityFlags, letter: Character)?]? =
      switch scalars.count {
      case 10: Self.letters.flatMap { [($0.flag, $0.letter)] + ($0.flag == .reachable ? [nil] : []) }
      case 9: Self.ascending.reversed().map { ($0.flag, $0.letter) }
      default: nil
      }
    guard let places else { return nil }
    self = []
    for (character, place) in zip(scalars, places) {
      switch (character, place) {
      case (" ", nil): break
      case ("-", _?): break
      case (_, let (flag, letter)?) where letter == character: insert(flag)
      default: return nil
      }
    }
  }
}

extension ReachabilityFlags: CustomStringConvertible {
  /// Ten characters, `WR tcCiDld`, with `-` for each flag that is clear: "-R -------" is reachable and no more.
  ///
  /// Apple's Reachability sample and RKReachabilityObserver print this form. ``init(_:)`` reads it.
  public var description: String {
    var text = ""
    for (flag, letter, _) in Self.letters {
      text.append(contains(flag) ? letter : "-")
      if flag == .reachable { text.append(" ") }
    }
    return text
  }
}

extension ReachabilityFlags {
  /// The flags in words for a person: "reachable over a cellular interface, once a connection is made".
  ///
  /// It says only what concerns a person most. Of several ways, that is in this order: cellular, this machine,
  /// transient, direct. Of several conditions: somebody has to act, traffic, demand. Without `reachable` it is "not
  /// reachable", no matter what else is set. ``description`` leaves nothing out.
  ///
  /// - Parameter translation: The words of another language.
  /// - Returns: The words.
  public func summary(in translation: ReachabilityTranslation = .english) -> String {
    guard contains(.reachable) else { return translation[.flagsUnreachable] }
    func first(_ texts: [(flag: ReachabilityFlags, text: ReachabilityText)]) -> ReachabilityText? {
      texts.first { contains($0.flag) }?.text
    }
    let state =
      first([
        (.isWWAN, .flagsReachableCellular), (.isLocalAddress, .flagsReachableLocalAddress),
        (.transientConnection, .flagsReachableTransient), (.isDirect, .flagsReachableDirect),
      ]) ?? .flagsReachable
    guard contains(.connectionRequired) else { return translation[state] }
    let condition =
      first([
        (.interventionRequired, .flagsOnIntervention), (.connectionOnTraffic, .flagsOnTraffic),
        (.connectionOnDemand, .flagsOnDemand),
      ]) ?? .flagsOnConnection
    return translation.fill(
      .flagsConditional, ["state": translation[state], "condition": translation[condition]])
  }
}
