// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import DialtoneSites
import Observation

/// What the app shows: the Internet, all usable interfaces, and a site of the user's choice. No SwiftUI is needed.
@MainActor @Observable final class NetworkModel {
  /// One line: a title, words, and the name of an SF symbol.
  struct Row: Equatable, Identifiable, Sendable {
    let id: String
    let title: String
    let words: String
    let symbol: String
    /// `nil` while nothing is known.
    let isGood: Bool?
  }

  private(set) var internet: Row
  private(set) var interfaces: [Row] = []
  /// `nil` until the user has chosen a site.
  private(set) var site: Row?
  /// Why the text of the user is no site.
  private(set) var problem: String?

  private let sites: SiteEnvironment
  private var pathMonitors: [any StateMonitor] = []
  private var pathObservations: [ReachabilityObservation] = []
  private var siteObservation: ReachabilityObservation?

  /// Begins to watch. The environments are the system's, except in tests.
  init(environment: ReachabilityEnvironment = .system, sites: SiteEnvironment = .system) {
    self.sites = sites
    let monitor = ReachabilityMonitor(.internet, environment: environment)
    let paths = PathMonitor(environment: environment)
    internet = Row(monitor.current)
    pathMonitors = [monitor, paths]
    // Weak, so that the model can go. What watches goes with it.
    pathObservations = [
      monitor.observeOnMainActor { [weak self] in self?.internet = Row($0) },
      paths.observeOnMainActor { [weak self] in self?.interfaces = $0.interfaces.map(Row.init) },
    ]
  }

  /// Watches another site, or says in ``problem`` why the text names none.
  func watchSite(_ text: String) {
    siteObservation = nil  // The old monitor is released with it.
    (site, problem) = (nil, nil)
    do {
      let monitor = try SiteMonitor(text, environment: sites)
      site = Row(monitor.current, of: text)
      siteObservation = monitor.observeOnMainActor { [weak self] in self?.site = Row($0, of: text) }
    } catch {
      problem = error.message
    }
  }

  /// For an app that goes to the background, and comes back.
  func setActive(_ isActive: Bool) {
    for monitor in pathMonitors + [siteObservation?.monitor].compactMap({ $0 }) {
      if isActive { monitor.resume() } else { monitor.pause() }
    }
  }
}
