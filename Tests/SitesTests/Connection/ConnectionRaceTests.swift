// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import NIOCore
import NIOEmbedded
import Testing

@testable import DialtoneSites

/// A race whose attempts do what a test says, on a clock that it moves.
struct ConnectionRaceTests {
  private final class Attempt: ConnectionAttempt {
    let route: Route
    private(set) var isClosed = false
    private var end: ((Result<any Channel, SiteError>) -> Void)?

    init(_ route: Route) { self.route = route }

    func start(_ end: @escaping (Result<any Channel, SiteError>) -> Void) { self.end = end }

    func close() { isClosed = true }

    func fail() { end?(.failure(SiteError(.cannotConnect, "\(route.address)"))) }

    func connect() { end?(.success(EmbeddedChannel())) }
  }

  private final class Lab {
    let loop = EmbeddedEventLoop()
    private(set) var attempts: [Attempt] = []
    private(set) var ends: [(winner: IPAddress?, error: SiteError?, last: IPAddress?)] = []
    private(set) var race: ConnectionRace!

    init(_ addresses: [IPAddress], isOpen: Bool = false) {
      race = ConnectionRace(Self.routes(addresses), isOpen: isOpen, loop) { [unowned self] route in
        let attempt = Attempt(route)
        attempts.append(attempt)
        return attempt
      } end: { [unowned self] result, last in
        switch result {
        case .success((_, let route)): ends.append((route.address, nil, last?.address))
        case .failure(let error): ends.append((nil, error, last?.address))
        }
      }
      race.start()
    }

    static func routes(_ addresses: [IPAddress]) -> [Route] { addresses.map { Route(address: $0, interface: nil) } }

    func add(_ addresses: [IPAddress]) { race.add(Self.routes(addresses)) }

    func pass(_ milliseconds: Int64) { loop.advanceTime(by: .milliseconds(milliseconds)) }

    var tried: [IPAddress] { attempts.map(\.route.address) }
  }

  /// IPv4 addresses 192.0.2.0 to 192.0.2.9.
  private let addresses = (0..<10).map { IPAddress(ipv4: 0xC000_0200 + UInt32($0)) }

  /// RFC 8305, 5: the recommended Connection Attempt Delay is 250 milliseconds.
  @Test func eachHasAQuarterOfASecond() {
    let lab = Lab(Array(addresses[..<3]))
    #expect(lab.tried == Array(addresses[..<1]))
    lab.pass(249)
    #expect(lab.tried == Array(addresses[..<1]))
    lab.pass(1)
    #expect(lab.tried == Array(addresses[..<2]))
    lab.pass(249)
    #expect(lab.tried.count == 2)
    lab.pass(1)
    #expect(lab.tried == Array(addresses[..<3]) && !lab.attempts.contains(where: \.isClosed))
    lab.pass(10_000)
    #expect(lab.tried.count == 3 && lab.ends.isEmpty)
  }

  @Test func fourAreTriedAtATime() {
    let lab = Lab(addresses)
    lab.pass(750)
    #expect(lab.attempts.count == 4 && !lab.attempts.contains(where: \.isClosed))
    for more in 1...6 {
      lab.pass(250)
      #expect(lab.attempts.map(\.isClosed) == (0..<4 + more).map { $0 < more }, "the oldest makes room")
    }
    // What has made room changes nothing any more.
    lab.attempts[0].connect()
    lab.attempts[1].fail()
    #expect(lab.ends.isEmpty)
  }

  @Test func theFirstConnectionWinsAndTheOthersAreClosed() {
    let lab = Lab(Array(addresses[..<5]))
    lab.pass(500)
    lab.attempts[1].connect()
    #expect(lab.ends.map(\.winner) == [addresses[1]] && lab.ends.first?.last == addresses[1])
    #expect(lab.attempts.map(\.isClosed) == [true, false, true])
    lab.attempts[0].connect()
    lab.attempts[2].fail()
    lab.race.close()
    lab.add([addresses[9]])
    lab.pass(10_000)
    #expect(lab.attempts.count == 3 && lab.ends.count == 1, "nothing is tried or told any more")
  }

  @Test func aFailureBringsTheNextForward() {
    let lab = Lab(Array(addresses[..<4]))
    lab.pass(100)
    lab.attempts[0].fail()
    #expect(lab.attempts.count == 1, "not within the attempt that failed")
    lab.loop.run()
    #expect(lab.tried == Array(addresses[..<2]))
    // The new one has its own quarter of a second.
    lab.pass(249)
    #expect(lab.attempts.count == 2)
    lab.pass(1)
    #expect(lab.attempts.count == 3)
  }

  @Test func itFailsOnceAllHaveFailed() {
    let lab = Lab(Array(addresses[..<2]))
    lab.pass(250)
    lab.attempts[1].fail()
    lab.loop.run()
    #expect(lab.ends.isEmpty, "the first is still under way")
    lab.attempts[0].fail()
    lab.loop.run()
    #expect(lab.ends.map(\.error?.message) == [addresses[0].description] && lab.ends.first?.last == addresses[0])
  }

  @Test func itDoesNotFailWhileMoreMayCome() {
    let lab = Lab([addresses[0]], isOpen: true)
    lab.attempts[0].fail()
    lab.pass(1_000)
    #expect(lab.ends.isEmpty)
    lab.add([addresses[1]])
    lab.loop.run()
    #expect(lab.tried == Array(addresses[..<2]), "nothing is under way: at once")
    lab.race.close()
    #expect(lab.ends.isEmpty, "one is under way")
    lab.attempts[1].fail()
    #expect(lab.ends.count == 1)
  }

  @Test func closingEndsARaceThatHasNothingLeft() {
    let lab = Lab([addresses[0]], isOpen: true)
    lab.attempts[0].fail()
    lab.race.close()
    #expect(lab.ends.map(\.last) == [addresses[0]])
  }

  @Test func whatIsAddedWaitsForItsTurn() throws {
    let six = try #require(IPAddress("2001:db8::1"))
    let lab = Lab([addresses[0]], isOpen: true)
    lab.pass(100)
    lab.add([addresses[1], six])
    lab.loop.run()
    #expect(lab.attempts.count == 1, "the first has its quarter of a second")
    lab.pass(149)
    #expect(lab.attempts.count == 1)
    lab.pass(1)
    #expect(lab.tried == [addresses[0], six], "the other family's turn")
    lab.pass(250)
    #expect(lab.tried == [addresses[0], six, addresses[1]])
    lab.pass(1_000)
    lab.add([addresses[2]])
    lab.loop.run()
    #expect(lab.tried.count == 4, "all have had theirs")
  }

  @Test func aCancelledRaceDoesNothingMore() {
    let lab = Lab(Array(addresses[..<4]))
    lab.pass(250)
    lab.race.cancel()
    #expect(lab.attempts.map(\.isClosed) == [true, true])
    lab.pass(10_000)
    lab.add([addresses[9]])
    lab.attempts[0].connect()
    lab.attempts[1].fail()
    lab.race.close()
    lab.pass(10_000)
    #expect(lab.attempts.count == 2 && lab.ends.isEmpty)
  }
}
