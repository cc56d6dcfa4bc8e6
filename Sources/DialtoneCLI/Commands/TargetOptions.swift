// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Dialtone
internal import DialtoneSites

/// What is to be watched: the same for all commands that watch something.
struct TargetOptions: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      """
      internet, local-network, a host name, an IP address (link-local with its %zone), or a URL, whose host counts \
      (default: internet).
      """, valueName: "target"),
    completion: .list(WatchedTarget.words))
  var targets: [String] = []

  @OptionGroup var families: FamilyOptions

  @Flag(help: "Print JSON, one object a line.")
  var json = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Only this interface counts; it need not exist yet.", valueName: "name"),
    completion: .custom { _, _, _ in InterfaceName.completions() }, transform: InterfaceName.parse)
  var interface: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The firewall mark of the packets, decimal or 0x hexadecimal.", valueName: "mark"),
    transform: FirewallMark.parse)
  var mark: UInt32?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The address the packets come from; the target is then an IP address.", valueName: "address"),
    transform: SourceAddress.parse)
  var from: IPAddress?

  @Flag(name: .customLong("no-nat64"), help: "Do not look for IPv4 addresses behind the network's NAT64.")
  var noNAT64 = false

  /// The sites that the targets are, checked as a whole; `nil` where they are to be reached, and not asked.
  func siteRequest(_ site: WatchedSiteOptions, settling: Duration? = nil) throws -> SiteRequest? {
    guard site.isWanted else {
      if let option = site.options.given {
        throw ValidationError("\(option) is about sites; add --site, or leave it out")
      }
      return nil
    }
    if let option = mark != nil ? "--mark" : from != nil ? "--from" : noNAT64 ? "--no-nat64" : nil {
      throw ValidationError("\(option) and --site exclude each other; leave one of them out")
    }
    var configuration = try site.options.configuration(
      timeout: nil, interface: interface, family: families.family)
    if let settling { configuration.settling = settling }
    return try SiteRequest(targets, configuration: configuration)
  }

  /// The same, checked as a whole.
  func request(settling: Duration = .zero) throws -> TargetRequest {
    var configuration = ReachabilityConfiguration()
    configuration.interface = interface
    configuration.mark = mark ?? 0
    configuration.family = families.family
    configuration.settling = settling
    configuration.nat64 = noNAT64 ? .off : .automatic
    return try TargetRequest(targets, source: from, configuration: configuration)
  }

  /// What makes lines in the form asked for.
  func formatter(for request: TargetRequest, showsTime: Bool) -> any ReportFormatter<Reachability> {
    if json { return JSONReportFormatter(targets: request.targets) }
    let isTerminal = StandardStream.output.isTerminal
    return TextReportFormatter(
      targets: request.targets, interface: interface, style: Environment.style(isTerminal: isTerminal),
      isTerminal: isTerminal, showsTime: showsTime)
  }
}
