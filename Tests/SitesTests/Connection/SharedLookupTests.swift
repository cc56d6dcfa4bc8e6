// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dialtone
import TestSupport
import Testing

@testable import DialtoneSites

/// Each name is looked up once at a time, for all who ask.
@Suite(.timeLimit(.minutes(5)))
struct SharedLookupTests {
  private static let server = IPAddress(ipv4: 0xC000_0235)

  /// A resolver whose lookups wait until a latch is opened. Each has another answer: 192.0.2.1, 192.0.2.2, and so on.
  private struct Lab {
    let latch = Latch()
    /// The names that were looked up, in their order.
    let names = Box<[String]>([])
    let heard = Box<[String]>([])
    let resolver: Resolver

    init() {
      resolver = Resolver(
        EngineProvider(
          lookup: { [latch, names] name, _ in
            names.update { $0.append(name) }
            let number = names.value.count
            latch.wait()
            return .addresses([IPAddress(ipv4: 0xC000_0200 + UInt32(number))])
          }, nameServers: { [server] }), NameLookupPool(threads: 2))
    }

    /// Asks, and notes what is heard in the name of `who`.
    func ask(_ who: String, _ name: String = "site.example") -> Resolver.Inquiry {
      resolver.ask(
        name, .ipv4,
        begun: { [heard] servers in
          let text = servers.map(\.description).joined(separator: " ")
          heard.update { $0.append("\(who) asks \(text)") }
        },
        { [heard] result in
          guard case .addresses(let addresses) = result else { return }
          let text = addresses.map(\.description).joined(separator: " ")
          heard.update { $0.append("\(who) has \(text)") }
        })
    }
  }

  @Test func whoAsksDuringALookupHasItsAnswer() async throws {
    let lab = Lab()
    defer { lab.latch.open() }
    _ = lab.ask("a")
    try await eventually("it is looked up") { lab.latch.count == 1 }
    #expect(lab.heard.value == ["a asks 192.0.2.53"])
    _ = lab.ask("b")
    #expect(lab.heard.value.last == "b asks 192.0.2.53", "it has begun")
    // A caller that leaves hears nothing more; the others do.
    let leaving = lab.ask("c")
    leaving.cancel()
    leaving.cancel()
    lab.latch.open()
    try await eventually("both have it") { lab.heard.value.count == 5 }
    #expect(Set(lab.heard.value.dropFirst(3)) == ["a has 192.0.2.1", "b has 192.0.2.1"])
    // That lookup is over.
    _ = lab.ask("d")
    try await eventually("it is looked up again") { lab.heard.value.count == 7 }
    #expect(lab.heard.value.suffix(2) == ["d asks 192.0.2.53", "d has 192.0.2.2"])
    #expect(lab.names.value == ["site.example", "site.example"])
    withExtendedLifetime(lab) {}
  }

  @Test func aLookupThatEverybodyHasLeftIsNobodys() async throws {
    let lab = Lab()
    defer { lab.latch.open() }
    let (first, second) = (lab.ask("a"), lab.ask("b"))
    try await eventually("it is looked up") { lab.latch.count == 1 }
    first.cancel()
    second.cancel()
    let count = lab.heard.value.count
    _ = lab.ask("c")
    lab.latch.open()
    try await eventually("it is looked up again") { lab.heard.value.last == "c has 192.0.2.2" }
    #expect(lab.heard.value.dropFirst(count) == ["c asks 192.0.2.53", "c has 192.0.2.2"])
    withExtendedLifetime(lab) {}
  }
}
#endif
