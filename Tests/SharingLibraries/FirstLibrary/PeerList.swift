// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

public import Dialtone

/// A library that uses Dialtone without telling its users: it follows its peers by closures.
public final class PeerList: Sendable {
  private let states: States
  private let observations: [ReachabilityObservation]

  private final class States: Sendable {
    let known = Lock<[IPAddress: Reachability]>([:])
  }

  /// Follows the peers at these addresses.
  public init(_ peers: [IPAddress]) {
    let states = States()
    self.states = states
    observations = peers.map { peer in
      ReachabilityMonitor(.address(peer)).observe { state in states.known.withLock { $0[peer] = state } }
    }
  }

  /// The number of peers with a known state.
  public var knownCount: Int { states.known.withLock { $0.count } }
}
