// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CDialtoneSystem
internal import Dialtone
internal import Netlink

/// Has the kernel ask for the neighbours that get the packets first, and looks what it learns. Belongs to one thread.
struct NeighbourProbe {
  /// One family's neighbour.
  private struct Way {
    var kernel: KernelEvidence
    var hasAnswered = false
    var socket: ProbeSocket?
  }

  /// How long a neighbour that was never known may take: the kernel asks three times, a second apart (arp(7)).
  private static let longest: Int64 = 3_600
  /// How long a neighbour that was known may take to refuse a datagram; it need not.
  private static let usual: Int64 = 150

  private let inquiry: DiagnosisInquiry
  private let patience: Patience

  init(_ inquiry: DiagnosisInquiry, _ patience: Patience) {
    self.inquiry = inquiry
    self.patience = patience
  }

  func findings(_ witness: KernelWitness) -> [Finding] {
    var ways = inquiry.openWays.map { Way(kernel: $0) }
    for index in ways.indices {
      guard let neighbour = ways[index].kernel.neighbour, neighbour.isResolved, let link = ways[index].kernel.link
      else { continue }
      ways[index].socket = DatagramProbe.wake(neighbour.address, link: link.index)
    }
    watch(&ways, witness)
    return ways.map { way in
      let result = KernelFindings.neighbour(
        way.kernel.neighbour, wasProbed: way.socket != nil, hasAnswered: way.hasAnswered)
      return .kernel(KernelFinding(.neighbour(result), way.kernel))
    }
  }

  private func watch(_ ways: inout [Way], _ witness: KernelWitness) {
    let usual = patience.moment(in: Self.usual)
    let longest = patience.moment(in: Self.longest)
    while !patience.isOver {
      var isOpen = false
      let now = TimeSource.system.now()
      for index in ways.indices where ways[index].socket != nil && !ways[index].hasAnswered {
        look(&ways[index], witness)
        let state = ways[index].kernel.neighbour?.state
        let isSettled = state.map { !$0.isDisjoint(with: [.reachable, .permanent, .noARP]) } ?? false
        if ways[index].hasAnswered || isSettled { continue }
        // A failed entry from before is asked for anew by what was sent.
        let isFailed = state?.contains(.failed) ?? false
        if isFailed, now > usual { continue }
        let isAsked = state?.contains(.incomplete) ?? true
        if isAsked || isFailed ? now < longest : now < usual { isOpen = true }
      }
      if !isOpen { return }
      let list = ways.compactMap { $0.socket.map { ($0.descriptor, wantsWriting: false) } }
      if patience.wait(list, until: patience.moment(in: 50)).contains(where: { $0.position < 0 }) { return }
    }
  }

  private func look(_ way: inout Way, _ witness: KernelWitness) {
    guard let neighbour = way.kernel.neighbour, let link = way.kernel.link else { return }
    if DatagramProbe.hasAnswered(way.socket, neighbour.address) { way.hasAnswered = true }
    way.kernel.neighbour?.state = witness.neighbourState(neighbour.address, link: link.index)
  }
}
#endif
