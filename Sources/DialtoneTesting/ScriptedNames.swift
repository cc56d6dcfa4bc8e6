// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

public import Dialtone

/// What a scripted network answers when a name is looked up.
public enum ScriptedNames: Sendable {
  /// The name's addresses, in this order.
  case addresses([IPAddress])
  /// The name does not exist.
  case nonexistent
  /// It cannot be looked up, for now.
  case failing
  /// The lookup hangs until the network is given another answer for the name.
  case hanging

  /// What a lookup of one family comes to, or of both; `nil` if it hangs.
  func result(_ family: IPAddress.Family?) -> NameLookupResult? {
    switch self {
    case .addresses(let addresses):
      let wanted = addresses.filter { family == nil || $0.family == family }
      return wanted.isEmpty ? .noAddress : .addresses(wanted)
    case .nonexistent: return .noAddress
    case .failing: return .failed
    case .hanging: return nil
    }
  }
}
