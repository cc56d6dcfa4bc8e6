// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CNetworkLab

extension NetworkLab {
  /// Whether this process can make network namespaces: for `.enabled(if:)`.
  package static var isAvailable: Bool { unavailableReason == nil }

  /// Why this process cannot, for a person.
  ///
  /// Found out once, with a lab. An unprivileged process can if it was allowed a user namespace of its own before main;
  /// see privilege.c.
  package static let unavailableReason: String? = {
    let privilege = unsafe lab_privilege()  // It has a pointer, to static text.
    let code = unsafe privilege.error
    if code != 0 {
      // Static text of privilege.c, ended by a NUL.
      let what = unsafe privilege.what.map { unsafe String(cString: $0) } ?? "no privilege"
      return "no network namespaces: \(LabError(what, code: code == ECANCELED ? 0 : code))"
    }
    do {
      let lab = try NetworkLab()
      try lab.addVeth("v0", "v1")
      return nil
    } catch {
      return "no network namespaces: \(error)"
    }
  }()

  /// Whether processes can be started as another user. Root can; a process in a user namespace of its own cannot.
  package static var canSwitchUser: Bool {
    unsafe !lab_privilege().own_user_namespace && isAvailable  // A plain flag.
  }

  /// Whether `/dev/net/tun` can be opened. On some machines only root can.
  package static let canMakeTun: Bool = {
    guard let lab = try? NetworkLab() else { return false }
    return (try? lab.addTun("probe0")) != nil
  }()

  /// Returns whether interfaces of that kind (`"dummy"`, `"bond"`, `"wireguard"`, …) can be made, which depends on
  /// kernel modules.
  package static func canMake(kind: String) -> Bool {
    guard let lab = try? NetworkLab() else { return false }
    return (try? lab.addLink("probe0", kind: kind)) != nil
  }
}
#endif
