// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

public import Dialtone
public import Dispatch
public import Foundation

extension ReachabilityMonitor {
  /// Posts a notification with the known state, as soon as there is one, and then with each change.
  ///
  /// ```swift
  /// let observer = NotificationCenter.default.addObserver(
  ///   forName: .reachabilityDidChange, object: monitor, queue: nil
  /// ) { notification in
  ///   print(notification.reachability?.isReachable ?? false)
  /// }
  /// let posting = monitor.postNotifications()  // keep it
  /// ```
  ///
  /// The object of each notification is the monitor. Its `userInfo` has the state, the flags and the flags' number,
  /// under ``ReachabilityNotificationKey``, so that no listener has to ask again. The promises of `observe(_:)` hold
  /// for the notifications: nothing before the state is known, never two equal states in a row, always the newest, and
  /// none once the registration has been cancelled. Listeners may add and remove listeners, make and cancel
  /// registrations, and release the monitor.
  ///
  /// "Was determined" is posted once for each registration, right before the "did change" with the first determined
  /// state. It is posted once more for each new target of the monitor. If the new target's state is equal to the last
  /// posted one, no "did change" follows. Both are posted for this registration even if the state is already known.
  ///
  /// If only some changes concern your listeners, name a property: `postNotifications(of: \.flags)` posts no "did
  /// change" when the reason alone has changed.
  ///
  /// A state may be undetermined for a reason, such as a name that cannot be looked up for now. It is posted as a
  /// change and does not count as determined.
  ///
  /// Add listeners first: the first notification may be posted before this method has returned. A center does not
  /// repeat what it has posted; a later listener reads `current`.
  ///
  /// - Parameters:
  ///   - property: What a "did change" is posted for a change of, such as `\.flags`.
  ///   - center: Where to post. It is kept until the registration ends.
  ///   - name: The name of the notifications of each state.
  ///   - determinedName: The name of the one notification that the state was determined.
  ///   - queue: The queue of the listeners, except those that gave the center a queue of their own; `nil` for one of
  ///     Dialtone's threads. There is one notification at a time, even if the queue is concurrent.
  /// - Returns: The registration, which keeps the monitor. Notifications come until you cancel or release it. Two
  ///   registrations with one center post everything twice.
  public func postNotifications<Value: Equatable & Sendable>(
    of property: any KeyPath<Reachability, Value> & Sendable = \Reachability.self,
    to center: NotificationCenter = .default, named name: Notification.Name = .reachabilityDidChange,
    whenDetermined determinedName: Notification.Name = .reachabilityWasDetermined, on queue: DispatchQueue? = nil
  ) -> ReachabilityObservation {
    let sequence = Self.notifications(of: property, to: center, named: name, whenDetermined: determinedName)
    let states = statesOfEachTarget
    let announce: @Sendable (Snapshot<Reachability>) -> Void = { [weak self] in sequence.announce($0, of: self) }
    return sequence.begin(queue.map { states.observe(on: $0, announce) } ?? states.observe(announce))
  }

  /// Like ``postNotifications(of:to:named:whenDetermined:on:)``, but on the main actor: safe for user interfaces.
  ///
  /// On Linux, give listeners `queue: nil`, not `.main`, in a program whose `main` is `async`: Foundation would wait
  /// there for ever, since it does not know the main actor for the main queue.
  ///
  /// If you call it on the main actor, it posts nothing before the caller ends or comes to an `await`: listeners that
  /// are added until then miss nothing. If you cancel on the main actor, it posts nothing more.
  ///
  /// - Parameters:
  ///   - property: What a "did change" is posted for a change of, such as `\.flags`.
  ///   - center: Where to post. It is kept until the registration ends.
  ///   - name: The name of the notifications of each state.
  ///   - determinedName: The name of the one notification that the state was determined.
  /// - Returns: The registration. Notifications come until you cancel or release it.
  public func postNotificationsOnMainActor<Value: Equatable & Sendable>(
    of property: any KeyPath<Reachability, Value> & Sendable = \Reachability.self,
    to center: NotificationCenter = .default, named name: Notification.Name = .reachabilityDidChange,
    whenDetermined determinedName: Notification.Name = .reachabilityWasDetermined
  ) -> ReachabilityObservation {
    let sequence = Self.notifications(of: property, to: center, named: name, whenDetermined: determinedName)
    return sequence.begin(
      statesOfEachTarget.observeOnMainActor { [weak self] state in sequence.announce(state, of: self) })
  }

  private static func notifications<Value: Equatable & Sendable>(
    of property: any KeyPath<Reachability, Value> & Sendable, to center: NotificationCenter,
    named name: Notification.Name, whenDetermined determinedName: Notification.Name
  ) -> AnnouncementSequence {
    let post: @Sendable (Notification.Name, Reachability, ReachabilityMonitor) -> Void = { name, state, monitor in
      center.post(
        name: name, object: monitor,
        userInfo: [
          ReachabilityNotificationKey.reachability: state,
          ReachabilityNotificationKey.flags: state.flags,
          ReachabilityNotificationKey.flagsNumber: NSNumber(value: state.flags.rawValue),
        ])
    }
    let isOfAll = property as AnyKeyPath == \Reachability.self
    return AnnouncementSequence(
      isSame: { isOfAll ? $0.isSameState(as: $1) : $0[keyPath: property] == $1[keyPath: property] },
      wasDetermined: { post(determinedName, $0, $1) },
      didChange: { post(name, $0, $1) })
  }
}
