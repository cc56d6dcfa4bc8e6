// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

// All the ways to listen, at once. Pull the cable while it runs, and plug it in again.
//
//   swift run Listening              # the Internet
//   swift run Listening example.com  # a host

import Dialtone
import DialtoneFoundation
import Dispatch
import Foundation
import Observation

@main
struct Listening {
  @MainActor
  static func main() async throws {
    let target = try ReachabilityTarget(hostOrInternet: CommandLine.arguments.dropFirst().first)
    let monitor = ReachabilityMonitor(target)

    // A closure, on a thread of Dialtone's. Each of these lasts until you cancel or release what it returns.
    let closure = monitor.observe { show("closure", $0) }

    // A closure on a dispatch queue.
    let queue = monitor.observe(on: DispatchQueue(label: "listening")) { show("queue", $0) }

    // A method of an actor.
    let journal = Journal()
    let actor = monitor.observe(on: journal) { journal, state in journal.note(state) }

    // The main actor, where user interfaces live.
    let mainActor = monitor.observeOnMainActor { show("main actor", $0) }

    // Notifications: add the listener first. Each carries the state, so you need not ask for it.
    let center = NotificationCenter.default
    let listener = center.addObserver(forName: .reachabilityDidChange, object: monitor, queue: nil) { notification in
      if let state = notification.reachability { show("notification", state) }
    }
    let notifications = monitor.postNotifications(to: center)

    // An observable object, as SwiftUI follows it.
    follow(ObservableReachability(monitor))

    // Once.
    let once = monitor.whenReachable(over: .nonCellular) { show("once", "reachable, and not by phone: go!") }

    // An asynchronous sequence: what you want most of the time.
    for await state in monitor.updates { show("updates", state) }

    // The loop ends when its task is cancelled. Until then, all of these were wanted.
    withExtendedLifetime([closure, queue, actor, mainActor, notifications, once]) { center.removeObserver(listener) }
  }
}

actor Journal {
  private var changes = 0

  func note(_ state: Reachability) {
    show("actor", state)
    changes += 1
    show("actor", "that was number \(changes)")
  }
}

/// Shows the state, and again whenever it changes.
@MainActor
func follow(_ network: ObservableReachability) {
  withObservationTracking {
    show("observable", network.current)
  } onChange: {
    Task { @MainActor in follow(network) }
  }
}

func show(_ listener: String, _ words: some CustomStringConvertible) {
  print(listener.padding(toLength: 14, withPad: " ", startingAt: 0) + words.description)
  fflush(nil)  // at once, also into a pipe
}
