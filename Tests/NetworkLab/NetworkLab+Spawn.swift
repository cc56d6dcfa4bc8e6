// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CNetworkLab

extension NetworkLab {
  /// Starts a program inside the lab.
  ///
  /// The path is absolute; PATH is not searched. `environment` is added to that of this process; `nil` removes a
  /// variable. The process reads `input`, or `/dev/null`. `user` is its uid and gid (needs ``canSwitchUser``). A
  /// `terminal` becomes its input, output and errors. `denial` is what a system call filter refuses it.
  package func spawn(
    _ path: String, _ arguments: [String] = [], environment: [String: String?] = [:], input: String? = nil,
    user: UInt32? = nil, terminal: LabTerminal? = nil, denying denial: LabDenial? = nil
  ) throws -> LabProcess {
    var opened: [Int32] = []
    defer { for descriptor in opened { lab_close(descriptor) } }

    var how = unsafe lab_spawn()
    unsafe (how.input, how.output, how.error, how.terminal, how.user) = (-1, -1, -1, -1, user.map(Int64.init) ?? -1)
    unsafe (how.denial, how.denial_errno) = (denial?.kind ?? LAB_DENY_NOTHING, denial?.code ?? 0)
    let output: LabStream
    let error: LabStream
    var control: Int32?
    if let terminal {
      var other: Int32 = -1
      let descriptor = try check(
        unsafe lab_open_terminal(terminal.rows, terminal.columns, &other), "opening a terminal")
      opened.append(other)
      unsafe how.terminal = other
      control = descriptor
      output = LabStream(descriptor: descriptor)
      error = LabStream(descriptor: nil)
    } else {
      let outputEnds = try Self.pipe()
      opened.append(outputEnds.write)
      output = LabStream(descriptor: outputEnds.read)
      let errorEnds = try Self.pipe()
      opened.append(errorEnds.write)
      error = LabStream(descriptor: errorEnds.read)
      unsafe (how.output, how.error) = (outputEnds.write, errorEnds.write)
      if let input {
        let bytes = Array(input.utf8)
        // The function copies that many bytes.
        let descriptor = unsafe bytes.withUnsafeBufferPointer { unsafe lab_open_bytes($0.baseAddress, $0.count) }
        opened.append(try check(descriptor, "making the standard input"))
        unsafe how.input = descriptor
      }
    }
    // The callee sets its pointers.
    let pid = try unsafe start(how, path, arguments, environment)
    return try LabProcess(pid: pid, output: output, error: error, terminal: control, lab: self)
  }

  private func start(
    _ how: lab_spawn, _ path: String, _ arguments: [String], _ environment: [String: String?]
  ) throws -> Int32 {
    let words = ([path] + arguments).flatMap { Array($0.utf8CString) }
    let variables = environment.map { name, value in value.map { "\(name)=\($0)" } ?? name }
    let settings = variables.flatMap { Array($0.utf8CString) }
    // The thread below only reads it, while this one waits.
    nonisolated(unsafe) let how = unsafe how
    return try run {
      // All three texts live until lab_spawn returns, and it keeps no copy.
      let pid = unsafe path.withCString { path in
        unsafe words.withUnsafeBufferPointer { words in
          unsafe settings.withUnsafeBufferPointer { settings in
            var how = unsafe how
            unsafe how.path = path
            unsafe (how.arguments, how.argument_count) = (words.baseAddress, arguments.count + 1)
            unsafe (how.environment, how.environment_count) = (settings.baseAddress, variables.count)
            return unsafe lab_spawn(&how)
          }
        }
      }
      return try check(pid, "starting \(path)")
    }
  }

  private static func pipe() throws(LabError) -> (read: Int32, write: Int32) {
    var ends: [Int32] = [-1, -1]
    try check(unsafe lab_pipe(&ends), "making a pipe")  // Writes both.
    return (ends[0], ends[1])
  }
}
#endif
