// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Testing

@testable import Dialtone

/// Which program manages a link, by the files that these programs write.
struct LinkManagerTests {
  /// A file below `/run` as a program writes it, and whose it is. The link is eth0 with the index 2.
  private struct Trace: Sendable, CustomTestStringConvertible {
    let path: String
    let text: String
    let manager: LinkManager?

    var testDescription: String { "\(path): \(text)" }
  }

  private static let traces = [
    // nm-config-data, NM_CONFIG_DEVICE_STATE_DIR
    Trace(path: "NetworkManager/devices/2", text: "[device]\nmanaged=true\n", manager: .networkManager),
    Trace(path: "NetworkManager/devices/2", text: "[device]\nmanaged=false\n", manager: nil),
    Trace(path: "NetworkManager/devices/3", text: "[device]\nmanaged=true\n", manager: nil),
    // sd_network_link_get_setup_state
    Trace(path: "systemd/netif/links/2", text: "# private\nADMIN_STATE=configured\n", manager: .networkd),
    Trace(path: "systemd/netif/links/2", text: "# private\nADMIN_STATE=unmanaged\n", manager: nil),
    // dhcpcd(8), FILES
    Trace(path: "dhcpcd/eth0.pid", text: "7\n", manager: .dhcpcd),
    Trace(path: "dhcpcd-eth0.pid", text: "7\n", manager: .dhcpcd),
    Trace(path: "dhcpcd.pid", text: "7\n", manager: .dhcpcd),
    Trace(path: "dhcpcd/eth1.pid", text: "7\n", manager: nil),
    // ifup(8), FILES
    Trace(path: "network/ifstate", text: "lo=lo\neth0=home\n", manager: .ifupdown),
    Trace(path: "network/ifstate", text: "eth0\n", manager: .ifupdown),
    Trace(path: "network/ifstate", text: "lo=lo\neth01=eth01\n", manager: nil),
    // wpa_supplicant(8), ctrl_interface
    Trace(path: "wpa_supplicant/eth0", text: "", manager: .wpaSupplicant),
    Trace(path: "wpa_supplicant/wlan0", text: "", manager: nil),
  ]

  @Test("each program leaves traces of its own", arguments: traces)
  private func eachLeavesTraces(trace: Trace) throws {
    let root = try ConfigurationRoot()
    let parts = trace.path.split(separator: "/")
    let folders = parts.indices.dropLast().map { "run/" + parts[...$0].joined(separator: "/") }
    for folder in folders { try root.makeFolder(folder) }
    try root.write("run/\(trace.path)", trace.text)
    #expect(LinkManager.of(link: "eth0", index: 2, root: root.path) == trace.manager)
    try root.delete("run/\(trace.path)")
    #expect(LinkManager.of(link: "eth0", index: 2, root: root.path) == nil)
    for folder in folders.reversed() { try root.deleteFolder(folder) }
  }
}
#endif
