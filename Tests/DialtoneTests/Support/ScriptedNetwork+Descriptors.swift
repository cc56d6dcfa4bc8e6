// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import DialtoneTesting

@testable import Dialtone

extension ScriptedNetwork {
  /// A network with an engine that needs descriptors, as the system's does.
  static func withDescriptors() -> ScriptedNetwork { ScriptedNetwork(makeWaiter: makeEventPoll) }
}
#endif
