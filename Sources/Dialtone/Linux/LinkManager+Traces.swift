// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
extension LinkManager {
  /// Returns what manages a link: the first of them that has left a trace of it below `/run`.
  ///
  /// The traces are NetworkManager's `devices/INDEX`, networkd's `netif/links/INDEX` (sd-network), the pid files of
  /// dhcpcd(8), `ifstate` of ifup(8), and the control socket of wpa_supplicant(8).
  static func of(link name: String, index: UInt32, root: String = "") -> LinkManager? {
    let run = root + "/run"
    if let device = SystemFile.text(at: "\(run)/NetworkManager/devices/\(index)"),
      !device.split(whereSeparator: \.isNewline).contains("managed=false")
    {
      return .networkManager
    }
    if let link = SystemFile.text(at: "\(run)/systemd/netif/links/\(index)"),
      let state = link.split(whereSeparator: \.isNewline).first(where: { $0.hasPrefix("ADMIN_STATE=") }),
      state != "ADMIN_STATE=unmanaged"
    {
      return .networkd
    }
    // A name may be any bytes except a slash.
    if name.contains("/") { return nil }
    let pids = ["dhcpcd/\(name).pid", "dhcpcd-\(name).pid", "dhcpcd/pid", "dhcpcd.pid"]
    if pids.contains(where: { SystemFile.exists("\(run)/\($0)") }) { return .dhcpcd }
    let states = SystemFile.text(at: "\(run)/network/ifstate") ?? ""
    if states.split(whereSeparator: \.isNewline).contains(where: { $0 == name || $0.hasPrefix("\(name)=") }) {
      return .ifupdown
    }
    return SystemFile.exists("\(run)/wpa_supplicant/\(name)") ? .wpaSupplicant : nil
  }
}
#endif
