// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

public import Dialtone
public import Foundation

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension ReachabilityMonitor {
  /// A monitor's state is known, or has changed.
  ///
  /// ```swift
  /// let listening = center.addObserver(of: monitor, for: .reachabilityDidChange) { message in
  ///   print(message.reachability)
  /// }
  /// ```
  public struct DidChangeMessage: NotificationCenter.AsyncMessage {
    /// What the message can be observed of.
    public typealias Subject = ReachabilityMonitor

    /// The state.
    public let reachability: Reachability
  }

  /// A monitor's state has been determined; posted once for each target, before the ``DidChangeMessage`` with that
  /// state.
  public struct WasDeterminedMessage: NotificationCenter.AsyncMessage {
    /// What the message can be observed of.
    public typealias Subject = ReachabilityMonitor

    /// The state.
    public let reachability: Reachability
  }

  /// Posts typed messages: a ``WasDeterminedMessage`` once for each target, and a ``DidChangeMessage`` for each state.
  ///
  /// They come when ``postNotifications(of:to:named:whenDetermined:on:)`` posts its notifications. Unlike those, you
  /// can hand them to other isolations.
  ///
  /// The subject is the monitor. The center calls the listeners later, in tasks of its own, one message after another.
  ///
  /// - Important: Give it a center of your own. Foundation on Linux ends the program (Swift 6.3: "Could not cast") if a
  ///   message reaches a center with a listener to notifications of every name. The default center may have one.
  ///
  /// - Parameter center: Where to post. It is kept until the registration ends.
  /// - Returns: The registration. Messages come until you cancel or release it. Those that the center already has may
  ///   still reach listeners.
  public func postMessages(to center: NotificationCenter) -> ReachabilityObservation {
    let sequence = AnnouncementSequence(
      isSame: { $0.isSameState(as: $1) },
      wasDetermined: { center.post(WasDeterminedMessage(reachability: $0), subject: $1) },
      didChange: { center.post(DidChangeMessage(reachability: $0), subject: $1) })
    return sequence.begin(statesOfEachTarget.observe { [weak self] state in sequence.announce(state, of: self) })
  }
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<ReachabilityMonitor.DidChangeMessage> {
  /// A ``Dialtone/ReachabilityMonitor/DidChangeMessage``.
  public static var reachabilityDidChange: Self { .init() }
}

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<ReachabilityMonitor.WasDeterminedMessage> {
  /// A ``Dialtone/ReachabilityMonitor/WasDeterminedMessage``.
  public static var reachabilityWasDetermined: Self { .init() }
}
