// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What other threads ask of the engine; done by one of its own threads, in order.
enum EngineCommand: Sendable {
  /// Watch the target, and store the states there, as states of the epoch: both are the monitor's at the moment of the
  /// command. By the time that it is done, a pause or another target may have begun the next one.
  case add(MonitorStorage, ReachabilityTarget, Epoch)
  /// Watch it no longer.
  case remove(MonitorStorage)
  /// Watch the paths that the configuration allows, and store them there, as those of the epoch.
  case addPath(ValueStorage<NetworkPath>, PathConfiguration, Epoch)
  /// Watch them no longer.
  case removePath(ValueStorage<NetworkPath>)
  /// Fire a timer at its deadline.
  case schedule(EngineTimer)
  /// A timer was cancelled.
  case forgetTimer
  /// A name's look-up has an answer.
  case lookupEnded(NameRecord.Key, serial: UInt64, NameLookupResult)
}
