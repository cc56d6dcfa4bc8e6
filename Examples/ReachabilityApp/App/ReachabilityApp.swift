// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

// What the network is like, live, on a phone or a desktop.
//
// On a Mac: swift run ReachabilityApp. For a phone: add both files of this folder to an app target of Xcode's, with
// those of the folder Model as a module of its own, ReachabilityModel.

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
