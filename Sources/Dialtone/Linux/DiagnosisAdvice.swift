// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// One command or act that fits a cause, for the program that manages the link, if that is known. Pure.
package enum DiagnosisAdvice {
  /// Returns what to try; `nil` if nothing on this machine helps.
  package static func act(
    on cause: DiagnosisCause, link: KernelEvidence.LinkFacts?, target: IPAddress? = nil
  ) -> String? {
    let name = link?.name ?? "INTERFACE"
    let manager = link?.manager
    switch cause {
    case .noInterface: return "List the interfaces: ip link"
    case .linkDown: return up(name, manager)
    case .noCarrier:
      if link?.kind == .wifi { return wifi(name, manager) }
      if link?.kind == .tunnel { return "Start the program that serves the tunnel \(name)." }
      return "Plug in the cable of \(name), or switch on what is at its other end."
    case .dormant:
      return link?.kind == .wifi || manager == .wpaSupplicant
        ? "See why the access point does not let \(name) in: wpa_cli -i \(name) status"
        : "See why the switch does not let \(name) in (802.1X): wpa_cli -i \(name) status"
    case .radioBlocked: return "rfkill unblock \(link?.kind == .cellular ? "wwan" : "wifi"), or the radio's own switch"
    case .noSession:
      return manager == .networkManager
        ? "nmcli device connect \(name)" : "Start a session: mmcli -m any --simple-connect"
    case .noAddress: return address(name, manager, target?.family)
    case .duplicateAddress: return "Give \(name) another address, or switch off the host that has this one."
    case .noRoute:
      guard let target else { return "See what routes there are: ip route" }
      let family = target.family == .ipv6 ? "-6 " : ""
      return "Add a route: ip \(family)route add default via ROUTER\(link.map { " dev \($0.name)" } ?? "")"
    case .routeRefuses, .routeDead:
      return target.map { "See the route: ip \($0.family == .ipv6 ? "-6 " : "")route get fibmatch \($0)" }
    case .ruleRefuses: return "See the rules: ip \(target?.family == .ipv6 ? "-6 " : "")rule"
    case .gatewaySilent:
      return "Switch the router on, or check its address\(link.map { " and the cable of \($0.name)" } ?? "")."
    case .silent: return target.map { "Switch \($0) on, or check its address." }
    case .loopbackDown: return "ip link set lo up"
    case .denied: return "Run it outside of the sandbox that forbids netlink."
    default: return nil
    }
  }

  private static func up(_ name: String, _ manager: LinkManager?) -> String {
    switch manager {
    case .networkManager: "nmcli device connect \(name)"
    case .networkd: "networkctl up \(name)"
    case .ifupdown: "ifup \(name)"
    case .dhcpcd, .wpaSupplicant, nil: "ip link set \(name) up"
    }
  }

  private static func wifi(_ name: String, _ manager: LinkManager?) -> String {
    switch manager {
    case .networkManager: "nmcli device connect \(name)"
    case .networkd, .ifupdown, .dhcpcd, .wpaSupplicant, nil: "wpa_cli -i \(name) reconnect"
    }
  }

  private static func address(_ name: String, _ manager: LinkManager?, _ family: IPAddress.Family?) -> String {
    switch manager {
    case .networkManager: "nmcli device connect \(name)"
    case .networkd: "networkctl renew \(name)"
    case .dhcpcd: "dhcpcd -n \(name)"
    case .ifupdown: "ifdown \(name) && ifup \(name)"
    case .wpaSupplicant, nil:
      "Start a DHCP client on \(name), or: ip address add ADDRESS/\(family == .ipv6 ? "64" : "24") dev \(name)"
    }
  }
}
