// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
internal import DialtoneSites

/// Watches sites by monitors.
struct SiteWatcher {
  let request: SiteRequest

  /// Begins; what it returns keeps the monitors.
  func start(_ mailbox: Mailbox<SiteVerdict>) -> any Sendable {
    request.urls.enumerated().map { position, url in
      monitor(url).observe { verdict in mailbox.post(verdict, for: position) }
    }
  }

  private func monitor(_ url: SiteURL) -> SiteMonitor {
    do throws(SiteError) {
      return try SiteMonitor(url, configuration: request.configuration)
    } catch {
      preconditionFailure("The request was found right: \(error)")
    }
  }
}
