// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Testing

@testable import DialtoneCLI
@testable import DialtoneDiagnosis

/// What `explain` prints of a verdict, laid out by hand.
struct ExplainTextTests {
  private static let plain = Style(isColoured: false)
  private static let coloured = Style(isColoured: true)

  private static func step(
    _ kind: DiagnosisStep.Kind, _ family: IPAddress.Family?, _ outcome: DiagnosisStep.Outcome, _ text: String,
    evidence: [DiagnosisEvidence] = [], charge: Charge? = nil
  ) -> DiagnosisStep {
    DiagnosisStep(
      kind: kind, family: family, outcome: outcome, text: text, evidence: evidence, charge: charge, advice: nil)
  }

  private static func verdict(
    _ charge: Charge?, _ words: DiagnosisVerdict, isFine: Bool = false
  ) throws -> DiagnosisVerdict {
    let router = try #require(IPAddress("192.0.2.1"))
    let answer = Finding.beyond(BeyondFinding([BeyondFinding.Question(router, .answer)]))
    let success = isFine ? Success(of: .internet, in: [answer]) : nil
    return DiagnosisVerdict(
      target: "internet", charge: charge, success: success, findings: [], elapsed: .microseconds(12_340),
      summary: words.summary, details: words.details, advice: words.advice, works: words.works, others: words.others,
      steps: words.steps)
  }

  private static func words(
    _ summary: String, details: [String] = [], advice: String? = nil, works: [String] = [], others: [String] = []
  ) -> DiagnosisVerdict {
    DiagnosisVerdict(
      target: "", charge: nil, success: nil, findings: [], elapsed: .zero, summary: summary, details: details,
      advice: advice, works: works, others: others)
  }

  // MARK: The verdict

  @Test func saysWhatIsWrongAndWhatToTry() throws {
    let silent = Charge(.gatewaySilent, nil)
    let words = Self.words(
      "The gateway is silent.", details: ["It was asked.", "Twice."], advice: "Restart it.",
      works: ["eth0 up", "IPv4"],
      others: ["no IPv6"])
    let formatter = ExplainFormatter(style: Self.plain, columns: nil)
    #expect(
      formatter.lines(for: try Self.verdict(silent, words)) == """
        ✗ The gateway is silent.
          It was asked.
          Twice.
          try    Restart it.
          works  eth0 up · IPv4
          not    no IPv6
        cause: gateway-silent (likely)
        """)
    let bare = try Self.verdict(silent, Self.words("The gateway is silent."))
    #expect(formatter.lines(for: bare) == "✗ The gateway is silent.\ncause: gateway-silent (likely)")
    // What the kernel says is proven.
    let address = try #require(IPAddress("192.0.2.7"))
    let proof = try #require(DiagnosisProof(KernelFinding(.route(.missing), target: address)))
    let proven = try Self.verdict(Charge(.noRoute, proof), Self.words("There is no route."))
    #expect(formatter.lines(for: proven) == "✗ There is no route.\ncause: no-route (certain)")
  }

  @Test func marksWhatIsFineAndWhatIsNotKnown() throws {
    let formatter = ExplainFormatter(style: Self.plain, columns: nil)
    let fine = try Self.verdict(nil, Self.words("Nothing is wrong."), isFine: true)
    #expect(formatter.lines(for: fine) == "✓ Nothing is wrong.")
    #expect(
      formatter.lines(for: try Self.verdict(nil, Self.words("Nobody knows.", works: ["IPv4"])))
        == "? Nobody knows.\n  works  IPv4")
  }

  /// Green, yellow and red are the summary's; what names a line is faint.
  @Test func coloursTheSummary() throws {
    let formatter = ExplainFormatter(style: Self.coloured, columns: 30)
    let bad = try Self.verdict(
      Charge(.gatewaySilent, nil), Self.words("The gateway of this machine is silent.", advice: "Restart it."))
    #expect(
      formatter.lines(for: bad) == """
        \u{1B}[31m✗ The gateway of this machine\u{1B}[0m
        \u{1B}[31m  is silent.\u{1B}[0m
        \u{1B}[2m  try    \u{1B}[0mRestart it.
        cause: gateway-silent (likely)
        """)
    #expect(formatter.lines(for: try Self.verdict(nil, Self.words("a"), isFine: true)) == "\u{1B}[32m✓ a\u{1B}[0m")
    #expect(formatter.lines(for: try Self.verdict(nil, Self.words("a"))) == "\u{1B}[33m? a\u{1B}[0m")
  }

  /// Of 40 columns the label takes nine. Two texts share a line if they, the mark between them and the one behind them
  /// have room.
  @Test func putsTextsOnALineIfTheyHaveRoom() throws {
    let formatter = ExplainFormatter(style: Self.plain, columns: 40)
    func lines(_ works: String...) throws -> [Substring] {
      let verdict = try Self.verdict(nil, Self.words("a", works: works))
      return Array(formatter.lines(for: verdict).split(separator: "\n").dropFirst())
    }
    let thirteen = String(repeating: "x", count: 13)
    #expect(try lines(thirteen, thirteen) == ["  works  \(thirteen) · \(thirteen)"])
    #expect(try lines(thirteen, thirteen + "y") == ["  works  \(thirteen) ·", "         \(thirteen)y"])
    // The mark stands at the end of a line if it has room.
    let long = String(repeating: "x", count: 29)
    #expect(try lines(long, "b") == ["  works  \(long) ·", "         b"])
    #expect(try lines(long + "y", "b") == ["  works  \(long)y", "         b"])
  }

  @Test func breaksDetailsAndAdvice() throws {
    let words = Self.words("a", details: ["one two three four five"], advice: "one two three four")
    #expect(
      ExplainFormatter(style: Self.plain, columns: 20).lines(for: try Self.verdict(nil, words)) == """
        ? a
          one two three four
          five
          try    one two
                 three four
        """)
    let hostile = Self.words("a\u{1B}[31m", details: ["b\u{7F}"])
    #expect(
      ExplainFormatter(style: Self.plain, columns: nil).lines(for: try Self.verdict(nil, hostile))
        == "? a\\u{1B}[31m\n  b\\u{7F}")
  }

  // MARK: Steps

  @Test func alignsSteps() {
    let formatter = ExplainFormatter(style: Self.plain, columns: nil)
    #expect(
      formatter.line(for: Self.step(.route, .ipv4, .fault, "no route"))
        == "fault     route      IPv4  no route")
    #expect(
      formatter.line(for: Self.step(.neighbour, .ipv6, .doubtful, "slow")) == "doubtful  neighbour  IPv6  slow")
    #expect(formatter.line(for: Self.step(.pathMTU, nil, .ok, "large")) == "ok        path-mtu         large")
    #expect(
      formatter.line(for: Self.step(.http, nil, .skipped, "a\u{1B}b")) == "skipped   http             a\\u{1B}b")
  }

  /// A step goes on below its own text, at the 28th column.
  @Test func breaksSteps() {
    let step = Self.step(.route, .ipv4, .fault, "aaaa bbbb cccc dddd eeee ffff gggg hhhh")
    #expect(
      ExplainFormatter(style: Self.plain, columns: 60).line(for: step) == """
        fault     route      IPv4  aaaa bbbb cccc dddd eeee ffff
                                   gggg hhhh
        """)
    #expect(ExplainFormatter(style: Self.plain, columns: 66).line(for: step).contains("\n") == false)
  }

  @Test func coloursSteps() {
    let formatter = ExplainFormatter(style: Self.coloured, columns: nil)
    let family = "  \u{1B}[2mIPv4\u{1B}[0m  "
    for (outcome, look, text) in [
      (DiagnosisStep.Outcome.ok, "32", "a"), (.fault, "31", "a"), (.doubtful, "33", "a"),
      (.skipped, "2", "\u{1B}[2ma\u{1B}[0m"),
    ] {
      let word = outcome.identifier + String(repeating: " ", count: 8 - outcome.identifier.count)
      #expect(
        formatter.line(for: Self.step(.link, .ipv4, outcome, "a"))
          == "\u{1B}[\(look)m\(word)\u{1B}[0m  link     \(family)\(text)")
    }
  }

  // MARK: JSON

  @Test func writesAllKeysAsJSON() throws {
    let address = try #require(IPAddress("192.0.2.7"))
    let proof = try #require(DiagnosisProof(KernelFinding(.route(.missing), target: address)))
    let charge = Charge(.noRoute, proof)
    var words = Self.words("No route.", details: ["d"], advice: "Add one.", works: ["w", "x"], others: ["o"])
    let evidence: [DiagnosisEvidence] = [
      .init(key: "text", value: .text("t\"")), .init(key: "number", value: .number(-7)),
      .init(key: "flag", value: .flag(true)), .init(key: "list", value: .list(["a", "b"])),
      .init(key: "unknown", value: nil),
    ]
    words.steps = [
      Self.step(.route, .ipv4, .fault, "no route", evidence: evidence, charge: charge),
      Self.step(.http, nil, .skipped, "s"), Self.step(.link, .ipv6, .ok, "l"),
    ]
    #expect(
      ExplainFormatter.json(try Self.verdict(charge, words), target: "a", isInterrupted: false)
        == #"{"target":"a","cause":"no-route","confidence":"certain","summary":"No route.","advice":"Add one.","#
        + #""proof":"kernel","details":["d"],"works":["w","x"],"others":["o"],"steps":[{"step":"route","#
        + #""outcome":"fault","text":"no route","cause":"no-route","confidence":"certain","evidence":{"family":"ipv4","#
        + #""text":"t\"","number":-7,"flag":true,"list":["a","b"],"unknown":null}},{"step":"http","#
        + #""outcome":"skipped","text":"s","cause":null,"confidence":null,"evidence":{"family":null}},{"step":"link","#
        + #""outcome":"ok","text":"l","cause":null,"confidence":null,"evidence":{"family":"ipv6"}}],"#
        + #""elapsed":12.34,"interrupted":false}"#)
    #expect(
      ExplainFormatter.json(try Self.verdict(nil, Self.words("?")), target: "b", isInterrupted: true)
        == #"{"target":"b","cause":null,"confidence":"unknown","summary":"?","advice":null,"proof":null,"details":[],"#
        + #""works":[],"others":[],"steps":[],"elapsed":12.34,"interrupted":true}"#)
  }
}
