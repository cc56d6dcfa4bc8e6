// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Testing

@testable import DialtoneSystemConfiguration

/// Sources in run loops that nobody else runs, and the numbers of errors.
struct RunLoopSourceTests {
  private func mode(_ name: String) -> CFRunLoopMode { CFRunLoopMode(CFString(string: "io.github.dialtone.\(name)")) }

  @Test("a source ends with its last place, and never has another one then")
  func endsWithItsLastPlace() throws {
    let target = SCNetworkReachability(.nobody)
    let source = RunLoopSource(target)
    let loop: CFRunLoop = try #require(CFRunLoopGetCurrent())
    let (first, second) = (RunLoopSource.mode(mode("a").rawValue), RunLoopSource.mode(mode("b").rawValue))
    #expect(!source.hasEnded)
    #expect(!source.remove(loop, first), "it is nowhere")
    #expect(source.add(loop, first) && source.add(loop, second))
    // The same place again, by another object of the same text, has to be left twice.
    #expect(source.add(loop, RunLoopSource.mode(mode("a").rawValue)))
    #expect(source.remove(loop, RunLoopSource.mode(mode("c").rawValue)) && !source.hasEnded)
    #expect(source.remove(loop, second) && !source.hasEnded)
    #expect(source.remove(loop, first) && !source.hasEnded)
    #expect(source.remove(loop, first) && source.hasEnded)
    #expect(!source.add(loop, first) && !source.remove(loop, first))
  }

  @Test("a source that was ended is nowhere")
  func isEnded() throws {
    let source = RunLoopSource(SCNetworkReachability(.nobody))
    let loop: CFRunLoop = try #require(CFRunLoopGetCurrent())
    let place = RunLoopSource.mode(mode("a").rawValue)
    #expect(source.add(loop, place))
    source.end()
    #expect(source.hasEnded && !source.remove(loop, place) && !source.add(loop, place))
  }

  @Test("each place of a source is a run loop and a mode")
  func placesAreTwofold() throws {
    let (loop, other): (CFRunLoop, CFRunLoop) = (
      try #require(CFRunLoopGetCurrent()), try #require(CFRunLoopGetMain())
    )
    // Where tests run on the main thread, there is no other run loop.
    guard loop !== other else { return }
    let source = RunLoopSource(SCNetworkReachability(.nobody))
    let place = RunLoopSource.mode(mode("d").rawValue)
    #expect(source.add(loop, place))
    #expect(source.remove(other, place) && !source.hasEnded)
    #expect(source.add(other, place))
    #expect(source.remove(loop, place) && !source.hasEnded)
    #expect(source.remove(other, place) && source.hasEnded)
  }

  @Test("the numbers and texts of errors are those of Apple's headers")
  func errors() {
    let table: [(Int, Int, String)] = [
      (kSCStatusOK, 0, "Success!"), (kSCStatusFailed, 1001, "Failed!"),
      (kSCStatusInvalidArgument, 1002, "Invalid argument"), (kSCStatusAccessError, 1003, "Permission denied"),
      (kSCStatusReachabilityUnknown, 4001, "Network reachability cannot be determined"), (9999, 9999, "Unknown error"),
    ]
    for (status, number, text) in table {
      #expect(status == number)
      #expect(String(cString: SCErrorString(CInt(number))) == text)
      #expect(LastError.note(number) == (number == 0))
      #expect(SCError() == CInt(number))
      let error = SCCopyLastError()
      #expect(error.code == number && error.localizedDescription == text)
      #expect(error.domain == "com.apple.SystemConfiguration")
    }
    _ = LastError.note(kSCStatusOK)
  }

  @Test("a context is of version 0, and has nothing at first")
  func contexts() {
    let context = SCNetworkReachabilityContext()
    // No type of Core Foundation has the number 0 (CFRuntime.h, _kCFRuntimeNotATypeID).
    #expect(SCNetworkReachabilityGetTypeID() == 0)
    #expect(context.version == 0 && context.info == nil && context.retain == nil && context.release == nil)
  }
}
#endif
