// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

@testable import Dialtone

/// Runs a classic BPF program as the kernel does (net/core/filter.c), for the instructions that a filter here uses.
/// It follows the kernel's side, with the numbers of linux/bpf_common.h, so that an error on our side shows.
struct BPFInterpreter {
  enum Failure: Error, Hashable {
    case unknownInstruction(UInt16)
    case ranOffTheEnd
  }

  let program: [BPFInstruction]

  /// - Returns: Whether the packet is kept. A load outside the packet ends the program and drops it, as in the kernel.
  func accepts(_ packet: [UInt8]) throws -> Bool {
    var (accumulator, index): (UInt32, UInt32) = (0, 0)
    var memory = [UInt32](repeating: 0, count: 16)
    var counter = 0
    func load(_ offset: Int, _ count: Int) -> UInt32? {
      guard offset >= 0, offset + count <= packet.count else { return nil }
      return packet[offset..<(offset + count)].reduce(0) { $0 << 8 | UInt32($1) }
    }
    while counter < program.count {
      let instruction = program[counter]
      let operand = instruction.operand
      counter += 1
      switch instruction.code {
      case 0x20 where operand == 0xffff_f00c: accumulator = findAttribute(in: packet, from: accumulator, type: index)
      case 0x20, 0x28, 0x30:
        guard let value = load(Int(operand), [0x20: 4, 0x28: 2, 0x30: 1][instruction.code] ?? 4) else { return false }
        accumulator = value
      case 0x40:
        guard let value = load(Int(index) + Int(operand), 4) else { return false }
        accumulator = value
      case 0x00: accumulator = operand
      case 0x60: accumulator = memory[Int(operand)]
      case 0x01: index = operand
      case 0x61: index = memory[Int(operand)]
      case 0x02: memory[Int(operand)] = accumulator
      case 0x14: accumulator &-= operand
      case 0x5c: accumulator &= index
      case 0xa4: accumulator ^= operand
      // The kernel's shift takes the count modulo 32.
      case 0x6c: accumulator &<<= index
      case 0x84: accumulator = 0 &- accumulator
      case 0x07: index = accumulator
      case 0x05: counter += Int(operand)
      case 0x15: counter += Int(accumulator == operand ? instruction.ifTrue : instruction.ifFalse)
      case 0x45: counter += Int(accumulator & operand != 0 ? instruction.ifTrue : instruction.ifFalse)
      case 0x25: counter += Int(accumulator > operand ? instruction.ifTrue : instruction.ifFalse)
      case 0x35: counter += Int(accumulator >= operand ? instruction.ifTrue : instruction.ifFalse)
      case 0x06: return operand != 0
      default: throw Failure.unknownInstruction(instruction.code)
      }
    }
    throw Failure.ranOffTheEnd
  }

  /// Walks like `nla_find`, as `bpf_skb_get_nlattr` does.
  private func findAttribute(in packet: [UInt8], from start: UInt32, type: UInt32) -> UInt32 {
    guard packet.count >= 4, Int(start) <= packet.count - 4 else { return 0 }
    return withBytes(of: packet) { bytes in
      var cursor = NetlinkAttributeCursor(Int(start)..<packet.count)
      while let attribute = cursor.next(in: bytes) {
        if UInt32(attribute.type) == type { return UInt32(attribute.payload.lowerBound - 4) }
      }
      return 0
    }
  }
}
