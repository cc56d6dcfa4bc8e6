// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CDialtoneSystem
import Testing

@testable import Dialtone

struct SystemFileTests {
  private static func failure(_ read: () throws(SystemFile.Failure) -> [UInt8]) -> SystemFile.Failure? {
    do throws(SystemFile.Failure) {
      _ = try read()
      return nil
    } catch {
      return error
    }
  }

  @Test func readsAFile() throws {
    let bytes = try SystemFile.bytes(at: "/proc/self/comm", limit: 16)
    #expect(bytes.last == UInt8(ascii: "\n"))
    #expect(SystemFile.text(at: "/proc/self/comm") == String(decoding: bytes, as: UTF8.self))
  }

  @Test func doesNotReadADeviceByItsPath() {
    guard
      case .irregular = Self.failure({ () throws(SystemFile.Failure) in try SystemFile.bytes(at: "/dev/zero", limit: 1)
      })
    else {
      Issue.record("a device may never end")
      return
    }
    #expect(SystemFile.text(at: "/dev/zero") == nil)
  }

  @Test func endsAtTheLimit() {
    // The path is only read during the call.
    let device = OwnedDescriptor(unsafe csystem_open("/dev/zero", O_RDONLY | O_CLOEXEC))
    let number = device.rawValue
    let failure = withExtendedLifetime(device) {
      Self.failure { () throws(SystemFile.Failure) in try SystemFile.bytes(of: number, limit: 1 << 20) }
    }
    guard case .tooLong = failure else {
      Issue.record("read on without a limit")
      return
    }
  }

  @Test func saysWhyThereIsNoFile() {
    let failure = Self.failure { () throws(SystemFile.Failure) in try SystemFile.bytes(at: "/nowhere", limit: 1) }
    guard case .refused(let error) = failure else {
      Issue.record("read a file that does not exist")
      return
    }
    #expect(error.errno == ENOENT)
    #expect(SystemFile.text(at: "/nowhere") == nil)
  }
}
#endif
