// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
@testable import Dialtone
import Testing

/// Answers as the kernel seldom gives them: late, twice, too long, malformed, overtaken by changes, or none.
@Suite(.enabled(if: LiveKernel.answers, "netlink is refused here"))
struct ScriptedKernelTests {
  // MARK: Dumps

  /// What is said after each request, how often it may be read, and what comes of it: the attempts, whether the last
  /// one was interrupted or filtered, and how many objects it had; or why there is none.
  private static let dumps: [(said: [String], attempts: Int, end: String)] = [
    (["o d"], 8, "1 whole 1"), (["o+o+d"], 8, "1 whole 2"), (["oI d", "o d"], 8, "2 whole 1"),
    (["o dI", "o d"], 8, "2 whole 1"), (["o eI"], 8, "1 whole 1"), (["nI+o d"], 8, "1 whole 1"),
    (["oI d", "o d"], 1, "1 interrupted 1"), (["o dI", "oI d", "o d"], 3, "3 whole 1"),
    (["oI d", "oI d", "oI d", "o d"], 3, "3 interrupted 1"), (["oF d"], 8, "1 whole filtered 1"),
    (["o dF"], 8, "1 whole filtered 1"), (["oIF d", "o d"], 8, "2 whole 1"),
    // Stale answers say nothing.
    (["oI7+o+o7 d7 e7:2+o oF7 d"], 8, "1 whole 2"), (["e:2", "o d"], 8, "refusedByKernel 2"),
    (["o d:22", "o d"], 8, "refusedByKernel 22"), (["", "o d"], 1, "noAnswer 0"), (["o", "o d"], 1, "noAnswer 0"),
    (["", "", "o d"], 2, "noAnswer 0"), (["", "o d"], 2, "2 whole 1"), (["o X d", "o d"], 1, "malformed 0"),
    (["o+X d", "o d"], 1, "malformed 0"), (["X", "o d"], 1, "malformed 0"), (["X d", "o d"], 2, "2 whole 1"),
    (["o D", "o d"], 1, "malformed 0"),
  ]

  /// Plays a dump; with no number of attempts, one of generic netlink.
  private func play(_ said: [String], attempts: Int?) throws -> (end: String, began: Int) {
    var client = try NetlinkClient()
    let kernel = try ScriptedKernel(inPlaceOf: client.descriptor)
    let first = client.takeSequences(0)
    var (began, objects) = (0, 0)
    func take(_ step: NetlinkDumpStep) {
      guard case .began = step else {
        objects += 1
        return
      }
      // One request, with a number of its own.
      let request = kernel.heard()
      let number = first + UInt32(began)
      #expect(request.header?.sequence == number && request.header?.length == UInt32(request.count))
      if began < said.count { kernel.say(said[began], number) }
      (began, objects) = (began + 1, 0)
    }
    do throws(NetlinkError) {
      let outcome =
        if let attempts {
          try client.dump(.getLink, attempts: attempts) { step, _ in take(step) }
        } else {
          try client.dump(
            "list families",
            request: {
              $0.begin(.genericController, [.request, .dump], sequence: $1)
              $0.end()
            }, { step, _ in take(step) })
        }
      let words = "\(outcome.wasInterrupted ? "interrupted" : "whole")\(outcome.wasFiltered ? " filtered" : "")"
      return ("\(outcome.attempts) \(words) \(objects)", began)
    } catch {
      return ("\(error.code.rawValue) \(error.errno)", began)
    }
  }

  @Test(arguments: dumps.indices) func aDumpIsReadUntilItIsWhole(row: Int) throws {
    let (said, attempts, expected) = Self.dumps[row]
    let end = try play(said, attempts: attempts).end
    #expect(end == expected, "\(said)")
  }

  @Test func aDumpOfGenericNetlinkIsReadEightTimesAtMost() throws {
    let (end, began) = try play([String](repeating: "oI d", count: 9), attempts: nil)
    #expect(end == "8 interrupted 1" && began == 8)
  }

  /// Reads a dump, and has more said with each object. Returns how many there were, or why it failed.
  private func read(_ more: (_ kernel: ScriptedKernel, _ number: UInt32) -> Void) throws -> (Int, NetlinkError.Code?) {
    var client = try NetlinkClient()
    let kernel = try ScriptedKernel(inPlaceOf: client.descriptor)
    let number = client.takeSequences(0)
    var objects = -1
    do throws(NetlinkError) {
      _ = try client.dump(.getLink, attempts: 1) { _, _ in
        objects += 1
        more(kernel, number)
      }
      return (objects, nil)
    } catch {
      return (objects, error.code)
    }
  }

  /// The limit is 1,024 datagrams that bring nothing. Those that bring something do not count.
  @Test(arguments: [(1, true), (1_023, true), (1_024, false), (1_500, false)])
  func manyDatagramsMayBringNothing(count: Int, isRead: Bool) throws {
    var (stale, fresh) = (count, 1_100)
    let (objects, code) = try read { kernel, number in
      let batch = min(stale, 100)
      for _ in 0..<batch { kernel.say("o7", number) }
      kernel.say(stale == 0 && fresh == 0 ? "d" : "o", number)
      (stale, fresh) = (stale - batch, max(fresh - 1, 0))
    }
    #expect(code == (isRead ? nil : .noAnswer) && (objects == 1_100 || !isRead))
  }

  // MARK: Exchanges

  /// What is said to three requests, and what is handed over in this order. A slot has 16 KiB.
  private static let exchanges: [(said: String, answers: String)] = [
    ("o0 o1 o2", "0 link, 1 link, 2 link"), ("o2 e0:19 o1", "2 link, 0 error 19, 1 link"),
    ("o0+e1:1+o2", "0 link, 1 error 1, 2 link"), ("o0+o1 e2:0", "0 link, 1 link, 2 error 0"),
    ("", "0 missing, 1 missing, 2 missing"), ("o2 o0", "2 link, 0 link, 1 missing"),
    ("o1 e1:19 o1 o0", "1 link, 0 link, 2 missing"), ("n0 n1+o1 o0 o2", "1 link, 0 link, 2 link"),
    ("o-1 o3 o0 e-2:1+o1 e7:1 o2", "0 link, 1 link, 2 link"), ("E1 o0 o2", "1 malformed, 0 link, 2 link"),
    ("o0 X o2", "0 link, 2 link, 1 missing"), ("o0+X o1 o2", "0 link, 1 link, 2 link"),
    ("o0:16384 o1 o2", "0 link, 1 link, 2 link"), ("o0:16385 o1 o2", "0 truncated, 1 link, 2 link"),
    ("o2 o1:16388 o0:20000", "2 link, 1 truncated, 0 truncated"), ("o5:16388 o0 o1 o2", "0 link, 1 link, 2 link"),
  ]

  private static func word(_ answer: NetlinkAnswer) -> String {
    switch answer {
    case .message(let message): message.type == .newLink ? "link" : "type \(message.type.rawValue)"
    case .acknowledgement(let acknowledgement): "error \(acknowledgement.errno)"
    case .lost(let loss): "\(loss)"
    }
  }

  /// Asks `count` times, and calls `more` with each answer.
  private func ask(
    _ count: Int, _ said: String, port: UInt32 = 0, _ more: (ScriptedKernel, UInt32) -> Void = { _, _ in }
  ) throws -> (answers: [String], foreign: UInt64) {
    var client = try NetlinkClient()
    let kernel = try ScriptedKernel(inPlaceOf: client.descriptor, port: port)
    let first = client.takeSequences(0)
    kernel.say(said, first)
    if said.isEmpty { more(kernel, first) }
    var requests = NetlinkRequestBuilder()
    for _ in 0..<count { requests.appendLinkBarrier() }
    var answers: [String] = []
    try client.exchange(&requests) { index, answer, bytes in
      answers.append("\(index) \(Self.word(answer))")
      let byteCount = bytes.byteCount
      if case .lost = answer { #expect(byteCount == 0) } else { more(kernel, first) }
    }
    // All went in one datagram.
    let sent = [kernel.heard().count, kernel.heard().count]
    #expect(sent == [requests.bytes.count, 0])
    return (answers, client.socket.foreignCount)
  }

  @Test(arguments: exchanges.indices) func eachRequestHasOneAnswer(row: Int) throws {
    let (said, expected) = Self.exchanges[row]
    let (answers, foreign) = try ask(3, said)
    #expect(answers.joined(separator: ", ") == expected && foreign == 0, "\(said)")
    // netlink(7): nl_pid is the kernel's only if it is 0.
    let others = try ask(3, said, port: 1)
    #expect(others.answers == ["0 missing", "1 missing", "2 missing"])
    #expect(others.foreign == said.split(separator: " ").count)
  }

  /// The limit is 1,024 receives. Each takes as many datagrams as there are answers missing; only the last one of each
  /// step is an answer. All steps but the last are 1,000 receives.
  @Test(arguments: [(1, true), (24, true), (25, false), (40, false)])
  func manyReceivesMayBringNothing(last: Int, isAnswered: Bool) throws {
    var steps = [30, 32, 34, 36, 40, 43, 48, 53, 60, 68, 80, 96, 120, 160, 100, last]
    let answers = try ask(16, "") { kernel, first in
      if steps.isEmpty { return }
      let (count, missing) = (steps.removeFirst(), steps.count + 1)
      for _ in 1..<count * missing { kernel.say("o-1", first) }
      kernel.say("o\(16 - missing)", first)
    }.answers
    #expect(answers == (0..<15).map { "\($0) link" } + ["15 \(isAnswered ? "link" : "missing")"])
  }

  // MARK: Files that are no sockets

  /// send(2), recvmmsg(2), setsockopt(2): ENOTSOCK. What lacks the mark is not even written to: EBADF.
  @Test(arguments: [true, false]) func anErrorOfACallIsTold(isMarked: Bool) throws {
    let socket = try NetlinkSocket(.route)
    let (number, file) = (socket.descriptor, unsafe csystem_open("/dev/null", O_RDWR | O_CLOEXEC))
    if isMarked { FileIdentity(number)?.mark(file) }
    try #require(file >= 0 && dup2(file, number) == number)
    let buffer = NetlinkBuffer(byteCount: 4096)
    var requests = NetlinkRequestBuilder()
    requests.appendLinkBarrier()
    var found: [NetlinkError] = []
    do throws(NetlinkError) { try socket.send(requests) } catch { found.append(error) }
    do throws(NetlinkError) { _ = try socket.receive(into: buffer) } catch { found.append(error) }
    do throws(NetlinkError) { _ = try socket.receivePair(into: buffer) } catch { found.append(error) }
    do throws(NetlinkError) { try socket.join(.link) } catch { found.append(error) }
    do throws(NetlinkError) { try socket.attach(KernelFilter(destinations: [])) } catch { found.append(error) }
    #expect(found.map(\.code) == [.sendFailed, .receiveFailed, .receiveFailed, .membershipRefused, .filterRefused])
    #expect(found.map(\.errno) == [isMarked ? ENOTSOCK : EBADF, ENOTSOCK, ENOTSOCK, ENOTSOCK, ENOTSOCK])
    let isOpen = [socket.isMarkedOpen, socket.isOpen]
    #expect(isOpen == [isMarked, false])
    _ = (close(file), close(number))
  }
}
#endif
