// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

extension NetworkPath {
  /// The path in the words of `translation`; see ``description``.
  public func description(in translation: ReachabilityTranslation) -> String {
    let status = status.description(in: translation)
    let reason = reason?.description(in: translation)
    let names = leading.map { $0.networkInterface.description(in: translation) }
    let interfaces = names.first.map { first in
      names.dropFirst().reduce(first) {
        translation.fill(.pathNextInterface, ["interfaces": $0, "interface": $1])
      }
    }
    var text =
      switch (interfaces, reason) {
      case (nil, nil): translation.fill(.pathAlone, ["status": status])
      case (let interfaces?, nil):
        translation.fill(.pathOverInterfaces, ["status": status, "interfaces": interfaces])
      case (nil, let reason?): translation.fill(.pathForReason, ["status": status, "reason": reason])
      case (let interfaces?, let reason?):
        translation.fill(
          .pathOverInterfacesForReason, ["status": status, "interfaces": interfaces, "reason": reason])
      }
    if isExpensive { text = translation.fill(.pathExpensive, ["path": text]) }
    if isConstrained { text = translation.fill(.pathConstrained, ["path": text]) }
    return text
  }
}

extension NetworkPath.Status {
  /// The status in the words of `translation`; in English "unsatisfied", for one.
  public func description(in translation: ReachabilityTranslation) -> String { translation[.pathStatus(self)] }
}
