// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// How a monitor checks its site, how often, and when it reports a loss.
///
/// ```swift
/// var configuration = SiteMonitorConfiguration()
/// configuration.check.timeout = .seconds(5)
/// configuration.interval = .seconds(60)
/// let monitor = try SiteMonitor("https://example.com/health", configuration: configuration)
/// ```
public struct SiteMonitorConfiguration: Hashable, Sendable {
  /// How each check is made.
  public var check: SiteCheckConfiguration

  /// How long after a check the next one begins, if nothing happens in between; above zero. Each pause is jittered by a
  /// tenth.
  public var interval: Duration = .seconds(300)

  /// The same while the path is expensive: cellular, or over one of ``meteredInterfaces``.
  public var expensiveInterval: Duration = .seconds(3_600)

  /// The names of interfaces whose traffic costs money, besides cellular ones. The kernel does not know which do. You
  /// can give any name of an interface, also an alternative one.
  public var meteredInterfaces: Set<String> = []

  /// The first pause after a failed check; it doubles with each further one, up to ``maximumRetryDelay``. In the first
  /// second of a path it does not: the network behind it may need a moment. Each pause is jittered by a fifth.
  public var retryDelay: Duration = .seconds(1)

  /// The longest pause after a failed check. None is longer than the pause after a check that found the site available.
  public var maximumRetryDelay: Duration = .seconds(300)

  /// How many checks in a row have to fail before the loss of an available site is reported; at least 1. The loss of
  /// the path is reported at once.
  public var failuresBeforeLoss = 2

  /// How long the path must be quiet before the site is checked over it. If it never is, the site is checked after four
  /// times that. Monitors of one path then take turns within as long again, or longer if there are many.
  public var settling: Duration = .milliseconds(500)

  /// Creates a configuration that checks every five minutes, and retries after a failure.
  ///
  /// - Parameter check: How each check is made.
  public init(check: SiteCheckConfiguration = .init()) { self.check = check }
}

extension SiteMonitorConfiguration {
  /// Throws if the configuration contradicts itself.
  package func validate() throws(SiteError) {
    try check.validate()
    func invalid(_ message: String) -> SiteError { SiteError(.invalidConfiguration, message) }
    if interval <= .zero || expensiveInterval <= .zero || retryDelay <= .zero || maximumRetryDelay < retryDelay {
      throw invalid("intervals and delays have to be above zero, and the longest delay no shorter than the first")
    }
    if failuresBeforeLoss < 1 { throw invalid("a loss takes at least one failure") }
  }
}
