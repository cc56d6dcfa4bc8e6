// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Testing

@testable import DialtoneSites

struct SiteErrorTests {
  @Test(arguments: [ChannelError.eof, .ioOnClosedChannel, .inputClosed])
  func repeatsNoWordsOfNIO(_ error: ChannelError) {
    for message in [
      SiteError(connecting: error).message, SiteError(losing: error).message,
      SiteError(handshaking: error, certificate: nil, now: 0).message,
    ] {
      #expect(!message.contains("\(error)"), "\(message)")
    }
  }
}
