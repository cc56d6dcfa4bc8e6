// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// What other threads ask of the engine; done by one of its own threads, in order.
enum EngineCommand: Sendable {
  /// Watch its target, and store the states there.
  case add(MonitorStorage)
  /// Watch it no longer.
  case remove(MonitorStorage)
  /// Watch the paths that the configuration allows, and store them there.
  case addPath(ValueStorage<NetworkPath>, PathConfiguration)
  /// Watch them no longer.
  case removePath(ValueStorage<NetworkPath>)
  /// Fire a timer at its deadline.
  case schedule(EngineTimer)
  /// A timer was cancelled.
  case forgetTimer
  /// A name's look-up has an answer.
  case lookupEnded(NameRecord.Key, serial: UInt64, NameLookupResult)
}
