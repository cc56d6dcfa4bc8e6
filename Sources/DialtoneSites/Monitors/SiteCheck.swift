// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// One check of one site: resolve, connect, agree on TLS, ask once, and judge the answer.
///
/// ```swift
/// let verdict = try await SiteCheck("https://example.com/health").run()
/// if verdict.isAvailable { upload() }
/// ```
///
/// It is a value: you can run it any number of times, also at the same time. <doc:Sites> has the rules for judging an
/// answer.
///
/// From the first connection on, the process ignores SIGPIPE, as every program does that uses swift-nio. Writing to a
/// closed pipe then fails with EPIPE instead of ending the process. A filter that should end with its reader has to
/// check for that.
public struct SiteCheck: Sendable {
  /// What is checked.
  public let url: SiteURL

  /// How it is checked.
  public let configuration: SiteCheckConfiguration

  private let environment: SiteEnvironment

  /// Makes a check, which begins when you run it.
  ///
  /// - Parameters:
  ///   - url: What is checked.
  ///   - configuration: How it is checked.
  ///   - environment: Where the network is: the system's, or a scripted one in tests.
  /// - Throws: ``SiteError`` with the code `invalidConfiguration` if the configuration contradicts itself, or if it
  ///   asks for the proxy of the process's environment, and that cannot be read.
  public init(
    _ url: SiteURL, configuration: SiteCheckConfiguration = .init(), environment: SiteEnvironment = .system
  ) throws(SiteError) {
    try configuration.validate(for: url)
    self.url = url
    self.configuration = configuration
    self.environment = environment
  }

  /// Makes a check of the site with this URL, as text.
  ///
  /// - Parameters:
  ///   - url: What is checked: an absolute http or https URL.
  ///   - configuration: How it is checked.
  ///   - environment: Where the network is: the system's, or a scripted one in tests.
  /// - Throws: ``SiteError`` with the code `invalidURL` if the text is no such URL, or `invalidConfiguration`, as for
  ///   a ``SiteURL``.
  public init(
    _ url: String, configuration: SiteCheckConfiguration = .init(), environment: SiteEnvironment = .system
  ) throws(SiteError) {
    try self.init(SiteURL(url), configuration: configuration, environment: environment)
  }

  /// Checks the site, and returns the verdict within ``SiteCheckConfiguration/timeout``.
  ///
  /// A site that does not answer is a verdict, not an error. Nothing is left open when this has returned.
  ///
  /// If as many checks are under way as the environment allows (256), the check first waits for its turn. If as many
  /// names are being looked up as it allows, the check waits for a thread, no longer than the timeout. The limit is 64
  /// names, without those that have hung for half a second, until 512 threads are at it. Neither wait counts toward the
  /// timeout.
  ///
  /// - Returns: The verdict.
  /// - Throws: `CancellationError`, at once when the task is cancelled, and nothing else.
  public func run() async throws -> SiteVerdict {
    try await environment.provider.check(url, configuration)
  }
}
