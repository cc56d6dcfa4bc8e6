// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CNetworkLab

/// The socket through which a lab changes its network, one acknowledged request at a time. A netlink socket stays in
/// the namespace in which it was opened, so any thread may use it.
final class LabWriter: Sendable {
  private let socket: Int32
  private let sequence = LabLock<UInt32>(0)

  /// Call this on the lab's thread.
  init() throws(LabError) { socket = try check(lab_netlink_open(), "opening a netlink socket") }

  deinit { lab_close(socket) }

  /// Sends the request, waits for the acknowledgement, and throws the kernel's error.
  func send(_ message: LabMessage, _ what: @autoclosure () -> String) throws(LabError) {
    var words = [CChar](repeating: 0, count: 256)
    let result = sequence.withLock { sequence in
      sequence += 1
      let bytes = message.finished(sequence: sequence)
      // The function reads the one array and writes the other, within the counts given.
      return unsafe bytes.withUnsafeBufferPointer { bytes in
        unsafe words.withUnsafeMutableBufferPointer { words in
          unsafe lab_netlink_request(socket, bytes.baseAddress, bytes.count, words.baseAddress, words.count)
        }
      }
    }
    let text = String(words)
    try check(result, text.isEmpty ? what() : "\(what()) (\(text))")
  }

  /// Sends many messages with few system calls.
  func send(_ messages: [LabMessage], _ what: @autoclosure () -> String) throws(LabError) {
    let result = sequence.withLock { sequence in
      var bytes: [UInt8] = []
      for message in messages {
        sequence += 1
        bytes += message.finished(sequence: sequence, acknowledged: false)
      }
      // The function reads within the count given.
      return unsafe bytes.withUnsafeBufferPointer { unsafe lab_netlink_batch(socket, $0.baseAddress, $0.count) }
    }
    try check(result, what())
  }

  func index(of name: String) throws(LabError) -> Int32 {
    // The name is only read, during the call.
    try check(unsafe lab_interface_index(socket, name), "finding the interface \(name)")
  }

  func routes(_ type: Int32, first: UInt32, prefix: UInt8, count: UInt32, index: Int32, table: UInt32) -> Int32 {
    sequence.withLock { _ in lab_netlink_routes(socket, UInt16(type), first, prefix, count, index, table) }
  }

  func sendForged(_ bytes: [UInt8], to port: UInt32) throws(LabError) {
    // The function reads within the count given.
    let result = unsafe bytes.withUnsafeBufferPointer {
      unsafe lab_netlink_send_to(socket, port, $0.baseAddress, $0.count)
    }
    try check(result, "sending to the netlink port \(port)")
  }
}
#endif
