// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import Dialtone
internal import DialtoneSites

/// Runs checks, several at a time.
struct SiteChecker {
  let request: SiteRequest
  let concurrency: Int

  /// Begins; the checks end with the process.
  func start(_ mailbox: Mailbox<SiteVerdict>) -> any Sendable {
    do throws(SiteError) {
      // Before the first task: if the system is short of threads or descriptors, Swift would wait for ever, or end the
      // process.
      try SiteResources.prove()
    } catch {
      for (position, url) in request.urls.enumerated() {
        mailbox.post(SiteVerdict(of: url, without: error, at: .now), for: position)
      }
      return Task<Void, Never>?.none
    }
    return Task.detached { [request, concurrency] in
      await withTaskGroup(of: Void.self) { group in
        for (position, url) in request.urls.enumerated() {
          if position >= concurrency { await group.next() }
          group.addTask {
            do {
              mailbox.post(try await SiteCheck(url, configuration: request.configuration.check).run(), for: position)
            } catch {
              preconditionFailure("The request was found right, and nobody cancels its checks: \(error)")
            }
          }
        }
      }
    }
  }
}

/// Watches sites by monitors.
struct SiteWatcher {
  let request: SiteRequest

  /// Begins; what it returns keeps the monitors.
  func start(_ mailbox: Mailbox<SiteVerdict>) -> any Sendable {
    request.urls.enumerated().map { position, url in
      monitor(url).observe { verdict in mailbox.post(verdict, for: position) }
    }
  }

  func monitor(_ url: SiteURL) -> SiteMonitor {
    do throws(SiteError) {
      return try SiteMonitor(url, configuration: request.configuration)
    } catch {
      preconditionFailure("The request was found right: \(error)")
    }
  }
}
