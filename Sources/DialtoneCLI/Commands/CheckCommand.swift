// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Dialtone
internal import DialtoneSites

struct CheckCommand: ListCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Ask sites over HTTP whether they really answer.",
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
  var typed: [String] = []

  @OptionGroup var lists: ListOptions

  @OptionGroup var site: SiteOptions

  @OptionGroup var families: FamilyOptions

  @Flag(help: "Print JSON, one object a line.")
  var json = false

  @Option(interface: "Ask over this interface alone.")
  var interface: String?

  @Option(timeout: "Let each check take this long at most, such as 5s (default: 15s).")
  var timeout: Duration?

  @Option("Check this many at a time (default: \(Concurrency.usual)).", value: "number", transform: Concurrency.parse)
  var concurrency: Int?

  @OptionGroup var quiet: QuietOptions

  func prepare() throws -> Work {
    let request = try SiteRequest(
      entries: lists.entries(after: typed),
      configuration: SiteMonitorConfiguration(
        check: try site.configuration(timeout: timeout, interface: interface, family: families.family)))
    return {
      InterfaceHint.write(interface: interface, targets: [], isQuiet: quiet.isQuiet)
      return try check(request, concurrency: concurrency ?? Concurrency.usual)
    }
  }

  private func check(_ request: SiteRequest, concurrency: Int) throws -> ExitStatus {
    let options = RunOptions(endsWithReader: true, isQuiet: quiet.isQuiet)
    return try MainThread.run { [json] thread in
      let run = SessionRun(
        CheckSession(siteCount: request.urls.count), of: request, json: json, options: options, on: thread)
      return try await run.untilEnd { children in
        children.addTask { try await Self.check(request, concurrency: concurrency, in: run) }
      }
    }
  }

  /// Checks the sites, a few at a time.
  private static func check(
    _ request: SiteRequest, concurrency: Int, in run: SessionRun<SiteRequest>
  ) async throws -> ExitStatus? {
    do throws(SiteError) {
      // Before the first check: if the system is short of threads or descriptors, Swift would wait for ever, or end the
      // process.
      try SiteResources.prove()
      do throws(SystemError) {
        try Shortage.proveAddressSpace()
      } catch {
        throw SiteError(.cannotConnect, SiteError.text(errno: error.errno), errno: error.errno)
      }
    } catch {
      var status: ExitStatus?
      for (position, url) in request.urls.enumerated() {
        status = try await run.receive(SiteVerdict(of: url, without: error, at: .now), of: position)
      }
      return status
    }
    return try await withThrowingTaskGroup(of: ExitStatus?.self) { group in
      var status: ExitStatus?
      for (position, url) in request.urls.enumerated() {
        if position >= concurrency { status = try await group.next() ?? status }
        group.addTask {
          let verdict = try await SiteCheck(url, configuration: request.configuration.check).run()
          return try await run.receive(verdict, of: position)
        }
      }
      for try await ending in group { status = ending ?? status }
      return status
    }
  }
}
