// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

// Apple's `SystemConfiguration` also brings queues, run loops and socket addresses.
#if canImport(Darwin)
#if !os(watchOS)  // which has no SCNetworkReachability
@_exported public import SystemConfiguration
#endif
#else
@_exported public import CoreFoundation
@_exported public import Dispatch
@_exported public import Foundation
@_exported public import SocketAddressLengths
#if canImport(Glibc)
@_exported public import Glibc
#elseif canImport(Musl)
@_exported public import Musl
#elseif canImport(Android)
@_exported public import Android
#endif
#endif
