// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Dialtone
internal import DialtoneSites

/// Whether targets are sites that are to be asked, and what.
struct WatchedSiteOptions: ParsableArguments {
  @Flag(
    name: .customLong("site"),
    help: "The targets are URLs of sites; ask each again and again whether it answers (see dialtone check).")
  var isWanted = false

  @OptionGroup var options: SiteOptions

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Ask each site again after this time, such as 30s (default: 5m, and 1h over a cellular link).",
      valueName: "duration"),
    transform: { try DurationArgument.atLeast(.seconds(1), $0) })
  var every: Duration?

  /// The first option about sites that was given, as it is typed.
  var given: String? { options.given ?? (every == nil ? nil : "--every") }

  /// The configuration that they stand for.
  func configuration(interface: String?, family: IPAddress.Family?) throws -> SiteMonitorConfiguration {
    var configuration = SiteMonitorConfiguration(
      check: try options.configuration(timeout: nil, interface: interface, family: family))
    if let every {
      configuration.interval = every
      configuration.expensiveInterval = every
      // A site that fails is asked at least as often as one that is fine.
      configuration.maximumRetryDelay = max(configuration.retryDelay, min(configuration.maximumRetryDelay, every))
    }
    return configuration
  }
}
