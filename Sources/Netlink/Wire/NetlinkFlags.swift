// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

/// The flags of a netlink message (`nlmsg_flags`, linux/netlink.h). Bits above 0xff mean different things in requests
/// that read, requests that write, and acknowledgements, so some values here are the same.
package struct NetlinkFlags: OptionSet, Hashable, Sendable {
  package let rawValue: UInt16

  @inline(__always)
  package init(rawValue: UInt16) {
    self.rawValue = rawValue
  }

  package static let request = Self(rawValue: 0x01)
  /// One message of several; the last is of type `done`.
  package static let multi = Self(rawValue: 0x02)
  /// Asks for an acknowledgement also of success.
  package static let acknowledge = Self(rawValue: 0x04)
  package static let echo = Self(rawValue: 0x08)
  /// What is dumped changed while it was dumped: the answer may miss or repeat entries.
  package static let dumpInterrupted = Self(rawValue: 0x10)
  /// The kernel honoured the filter in a dump request.
  package static let dumpFiltered = Self(rawValue: 0x20)

  // Requests that read.
  package static let root = Self(rawValue: 0x100)
  package static let match = Self(rawValue: 0x200)
  package static let dump: Self = [.root, .match]

  // Requests that write.
  package static let replace = Self(rawValue: 0x100)
  package static let exclusive = Self(rawValue: 0x200)
  package static let create = Self(rawValue: 0x400)
  package static let append = Self(rawValue: 0x800)

  // Acknowledgements.
  /// The request is not repeated in the acknowledgement, only its header.
  package static let capped = Self(rawValue: 0x100)
  /// Attributes follow the acknowledgement: the extended acknowledgement.
  package static let acknowledgementTLVs = Self(rawValue: 0x200)
}
