// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import TestSupport
import Foundation
package import NetworkLab

/// A real nginx in a lab, on ports 80, 443 (TLS) and 444 (TLS, HTTP/2) of all its addresses. It ends with this object.
package final class NginxServer: Sendable {
  private let folder: URL
  private let process: LabProcess

  /// The path that Debian and others use.
  package static let path: String? = ["/usr/sbin/nginx", "/usr/bin/nginx", "/usr/local/sbin/nginx"]
    .first { FileManager.default.isExecutableFile(atPath: $0) }

  /// Whether this nginx can serve a file that is already compressed, whatever the client accepts.
  package static let hasGzipStatic: Bool = {
    guard let path else { return false }
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = ["-V"]
    process.standardError = output
    do {
      try process.run()
      let text = try output.fileHandleForReading.readToEnd() ?? Data()
      process.waitUntilExit()
      return String(decoding: text, as: UTF8.self).contains("--with-http_gzip_static_module")
    } catch {
      // If it cannot be started, it has no modules.
      return false
    }
  }()

  /// Serves / (200, a page), /204, /302 (to another host), /same (to itself), /511, /get-only (405 for HEAD) and, if it
  /// can, /compressed (the same page, always with gzip). Every other path is not found, except /large.
  package init(as identity: SiteIdentity, in lab: NetworkLab) async throws {
    guard let path = Self.path else { throw LabError("nginx is not installed") }
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("dialtone-nginx-\(UUID())")
    func write(_ text: String, _ name: String) throws {
      try text.write(to: folder.appendingPathComponent(name), atomically: true, encoding: .utf8)
    }
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try write(identity.certificates, "chain.pem")
      try write(identity.key, "key.pem")
      try write(Self.configuration, "nginx.conf")
      try Data(repeating: 0x2E, count: Self.largeCount).write(to: folder.appendingPathComponent("large"))
      try Data(Self.gzippedPage).write(to: folder.appendingPathComponent("compressed.gz"))
      let process = try lab.spawn(path, ["-p", folder.path, "-c", "nginx.conf", "-e", "error.log"])
      // nginx writes this file when it listens.
      let ready = folder.appendingPathComponent("nginx.pid").path
      do {
        try await eventually(within: .seconds(30), "nginx listens") { FileManager.default.fileExists(atPath: ready) }
      } catch {
        let words = try String(contentsOf: folder.appendingPathComponent("error.log"), encoding: .utf8)
        throw LabError("\(error); it says: \(words)")
      }
      self.process = process
      self.folder = folder
    } catch {
      try FileManager.default.removeItem(at: folder)
      throw error
    }
  }

  deinit {
    // If the folder cannot be removed, there is no one to tell.
    _ = try? FileManager.default.removeItem(at: folder)
  }

  /// The bytes of /large: many windows of HTTP/2 (RFC 9113, 6.9.2).
  package static let largeCount = 1 << 20

  /// `printf '<html>the site</html>\n' | gzip -9n`
  private static let gzippedPage: [UInt8] = [
    0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xB3, 0xC9, 0x28, 0xC9, 0xCD, 0xB1, 0x2B, 0xC9,
    0x48, 0x55, 0x28, 0xCE, 0x2C, 0x49, 0xB5, 0xD1, 0x07, 0x73, 0xB9, 0x00, 0x69, 0x08, 0x1C, 0xF2, 0x16, 0x00,
    0x00, 0x00,
  ]

  /// One process, which needs no other user: in a user namespace of its own, a test has none.
  private static let configuration = """
    daemon off;
    master_process off;
    user root;
    pid nginx.pid;
    events { worker_connections 1024; }
    http {
      access_log off;
      client_body_temp_path tmp; proxy_temp_path tmp; fastcgi_temp_path tmp; uwsgi_temp_path tmp; scgi_temp_path tmp;
      server {
        listen 80;
        listen 443 ssl;
        listen 444 ssl http2;
        ssl_certificate chain.pem;
        ssl_certificate_key key.pem;
        default_type text/html;
        location = / { return 200 "<html>the site</html>\\n"; }
        location = /204 { return 204; }
        location = /302 { return 302 http://login.example/; }
        location = /same { return 302 /; }
        location = /511 { return 511; }
        location = /large { root .; }
        location = /get-only { if ($request_method = HEAD) { return 405; } return 200 "<html>the site</html>\\n"; }
        \(hasGzipStatic ? "location = /compressed { root .; gzip_static always; }" : "")
      }
    }

    """
}
#endif
