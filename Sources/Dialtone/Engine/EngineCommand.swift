// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What other threads ask of the engine; done by one of its own threads, in order.
enum EngineCommand: Sendable {
  /// Watch the subject, and publish its states as states of the epoch: both are the monitor's at the moment of the command. By the
  /// time that it is done, a pause or another subject may have begun the next one.
  case watch(EngineSubject, Epoch)
  /// Watch what publishes in this cell no longer.
  case unwatch(any EngineCell)
  /// Fire a timer at its deadline.
  case schedule(DeliveryTimer)
  /// A timer was cancelled.
  case forgetTimer
  /// A name's lookup has an answer.
  case lookupEnded(NameQuestion, serial: UInt64, NameLookupResult)
}
