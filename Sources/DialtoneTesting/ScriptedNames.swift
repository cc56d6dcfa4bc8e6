// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

public import Dialtone

/// What a scripted network answers when a name is looked up.
public enum ScriptedNames: Sendable {
  /// The name's addresses, in this order.
  case addresses([IPAddress])
  /// The name does not exist.
  case none
  /// It cannot be looked up, for now.
  case failing
  /// The look-up never comes back, until the network is given another answer for the name.
  case hanging
}
