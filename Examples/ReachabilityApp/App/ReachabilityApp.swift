// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

// What the network is like, live, on a phone or a desktop.
//
// On a Mac: swift run ReachabilityApp. For a phone: add the files of this folder and of the folder Model to an app
// target of Xcode's that depends on Dialtone and DialtoneSites.

#if canImport(SwiftUI)
import SwiftUI

@main
struct ReachabilityApp: App {
  init() {
    #if os(macOS)  // Started from a shell, a program has no icon and no place in front, unless it asks.
    NSApplication.shared.setActivationPolicy(.regular)
    NSApplication.shared.activate()
    #endif
  }

  var body: some Scene {
    WindowGroup("Reachability") { ReachabilityView() }
  }
}
#endif
