// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CDialtoneSystem

/// What is known of links, addresses and rules. Routes are not kept, but asked for each time.
///
/// Invariant: the tables are what was read last, with the announcements taken in since.
final class KernelTables {
  /// Holds links and addresses, and decides by them.
  let decision = RouteDecision()
  private var rules = RuleTable()
  var areRulesStale = true
  let kinds = LinkClassifier()

  var links: LinkTable { decision.links }
  var addresses: AddressTable { decision.addresses }

  // MARK: Reading

  /// Reads links and addresses anew. Announcements that wait on the socket are taken in afterwards, in order. They lead
  /// to the present, whether the tables were read before or after they were sent.
  ///
  /// - Returns: Whether the tables are whole. If changes overtook every attempt, something may be missing, and no event
  ///   will tell of it.
  /// - Throws: What the kernel said; the tables are as before.
  func read(_ queries: KernelQueries) throws(NetlinkError) -> Bool {
    var newLinks = LinkTable()
    let areLinksWhole = try queries.client.list(.getLink, begin: { newLinks = LinkTable() }, LinkMessage.init) {
      let (kind, radio) = kinds.classify($0)
      if let link = Link($0, kind: kind, radio: radio) { _ = newLinks.update(link) }
    }
    var newAddresses = AddressTable()
    let areAddressesWhole = try queries.client.list(
      .getAddress, begin: { newAddresses = AddressTable() }, AddressMessage.init
    ) { newAddresses.update($0) }
    decision.links = newLinks
    decision.addresses = newAddresses
    return areLinksWhole && areAddressesWhole
  }

  /// Returns the rules, read anew if they have changed. They seldom do, and are few.
  func rules(_ queries: KernelQueries) -> RuleTable {
    if !areRulesStale { return rules }
    areRulesStale = false
    var new = RuleTable()
    do throws(NetlinkError) {
      // A change meanwhile is announced.
      _ = try queries.client.list(.getRule, family: .ipv4, begin: { new = RuleTable() }, RuleMessage.init) {
        new.add($0)
      }
    } catch {
      new = RuleTable(unreadable: error.errno)
    }
    rules = new
    return new
  }

  // MARK: Announcements

  /// Takes in a message, and adds to `change` what it may have changed. Returns whether it could be read; otherwise it
  /// is as good as lost. Messages about neighbours and advertisements belong to `RouteLookups`.
  func apply(_ message: NetlinkMessage, _ bytes: RawSpan, _ change: inout NetworkChange) -> Bool {
    switch message.subject {
    case .link:
      guard let link = LinkMessage(message, in: bytes) else { return false }
      switch apply(link, isGone: message.type == .deleteLink) {
      case .nothing: break
      case .idle: change.touchesUnreachable = true
      case .everything: change.markEverything()
      }
    case .address:
      guard let address = AddressMessage(message, in: bytes) else { return false }
      if message.type == .newAddress { decision.addresses.update(address) } else { decision.addresses.remove(address) }
      // Even if only a lifetime differs: routes may have come with it.
      change.markEverything()
    case .route:
      // Any target may have a source that is this machine's by a local route.
      guard !RouteMessage.isOfIPv4Local(message, in: bytes), let prefix = IPPrefix(message, in: bytes) else {
        change.markEverything()
        return true
      }
      change.markRoute(prefix)
    case .rule:
      areRulesStale = true
      change.markEverything()
    case .nexthop, .netconf:
      change.markEverything()
    case .neighbour, .advertisement, .other:
      break
    }
    return true
  }

  private func apply(_ message: LinkMessage, isGone: Bool) -> LinkTable.Effect {
    // Bridge ports have messages of their own (family AF_BRIDGE), which say nothing of the link.
    if message.family != .unspecified { return .nothing }
    if isGone { return decision.links.remove(message.index) }
    guard message.isSnapshot else { return .nothing }
    let known = links[message.index]
    if known?.isUp ?? false, !message.flags.contains(.up) { decision.addresses.linkIsOff(message.index) }
    // The kind of hardware does not change while it is there, but may be unknown until it is switched on.
    let (kind, radio) =
      if let known, known.isUp || !message.flags.contains(.up), known.deviceType == message.deviceType,
        known.hardwareAddress == message.hardwareAddress ?? [], known.infoKind == message.infoKind
      {
        (known.ownKind, known.radio)
      } else {
        kinds.classify(message)
      }
    return Link(message, kind: kind, radio: radio).map { decision.links.update($0) } ?? .nothing
  }

  // MARK: Questions

  enum Preparation {
    /// No query is needed.
    case answer(Reachability)
    case ask(IPAddress, KernelQueries.Destination)
  }

  /// Answers what needs no query, and what must not become one. To the kernel, an index of 0 would mean any interface,
  /// and IPv6 takes even a source that is not this machine's.
  func prepare(_ query: RouteQuery) -> Preparation {
    func missing(_ reason: Reachability.Reason) -> Preparation {
      .answer(Reachability(status: .unreachable, destination: query.address, reason: reason))
    }
    var output: UInt32?
    if let name = query.interface {
      guard let link = links.link(named: name) else { return missing(.noInterface) }
      output = link.index
    }
    switch query.destination {
    case .localNetwork(let kind, let family):
      return .answer(decision.localNetwork(kind, family, output: output))
    case .address(let address):
      if !address.inlineZone.isEmpty {
        guard let link = links.link(named: LinkName(address.inlineZone)) else { return missing(.noInterface) }
        // The zone and the interface contradict each other.
        if let output, output != link.index { return missing(.noInterface) }
        output = link.index
      } else if address.family == .ipv6, address.isLinkLocal, output == nil {
        return missing(.noInterface)
      }
      if let source = query.source {
        // IPv4's kernel judges it itself: a local route may cover it, and no address.
        guard source.family == address.family,
          addresses.isOurs(source, on: output) || source.family == .ipv4 && !source.isUnspecified
        else { return missing(.noAddress) }
      }
      return .ask(
        address,
        KernelQueries.Destination(
          address: address.bits, source: query.source?.bits, output: output, mark: query.mark,
          transport: address.isOfMany ? .udp : query.transport, port: query.port))
    }
  }
}
#endif
