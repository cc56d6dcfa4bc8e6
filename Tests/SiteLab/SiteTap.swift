// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import NIOCore

/// A handler below TLS that records the client's bytes as they came.
final class SiteTap: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private let record: SiteServerRecord
  private let number: Int

  init(record: SiteServerRecord, number: Int) {
    self.record = record
    self.number = number
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = unwrapInboundIn(data).readableBytesView
    record.update(number) { connection in
      connection.receivedRaw += bytes.prefix(SiteConnection.capacity - connection.receivedRaw.count)
    }
    context.fireChannelRead(data)
  }
}
#endif
