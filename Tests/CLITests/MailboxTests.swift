// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import Dialtone
import Testing

@testable import DialtoneCLI

struct MailboxTests {
  private func state(_ index: UInt32) -> Reachability {
    Reachability(status: .reachable, interface: NetworkInterface(name: "eth0", index: index, kind: .wired))
  }

  @Test func keepsOrder() throws {
    let mailbox = try Mailbox<Reachability>()
    for index in 0..<10 { mailbox.post(state(UInt32(index)), for: index % 2) }
    #expect(mailbox.takeAll().map { $0.state.interface?.index } == (0..<10).map { UInt32($0) })
    #expect(mailbox.takeAll().isEmpty)
  }

  @Test func staysBoundedAndKeepsTheNewestOfEach() throws {
    let mailbox = try Mailbox<Reachability>()
    for index in 1...100_000 { mailbox.post(state(UInt32(index)), for: index % 3) }
    let letters = mailbox.takeAll()
    #expect(letters.count <= 1024)
    for target in 0..<3 {
      let newest = (1...100_000).last { $0 % 3 == target }.map { UInt32($0) }
      #expect(letters.last { $0.target == target }?.state.interface?.index == newest)
    }
  }

  @Test func wakesItsReader() throws {
    let mailbox = try Mailbox<Reachability>()
    let wait = try EventWait(mailbox: mailbox, output: nil)
    #expect(!wait.wait(atMost: .zero).hasLetters)
    mailbox.post(state(1), for: 0)
    #expect(wait.wait(atMost: .zero).hasLetters)
    _ = mailbox.takeAll()
    #expect(!wait.wait(atMost: .milliseconds(1)).hasLetters)
  }
}
