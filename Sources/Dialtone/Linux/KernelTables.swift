// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CDialtoneSystem
internal import Netlink

/// What is known of links, addresses and rules. Nothing is kept of routes, which are asked for each time.
///
/// Invariant: the tables are what was read last, and what the announcements say that were taken in since.
final class KernelTables {
  private(set) var links = LinkTable() { didSet { searches.removeAll() } }
  private(set) var addresses = AddressTable() { didSet { searches.removeAll() } }
  private var rules = RuleTable()
  private var areRulesStale = true
  private let kinds = LinkClassifier()
  let searches = ReasonSearches()

  // MARK: Reading

  /// Reads links and addresses anew. What waits on the socket of announcements is taken in afterwards, in order, and
  /// ends at the present whether the tables were read before or after it was sent.
  ///
  /// - Returns: Whether they are whole. If changes overtook every attempt, something may be missing, of which no event
  ///   will tell.
  /// - Throws: What the kernel said; the tables are as before.
  func read(_ queries: KernelQueries) throws(NetlinkError) -> Bool {
    var newLinks = LinkTable()
    let areLinksWhole = try queries.links(begin: { newLinks.removeAll() }) { message in
      let (kind, radio) = kinds.classify(message)
      if let link = Link(message, kind: kind, radio: radio) { _ = newLinks.update(link) }
    }
    var newAddresses = AddressTable()
    let areAddressesWhole = try queries.addresses(begin: { newAddresses.removeAll() }) { newAddresses.update($0) }
    links = newLinks
    addresses = newAddresses
    return areLinksWhole && areAddressesWhole
  }

  func markRulesStale() { areRulesStale = true }

  /// The rules, read anew if they changed since: they do so seldom, and are few.
  func rules(_ queries: KernelQueries) -> RuleTable {
    if !areRulesStale { return rules }
    areRulesStale = false
    var new = RuleTable()
    do throws(NetlinkError) {
      try queries.ipv4Rules(begin: { new.removeAll() }) { new.add($0) }
    } catch {
      new = RuleTable(unreadable: error.errno)
    }
    rules = new
    return new
  }

  // MARK: Announcements

  /// Takes a message in, and adds to `change` what it may have changed. Returns whether it could be read: one that
  /// could not is as good as lost. Neighbours are another's.
  func apply(_ message: NetlinkMessage, _ bytes: RawSpan, _ change: inout NetworkChange) -> Bool {
    switch message.type {
    case .newLink, .deleteLink:
      guard let link = LinkMessage(message, in: bytes) else { return false }
      switch apply(link, isGone: message.type == .deleteLink) {
      case .nothing: break
      case .idle: change.markIdleLink()
      case .everything: change.markEverything()
      }
    case .newAddress, .deleteAddress:
      guard let address = AddressMessage(message, in: bytes) else { return false }
      if message.type == .newAddress { addresses.update(address) } else { addresses.remove(address) }
      // Also if nothing but a lifetime is another: routes may have come with it.
      change.markEverything()
    case .newRoute, .deleteRoute:
      guard let route = RouteMessage(message, in: bytes) else {
        change.markEverything()
        return true
      }
      let none = route.family == .ipv6 ? IPAddressBits(ipv6High: 0, low: 0) : IPAddressBits(ipv4: 0)
      change.markRoute(.init(route.destination ?? none, length: Int(route.destinationLength)))
    case .newRule, .deleteRule:
      areRulesStale = true
      change.markEverything()
    case .newNexthop, .deleteNexthop, .newNetconf, .deleteNetconf:
      change.markEverything()
    default:
      break
    }
    return true
  }

  private func apply(_ message: LinkMessage, isGone: Bool) -> LinkTable.Effect {
    // Of bridge ports (family AF_BRIDGE) there are messages of their own; they say nothing of the link.
    if message.family != .unspecified { return .nothing }
    if isGone { return links.remove(message.index) }
    guard message.isSnapshot else { return .nothing }
    let known = links[message.index]
    // What hardware is does not change while it is there, but may not be told before it is switched on.
    let (kind, radio) =
      if let known, known.isUp || !message.flags.contains(.up), known.deviceType == message.deviceType,
        known.hardwareAddress == message.hardwareAddress ?? [], known.infoKind == message.infoKind
      {
        (known.ownKind, known.radio)
      } else {
        kinds.classify(message)
      }
    return Link(message, kind: kind, radio: radio).map { links.update($0) } ?? .nothing
  }

  // MARK: Questions

  enum Preparation {
    /// No query is needed.
    case answer(Reachability)
    case ask(IPAddress, KernelQueries.Destination)
  }

  /// Finds out what needs no query, and what may not reach one: an index of 0 would mean any interface to the kernel,
  /// and a source that is not this machine's is one that IPv6 takes all the same.
  func prepare(_ query: RouteQuery, _ decision: RouteDecision) -> Preparation {
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
      if address.zone != nil {
        guard let link = links.link(named: LinkName(address.inlineZone)) else { return missing(.noInterface) }
        // A zone and an interface that contradict each other: no interface is both.
        if let output, output != link.index { return missing(.noInterface) }
        output = link.index
      } else if address.family == .ipv6, address.isLinkLocal, output == nil {
        return missing(.noInterface)
      }
      if let source = query.source {
        guard source.family == address.family, addresses.isOurs(source, on: output) else { return missing(.noAddress) }
      }
      return .ask(
        address,
        KernelQueries.Destination(
          address: address.bits, source: query.source?.bits, output: output, mark: query.mark,
          transport: query.transport, port: query.port))
    }
  }
}
#endif
