// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Dialtone
internal import DialtoneSites

/// Which sites to ask, and how. All of it is checked before anything begins.
struct SiteRequest: Equatable, Sendable {
  let urls: [SiteURL]
  let configuration: SiteMonitorConfiguration

  /// Checks what was typed as arguments.
  init(_ texts: [String], configuration: SiteMonitorConfiguration) throws {
    try self.init(entries: TypedText.arguments(texts), configuration: configuration)
  }

  /// Checks what was typed. A URL typed twice counts once.
  init(entries: [TypedText], configuration: SiteMonitorConfiguration) throws {
    self.configuration = configuration
    var seen: Set<String> = []
    var urls: [SiteURL] = []
    for entry in entries where seen.insert(entry.text).inserted {
      do throws(SiteError) {
        urls.append(try SiteURL(entry.text))
      } catch {
        throw entry.refused(ValidationError("\(Self.name(of: entry)): \(error)"))
      }
    }
    if urls.isEmpty { throw ValidationError("URL: none was given; give one such as https://example.com/") }
    do throws(SiteError) {
      for url in urls { try configuration.validate(for: url) }
    } catch {
      // All other options have been checked by themselves. This one depends on the site and the environment.
      throw ValidationError(configuration.check.proxy == .direct ? "\(error)" : "--use-proxy: \(error)")
    }
    for url in urls {
      guard case .address(let address) = url.host else { continue }
      try TargetRequest.check(
        address, called: "the host of \(HostText.quoted(url.text))", configuration.check.family,
        configuration.check.interface)
    }
    self.urls = urls
  }

  func monitor(_ url: SiteURL) -> SiteMonitor {
    do throws(SiteError) {
      return try SiteMonitor(url, configuration: configuration)
    } catch {
      preconditionFailure("The request was found right: \(error)")
    }
  }

  /// What tells a URL from the others. Text before an @ may be a secret: such a URL is told by its place alone.
  private static func name(of entry: TypedText) -> String {
    var name = "URL"
    if case .argument(let number?) = entry.place { name = "URL \(number)" }
    let text = entry.text
    return text.isEmpty || text.unicodeScalars.contains("@") ? name : "\(name) (\(HostText.quoted(text)))"
  }
}

extension SiteRequest: WatchRequest {
  var names: [String] { urls.map(\.text) }
  var goodWord: String { "available" }
  var firstGoal: String { "to answer" }

  func monitors() -> [SiteMonitor] { urls.map(monitor) }

  func formatter(json: Bool, showsTime: Bool) -> any ReportFormatter<SiteVerdict> {
    if json { return SiteJSONFormatter() }
    return SiteTextFormatter(
      urls: names, screen: { .output }, showsTime: showsTime,
      anyAnswerCounts: configuration.check.expectation == .answer)
  }

  func facts(_ report: StateReport<SiteVerdict>) -> HookFacts { HookFacts(report) }

  func words(for verdict: SiteVerdict, of site: Int) -> String { SiteTextFormatter.words(for: verdict) }

  func holds(_ verdict: SiteVerdict) -> TruthValue {
    verdict.kind == .undetermined ? .unknown : TruthValue(verdict.isAvailable)
  }

  func isDenied(_ verdict: SiteVerdict) -> Bool { false }
}

/// What a site has to answer, as it is typed: `answer`, `success`, statuses, or `body:` and a text.
enum ExpectationText {
  static func parse(_ text: String) throws -> SiteExpectation {
    switch text {
    case "answer": return .answer
    case "success": return .success
    case _ where text.hasPrefix("body:"):
      let body = String(text.dropFirst("body:".count))
      if body.isEmpty { throw ValidationError("no text stands after body:; give the one that is expected") }
      return .body(containing: body)
    default:
      let statuses = try text.split(separator: ",", omittingEmptySubsequences: false).map(status)
      return .statuses(Set(statuses))
    }
  }

  private static func status(_ text: Substring) throws -> Int {
    guard text.utf8.count == 3, text.utf8.allSatisfy(ASCII.isDigit), let status = Int(text) else {
      throw ValidationError("give answer, success, body:TEXT, or statuses of three digits with commas, such as 200,204")
    }
    if status < 200 { throw ValidationError("\(text) is no status of a final answer; give 200 to 999") }
    return status
  }
}
