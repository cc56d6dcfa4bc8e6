// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

extension Reachability {
  /// The state in the words of `translation`; see ``description``.
  public func description(in translation: ReachabilityTranslation) -> String {
    let status = status.description(in: translation)
    let interface = interface?.description(in: translation)
    let reason = reason?.description(in: translation)
    return switch (interface, reason) {
    case (nil, nil): translation.fill(.stateAlone, ["status": status])
    case (let interface?, nil): translation.fill(.stateOverInterface, ["status": status, "interface": interface])
    case (nil, let reason?): translation.fill(.stateForReason, ["status": status, "reason": reason])
    case (let interface?, let reason?):
      translation.fill(
        .stateOverInterfaceForReason, ["status": status, "interface": interface, "reason": reason])
    }
  }
}

extension Reachability.Status {
  /// The status in the words of `translation`; in English "requires a connection", for one.
  public func description(in translation: ReachabilityTranslation) -> String { translation[.status(self)] }
}

extension Reachability.Reason {
  /// The reason in the words of `translation`; see ``description``.
  public func description(in translation: ReachabilityTranslation) -> String { translation[.reason(self)] }
}
