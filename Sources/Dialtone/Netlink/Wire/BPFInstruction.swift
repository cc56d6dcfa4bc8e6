// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// One instruction of classic BPF, laid out as the kernel's `struct sock_filter` (linux/filter.h).
package struct BPFInstruction: Hashable, Sendable, BitwiseCopyable {
  package let code: UInt16
  /// How many instructions to skip if a comparison holds.
  let ifTrue: UInt8
  /// How many instructions to skip if it does not.
  let ifFalse: UInt8
  let operand: UInt32

  package init(_ code: Code, _ operand: UInt32 = 0, ifTrue: UInt8 = 0, ifFalse: UInt8 = 0) {
    self.code = code.rawValue
    self.ifTrue = ifTrue
    self.ifFalse = ifFalse
    self.operand = operand
  }

  /// The operations that a filter here uses, as linux/bpf_common.h composes them from class, size, mode and source. A
  /// is the accumulator, X the index register, K the operand, M the sixteen words of scratch memory. Loads from the
  /// packet read network order.
  package enum Code: UInt16, Sendable {
    /// A = the 32 bits at K. An operand from 0xfffff000 on is no offset but an extension.
    case loadWord = 0x20
    /// A = the 16 bits at K.
    case loadHalf = 0x28
    /// A = the byte at K.
    case loadByte = 0x30
    /// A = the 32 bits at X + K.
    case loadWordIndexed = 0x40
    /// A = K.
    case loadImmediate = 0x00
    /// A = M[K].
    case loadMemory = 0x60
    /// X = K.
    case loadIndexImmediate = 0x01
    /// X = M[K].
    case loadIndexMemory = 0x61
    /// M[K] = A.
    case storeMemory = 0x02
    /// A = A - K.
    case subtract = 0x14
    /// A = A & X.
    case andIndex = 0x5c
    /// A = A ^ K.
    case exclusiveOr = 0xa4
    /// A = A << X.
    case shiftLeftIndex = 0x6c
    /// A = -A.
    case negate = 0x84
    /// Skip K instructions.
    case jump = 0x05
    /// Compare A with K.
    case jumpIfEqual = 0x15
    /// Whether A and K have a bit in common.
    case jumpIfSet = 0x45
    case jumpIfGreater = 0x25
    case jumpIfGreaterOrEqual = 0x35
    /// X = A.
    case transferToIndex = 0x07
    /// End; keep the first K bytes, none = drop.
    case finish = 0x06
  }
}
