// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// Names: who asks about which, and when each is looked up.
extension EngineState {
  func attachName(_ key: NameRecord.Key, to record: TargetRecord, now: Int64) {
    let name: NameRecord
    if let known = names[key] {
      name = known
    } else {
      name = NameRecord(key)
      names[key] = name
      markStale(name)
      timers.add(.overdue(name), at: now.addingClamped(NameRecord.patience))
    }
    name.users.append(record)
    record.name = name
    adopt(name, for: record)
  }

  func detachName(from record: TargetRecord) {
    guard let name = record.name else { return }
    record.name = nil
    name.users.removeAll { $0 === record }
    if !name.users.isEmpty { return }
    names[name.key] = nil
    name.refresh = nil
    name.abandon()
    forgetTimers(2)  // its next look-up, and the end of patience with its first
  }

  func markStale(_ name: NameRecord) {
    name.isStale = true
    areNamesStale = true
  }

  /// Starts the look-ups that are due; those that would follow the last one too soon are put off.
  func startLookups(now: Int64) {
    if !areNamesStale { return }
    areNamesStale = false
    for name in names.values where name.isStale && name.lookup == nil {
      if let last = name.lastStart, now < last.addingClamped(NameRecord.minimumSpacing) {
        let time = last.addingClamped(NameRecord.minimumSpacing)
        if let refresh = name.refresh, refresh <= time { continue }
        name.refresh = time
        timers.add(.lookUp(name), at: time)
      } else {
        lookupSerial += 1
        name.begin(lookUp(name.key, lookupSerial), serial: lookupSerial, at: now)
      }
    }
  }

  func finishLookup(_ key: NameRecord.Key, _ serial: UInt64, _ result: NameLookupResult, now: Int64) {
    // An answer to a question that was withdrawn is not one.
    guard let name = names[key], name.serial == serial else { return }
    let isChanged = name.finish(result, at: now)
    if let refresh = name.refresh { timers.add(.lookUp(name), at: refresh) }
    if name.isStale { areNamesStale = true }
    if isChanged { name.users.forEach { adopt(name, for: $0) } }
  }

  /// The addresses of a name, where a look-up for a monitor has found them within the time between two look-ups, and nothing has changed
  /// since.
  func recentAddresses(of key: NameRecord.Key, now: Int64) -> [IPAddress]? {
    guard let name = names[key], !name.isStale, name.lookup == nil, !name.addresses.isEmpty, let end = name.lastEnd,
      now < end.addingClamped(NameRecord.minimumSpacing)
    else { return nil }
    return name.addresses
  }

  /// Has `record` ask about the addresses that the name has now.
  func adopt(_ name: NameRecord, for record: TargetRecord) {
    touch(record)
    let addresses = name.addresses
    // Attached before the old ones are let go, so that what is in both keeps its answer.
    if case .address(let address) = record.target.storage {
      let old = record.translatedNodes
      let translated = NAT64Prefix.prefixes(in: addresses).map { $0.embed(address.unmapped) }
      record.translatedNodes = attach(translated.map(record.query), to: record)
      detach(old, from: record)
    } else {
      let old = record.nodes
      record.nodes = attach(record.allowed(addresses).map(record.query), to: record)
      detach(old, from: record)
    }
  }

  /// Asks for the network's NAT64 prefix where an IPv4 address has come to need it, and forgets it where it no longer does.
  func settleTranslations(now: Int64) {
    for record in staleRecords {
      guard records[ObjectIdentifier(record.storage)] === record, case .address(let address) = record.target.storage,
        record.usesTranslation(address)
      else { continue }
      if record.needsTranslation == (record.name != nil) { continue }
      if record.needsTranslation {
        attachName(NAT64Prefix.discoveryName, to: record, now: now)
      } else {
        detachName(from: record)
        detach(record.translatedNodes, from: record)
        record.translatedNodes = []
      }
    }
  }
}
