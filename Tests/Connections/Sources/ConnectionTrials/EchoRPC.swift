// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import NIOPosix
import NetworkLab

/// What a lab's gRPC server offers: a call that gives back what it gets.
enum EchoRPC {
  static let method = MethodDescriptor(service: ServiceDescriptor(fullyQualifiedService: "Echo"), method: "Get")

  struct Service: RegistrableRPCService {
    func registerMethods<Transport: ServerTransport>(with router: inout RPCRouter<Transport>) {
      router.registerHandler(forMethod: method, deserializer: Bytes(), serializer: Bytes()) { request, _ in
        StreamingServerResponse { writer in
          for try await message in request.messages { try await writer.write(message) }
          return [:]
        }
      }
    }
  }

  struct Bytes: MessageSerializer, MessageDeserializer {
    func serialize<Target: GRPCContiguousBytes>(_ message: [UInt8]) throws -> Target { Target(message) }
    func deserialize<Source: GRPCContiguousBytes>(_ bytes: Source) throws -> [UInt8] {
      bytes.withUnsafeBytes { Array($0) }
    }
  }

  static func server(
    _ group: MultiThreadedEventLoopGroup, with others: [any RegistrableRPCService] = []
  ) -> GRPCServer<HTTP2ServerTransport.Posix> {
    GRPCServer(
      transport: .http2NIOPosix(
        address: .ipv4(host: "0.0.0.0", port: 9090), transportSecurity: .plaintext, eventLoopGroup: group),
      services: [Service()] + others)
  }
}

/// Runs tasks on a thread of a lab: gRPC makes its sockets where its tasks run, and a socket belongs to the network of
/// the thread that makes it. The thread stays, since tasks may end after all that they have made.
final class LabExecutor: TaskExecutor {
  private let group: MultiThreadedEventLoopGroup

  init(_ lab: NetworkLab) throws { group = try lab.run { MultiThreadedEventLoopGroup(numberOfThreads: 1) } }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    group.next().execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
#endif
