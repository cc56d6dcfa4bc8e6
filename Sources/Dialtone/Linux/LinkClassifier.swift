// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CDialtoneSystem

/// Finds out what a link is, with nl80211 and sysfs if the kernel's message alone does not tell.
///
/// nl80211 answers for the namespace in which its socket was opened. sysfs shows the namespace in which it was mounted,
/// which may be another. What it says of a name counts only if it shows the same index and hardware address for it.
/// Otherwise the driver is asked.
final class LinkClassifier {
  /// `nil` if generic netlink is refused.
  private var wireless: NetlinkClient?
  private var builder = NetlinkRequestBuilder()

  init() { open() }

  /// Opens the socket, if it is not open: at first, and if descriptors were short until now.
  func open() {
    if wireless?.isOpen ?? false { return }
    do throws(NetlinkError) {
      wireless = try NetlinkClient(.generic)
    } catch {
      // sysfs remains.
      wireless = nil
    }
  }

  /// Returns what the link is, and the number of its radio, if nl80211 knows one.
  func classify(_ message: LinkMessage) -> (kind: InterfaceKind, radio: UInt32?) {
    var wireless = (isKnown: false, radio: nil as UInt32?)
    let kind = InterfaceKind(message) {
      if message.deviceType == .ethernet && message.infoKind == nil { wireless = wirelessInterface(message.index) }
      return InterfaceKind.Evidence(isWireless: wireless.isKnown, deviceType: deviceType(message))
    }
    return (kind, wireless.radio)
  }

  /// Returns whether nl80211 knows the interface, and its radio (NL80211_CMD_GET_INTERFACE, linux/nl80211.h).
  private func wirelessInterface(_ index: UInt32) -> (isKnown: Bool, radio: UInt32?) {
    // A question for a family that does not exist makes the kernel load its module. If sysfs is there, it shows in any
    // namespace whether cfg80211 is loaded, which may happen at any time.
    if SystemFile.exists("/sys/class/net"), !SystemFile.exists("/sys/class/ieee80211") { return (false, nil) }
    builder.removeAll()
    builder.appendGetFamily(named: GenericNetlinkMessage.Wireless.familyName)
    guard let family = ask({ $0.familyID(in: $1) }) else { return (false, nil) }
    builder.removeAll()
    builder.appendGetWirelessInterface(index: index, family: family)
    var radio: UInt32?
    let found = ask {
      radio = $0.wirelessRadio(in: $1)
      return $0.wirelessInterfaceIndex(in: $1)
    }
    return found == index ? (true, radio) : (false, nil)
  }

  private func ask<Result>(_ read: (GenericNetlinkMessage, RawSpan) -> Result?) -> Result? {
    var result: Result?
    do throws(NetlinkError) {
      try wireless?.exchange(&builder) { _, answer, bytes in
        if case .message(let message) = answer {
          result = GenericNetlinkMessage(message, in: bytes).flatMap { read($0, bytes) }
        }
      }
    } catch {
      return nil
    }
    return result
  }

  /// Returns DEVTYPE of the link's uevent by sysfs, or by its driver if sysfs does not show the link.
  private func deviceType(_ message: LinkMessage) -> String? {
    guard let event = event(of: message) else { return driverDeviceType(message) }
    let line = event.split(separator: "\n").first { $0.hasPrefix("DEVTYPE=") }
    return line.map { String($0.dropFirst("DEVTYPE=".count)) }
  }

  /// Returns the link's uevent, if sysfs shows this very link.
  private func event(of message: LinkMessage) -> String? {
    guard let name = message.name, !name.contains("/") else { return nil }
    let folder = "/sys/class/net/\(name)"
    guard let index = SystemFile.text(at: "\(folder)/ifindex"), UInt32(index.trimmed(\.isWhitespace)) == message.index,
      let address = SystemFile.text(at: "\(folder)/address"),
      address.trimmed(\.isWhitespace) == Self.text(ofHardwareAddress: message.hardwareAddress ?? [])
    else { return nil }
    return SystemFile.text(at: "\(folder)/uevent")
  }

  /// Returns what DEVTYPE would be, by what the driver says of itself.
  private func driverDeviceType(_ message: LinkMessage) -> String? {
    guard let descriptor = wireless?.descriptor, let name = message.name else { return nil }
    let size = Int(CSYSTEM_DRIVER_TEXT_SIZE)
    var texts = [UInt8](repeating: 0, count: 2 * size)
    // The call writes two strings of `size` bytes; the name becomes a C string for it.
    let result = unsafe texts.withUnsafeMutableBytes { buffer in
      guard let start = unsafe buffer.baseAddress?.assumingMemoryBound(to: CChar.self) else { return CInt(-1) }
      return unsafe csystem_driver(descriptor, name, start, start + size)
    }
    guard result == 0 else { return nil }
    func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) }
    return InterfaceKind.Evidence.deviceType(driver: text(texts[..<size]), firmware: text(texts[size...]))
  }

  private static func text(ofHardwareAddress bytes: [UInt8]) -> String {
    var text = ""
    for byte in bytes { text += (text.isEmpty ? "" : ":") + (byte < 16 ? "0" : "") + String(byte, radix: 16) }
    return text
  }
}
#endif
