// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

extension Reachability {
  /// The flags once the state is known; `nil` as long as it is not.
  ///
  /// The questions that ``ReachabilityFlags`` answers have no answer before that. Asked through this property, they are
  /// `nil`, which the compiler makes the caller decide about; ``flags`` is empty then, and would answer "no".
  ///
  /// ```swift
  /// switch monitor.current.determinedFlags?.isConnectionRequired {
  /// case nil: showSpinner()
  /// case true?: offerToConnect()
  /// case false?: break
  /// }
  /// ```
  public var determinedFlags: ReachabilityFlags? { isDetermined ? flags : nil }

  /// Whether `target` is reached, and over a cellular interface or another; `nil` as long as the state is not known.
  ///
  /// With `nil` these are the four states of RKReachabilityObserver. A local network has only three of them: it is never
  /// ``ReachabilityFlags/Connectivity/cellular``.
  ///
  /// - Parameter target: What this state is about. Only whether it is a local network counts.
  /// - Returns: Whether it is reached, and over what; `nil` as long as the state is not known.
  public func connectivity(to target: ReachabilityTarget = .internet) -> ReachabilityFlags.Connectivity? {
    determinedFlags?.connectivity(to: target)
  }
}
