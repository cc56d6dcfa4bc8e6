// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Follows whether one target can be reached.
///
/// ```swift
/// let monitor = ReachabilityMonitor(.internet)
/// for await reachability in monitor.updates {
///   print(reachability)  // "reachable via Wi-Fi (wlan0)"
/// }
/// ```
///
/// A monitor watches from the moment you make it until it, its observations and its sequences have all been released.
/// Making one never blocks, and any number of monitors share one engine. You can use it from any thread and any
/// isolation.
public final class ReachabilityMonitor: StateMonitor, DeliveryOwner {
  /// One monitor of ``ReachabilityTarget/internet`` for the whole program, made when it is first used.
  public static let shared = ReachabilityMonitor(.internet)

  /// How the target is looked at.
  public var configuration: ReachabilityConfiguration { question.configuration }

  /// The first target, and how each is looked at.
  private let question: TargetQuestion
  let environment: ReachabilityEnvironment
  let cell: StateCell<Reachability>
  private let watch: Watch

  /// The engine that watches; while paused, the environment's.
  package var engine: NetworkEngine { watch.engine }

  package func followFork() { watch.followFork() }

  package var subject: String { "\(target)\(configuration.words)" }

  /// Begins to watch `target`.
  ///
  /// - Parameters:
  ///   - target: What shall be reachable.
  ///   - configuration: Interface, mark, family and settling.
  ///   - environment: Where the knowledge comes from; the system, except in tests.
  public init(
    _ target: ReachabilityTarget = .internet, configuration: ReachabilityConfiguration = .init(),
    environment: ReachabilityEnvironment = .system
  ) {
    let engine = environment.provider.engine()
    self.environment = environment
    question = TargetQuestion(target, configuration)
    cell = StateCell(unknown: .unknown)
    watch = Watch(.target(question, cell), in: environment, by: engine)
  }

  /// The newest state; `undetermined` without a reason until something is known. Reading it never blocks and takes no
  /// lock.
  public var current: Reachability {
    watch.followFork()
    return cell.current
  }

  /// The states as an asynchronous sequence: the known state first, then each change.
  public var updates: MonitorUpdates<Reachability> { MonitorUpdates(StateFeed(of: self, cell)) }

  /// Like ``updates``, and also the first known state of each further target, even if it equals the former target's
  /// last one.
  package var statesOfEachTarget: StateFeed<Reachability> { StateFeed(of: self, cell, .eachSubject) }

  /// As `updates`, with states that differ only in the source or the destination.
  package var detailedUpdates: MonitorUpdates<Reachability> { MonitorUpdates(StateFeed(of: self, cell, .details)) }

  /// What the monitor watches. You can change it at any time; all receivers stay registered.
  ///
  /// From the moment you set it, ``current`` is never again a state of the former target: it is `undetermined` until
  /// the new target's state is known. Receivers get that state like any change: once it is known, and if it differs
  /// from the last one that they got. Waits go on for the new target. Setting the same target again does nothing.
  public var target: ReachabilityTarget {
    get { assignment.target }
    set {
      watch.restart { subject in
        guard case .target(let old, _) = subject, old.target != newValue else { return nil }
        return .target(TargetQuestion(newValue, configuration), cell)
      }
    }
  }

  /// The target, and the epoch of its states.
  var assignment: (target: ReachabilityTarget, epoch: Epoch) {
    let (subject, epoch) = watch.assignment
    guard case .target(let question, _) = subject else { preconditionFailure("a monitor of a target watches a path") }
    return (question.target, epoch)
  }

  // MARK: Pausing

  /// Stops watching until ``resume()``; see ``StateMonitor/pause()``.
  public func pause() { watch.pause() }
  /// Goes on watching after ``pause()``; see ``StateMonitor/resume()``.
  public func resume() { watch.resume() }
  /// Whether the monitor is paused.
  public var isPaused: Bool { watch.isPaused }
}

extension ReachabilityMonitor: CustomStringConvertible {
  /// Target, state and flags, for debugging.
  ///
  /// For instance "ReachabilityMonitor(example.com, reachable via Wi-Fi (wlan0), -R -------)". An address that stands
  /// for the local network says so: "169.254.0.0, local network". Reading it never waits for the network.
  public var description: String {
    let (target, state) = targetAndState
    let remark =
      switch target.storage {
      case .address, .pair: target.isLocalNetwork ? "local network, " : ""
      case .internet, .localNetwork, .host: ""
      }
    return "ReachabilityMonitor(\(target), \(remark)\(state), \(state.flags))"
  }

  /// Whether the target is reached, and over a cellular interface or another; `nil` while that is not known.
  ///
  /// With `nil` these are the four states of RKReachabilityObserver; a local network is never `cellular`. It is what
  /// ``ReachabilityFlags/connectivity(to:)`` says of the ``Reachability/determinedFlags``. Reading it never waits for
  /// the network.
  public var connectivity: ReachabilityFlags.Connectivity? {
    let (target, state) = targetAndState
    return state.determinedFlags?.connectivity(to: target)
  }

  /// The target and a state of that same target, even if the target is changed meanwhile.
  private var targetAndState: (target: ReachabilityTarget, state: Reachability) {
    while true {
      let epoch = assignment.epoch
      let state = cell.current
      // If the epoch is the same before and after, the state belongs to it. Only the target read last does, too: an
      // epoch begins while the former target is still there.
      let after = assignment
      if after.epoch == epoch { return (after.target, state) }
    }
  }
}
