// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

extension SiteVerdict {
  /// How long each stage of a check took; `nil` for one that was not reached or not finished.
  ///
  /// Where GET followed HEAD, they are those of GET; ``total`` counts both.
  public struct Timings: Hashable, Sendable {
    /// From the beginning until the name's addresses were known; `nil` for a literal address.
    public package(set) var name: Duration?
    /// From the first packet of the first attempt until one of the connections was made.
    public package(set) var connect: Duration?
    /// From then until TLS was agreed upon; `nil` over http.
    public package(set) var tls: Duration?
    /// From sending the request until the first byte of the answer came.
    public package(set) var firstByte: Duration?
    /// From the beginning until the verdict.
    public package(set) var total: Duration?

    package init() {}
  }
}
