// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem

/// Asks the kernel for the route to 127.0.0.1, with nothing between (rtnetlink(7)).
struct BareQuestion: ~Copyable {
  struct Failure: Error {
    let code: CInt
  }

  private let descriptor: CInt
  private let question: [UInt8]
  private var answer = [UInt8](repeating: 0, count: 4096)

  init() throws(Failure) {
    var message = rtmsg()
    message.rtm_family = UInt8(AF_INET)
    message.rtm_dst_len = 32
    let destination = rtattr(rta_len: 8, rta_type: UInt16(RTA_DST.rawValue))
    let length = MemoryLayout<nlmsghdr>.size + MemoryLayout<rtmsg>.size + 8
    let header = nlmsghdr(
      nlmsg_len: UInt32(length), nlmsg_type: UInt16(RTM_GETROUTE), nlmsg_flags: UInt16(NLM_F_REQUEST), nlmsg_seq: 1,
      nlmsg_pid: 0)
    var bytes: [UInt8] = []
    func append<Value>(_ value: Value) { unsafe withUnsafeBytes(of: value) { unsafe bytes.append(contentsOf: $0) } }
    append(header)
    append(message)
    append(destination)
    bytes += [127, 0, 0, 1]
    question = bytes
    descriptor = socket(AF_NETLINK, CInt(SOCK_RAW.rawValue), NETLINK_ROUTE)
    guard descriptor >= 0 else { throw Failure(code: csystem_errno()) }
  }

  deinit { close(descriptor) }

  mutating func ask() throws(Failure) {
    // Each call gets the whole of an array, and its length.
    let sent = unsafe send(descriptor, question, question.count, 0)
    let received = unsafe recv(descriptor, &answer, answer.count, 0)
    guard sent == question.count, received > MemoryLayout<nlmsghdr>.size else { throw Failure(code: csystem_errno()) }
    // The type tells an answer from an error, which may be shorter.
    let type = unsafe answer.withUnsafeBytes { unsafe $0.load(fromByteOffset: 4, as: UInt16.self) }
    guard type == UInt16(RTM_NEWROUTE) else { throw Failure(code: 0) }
  }
}
#endif
