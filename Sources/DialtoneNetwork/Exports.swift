// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

// Apple's `Network` also brings Dispatch, whose queues `NWPathMonitor` takes.
#if canImport(Darwin)
@_exported public import Network
#else
@_exported public import Dispatch
@_exported public import SocketAddressLengths
#endif
