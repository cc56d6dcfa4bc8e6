// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Dialtone
internal import DialtoneSites

/// `dialtone check`.
struct CheckCommand: CheckedCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Ask sites over HTTP whether they really answer, and not something in their place.",
    usage: "dialtone check [<options>] <url> ...",
    discussion: """
      Each site gets one request, and a second one if it refuses HEAD, without cookies or credentials; redirects are \
      not followed. One line for each, as it is done. A URL given twice counts once.

      VERDICTS
        available            the site answered as expected
        captive-portal       a network that wants a login answered in its place
        intercepted          somebody answered who could not prove to be the site
        unexpected-response  another answer than the one expected
        failed               no answer
        offline              no path to the site; nothing was sent

      Exit status: 0 all sites are available, 1 some are not. It is never 0 if interrupted.

      EXAMPLES
        dialtone check https://example.com/
        dialtone check --expect success --timeout 5 https://example.com/health
        dialtone check --expect 204 http://example.com/generate_204
        dialtone check --expect body:OK --interface wlan0 http://example.com/
        dialtone check --cert-expiry 14d https://example.com/
        dialtone check --json --concurrency 16 --from-file urls
      """)

  @Argument(help: ArgumentHelp("An http or https URL, with its scheme.", valueName: "url"))
  var urls: [String] = []

  @OptionGroup var lists: ListOptions

  @OptionGroup var site: SiteOptions

  @OptionGroup var families: FamilyOptions

  @Flag(help: "Print JSON, one object a line.")
  var json = false

  @Option(
    name: [.customShort("i", allowingJoined: true), .customLong("interface")], parsing: .unconditional,
    help: ArgumentHelp("Ask over this interface alone.", valueName: "name"),
    completion: .custom { _, _, _ in InterfaceName.completions() }, transform: InterfaceName.parse)
  var interface: String?

  @Option(
    name: [.customShort("t", allowingJoined: true), .customLong("timeout")], parsing: .unconditional,
    help: ArgumentHelp(
      "Let each check take this long at most, such as 5s (default: 15).", valueName: "duration"),
    transform: DurationArgument.positive)
  var timeout: Duration?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Check this many at a time (default: \(Concurrency.usual)).", valueName: "number"),
    transform: Concurrency.parse)
  var concurrency: Int?

  @OptionGroup var quiet: QuietOptions

  var typed: [String] {
    get { urls }
    set { urls = newValue }
  }

  func prepare() throws -> Work {
    let request = try SiteRequest(
      entries: lists.entries(after: urls),
      configuration: SiteMonitorConfiguration(
        check: try site.configuration(timeout: timeout, interface: interface, family: families.family)))
    return {
      InterfaceHint.write(interface: interface, targets: [], isQuiet: quiet.isQuiet)
      let checker = SiteChecker(request: request, concurrency: concurrency ?? Concurrency.usual)
      var runner = Runner(
        request: request, session: CheckSession(siteCount: request.urls.count),
        formatter: SiteFormatter.make(for: request, json: json, showsTime: false), timeout: nil, endsWithReader: true,
        isQuiet: quiet.isQuiet, watch: checker.start)
      return try runner.run()
    }
  }
}
