// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Foundation
import NetworkLab
import TestSupport

/// nginx in a lab: HTTP/1 on port 80, HTTP/1 and HTTP/2 over TLS on port 443. It ends with this object.
final class NginxLab: Sendable {
  private let folder: URL
  private let process: LabProcess

  /// The path that Debian and others use.
  static let path: String? = ["/usr/sbin/nginx", "/usr/bin/nginx", "/usr/local/sbin/nginx"]
    .first { FileManager.default.isExecutableFile(atPath: $0) }

  /// How long `/file` is.
  static let fileSize = 8 << 20

  init(_ lab: NetworkLab) async throws {
    guard let path = Self.path else { throw LabError("nginx is not installed") }
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("dialtone-nginx-\(UUID())")
    self.folder = folder
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let source = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
    let identity = source.appendingPathComponent("../../../SiteLab/Certificates/any-name.pem").standardized
    try FileManager.default.copyItem(at: identity, to: folder.appendingPathComponent("identity.pem"))
    try Self.configuration.write(to: folder.appendingPathComponent("nginx.conf"), atomically: true, encoding: .utf8)
    // Zeros, at a speed that takes longer than a change.
    let file = folder.appendingPathComponent("file")
    try Data().write(to: file)
    try FileHandle(forWritingTo: file).truncate(atOffset: UInt64(Self.fileSize))
    process = try lab.spawn(path, ["-p", folder.path, "-c", "nginx.conf", "-e", "error.log"])
    // nginx writes this file when it listens.
    let ready = folder.appendingPathComponent("nginx.pid").path
    do {
      try await eventually(within: .seconds(30), "nginx listens") { FileManager.default.fileExists(atPath: ready) }
    } catch {
      let words = try String(contentsOf: folder.appendingPathComponent("error.log"), encoding: .utf8)
      throw LabError("\(error); it says: \(words)")
    }
  }

  deinit {
    // If the folder cannot be removed, there is no one to tell.
    _ = try? FileManager.default.removeItem(at: folder)
  }

  /// One process, which needs no other user: in a user namespace of its own there is none.
  private static let configuration = """
    daemon off;
    master_process off;
    user root;
    pid nginx.pid;
    events { worker_connections 1024; }
    http {
      access_log off;
      keepalive_requests 1000000;
      client_body_temp_path tmp; proxy_temp_path tmp; fastcgi_temp_path tmp; uwsgi_temp_path tmp; scgi_temp_path tmp;
      server {
        listen 80;
        listen 443 ssl http2;
        ssl_certificate identity.pem;
        ssl_certificate_key identity.pem;
        location = / { return 200 "ok"; }
        location = /file { root .; limit_rate 2m; }
      }
    }

    """
}
#endif
