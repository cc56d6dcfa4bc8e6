// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

internal import CDialtoneCommand
internal import CDialtoneSystem
internal import Dialtone

/// Takes the signals that ask the process to end, on a thread of its own. So what they do need not be safe inside a
/// signal handler, and works while another thread is blocked writing.
enum Signals {
  /// SIGPIPE is among them, because swift-nio has the process ignore it from the first connection on. If it is blocked,
  /// one that somebody sends is not ignored but waits to be taken (Linux, kernel/signal.c, sig_ignored). A write
  /// reports its own by EPIPE.
  ///
  /// SIGQUIT is among them, because Swift's runtime treats it as a crash and prints all threads.
  private static let ending = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE]

  /// From now on such a signal first does `action`, which must not wait for anybody, and then ends the process in its
  /// usual way: a shell sees 128 + n. With `hangUp`, SIGHUP does that instead, and ends nothing.
  ///
  /// Call it before other threads are started: they inherit the mask. Signals that the process was started to ignore
  /// (nohup(1)) stay ignored.
  static func onEnd(hangUp: (@Sendable () -> Void)? = nil, _ action: @escaping @Sendable (CInt) -> Void) {
    var set = sigset_t()
    // None of these calls keeps a pointer.
    unsafe sigemptyset(&set)
    for signal in ending where csystem_ignores_signal(signal) == 0 { unsafe sigaddset(&set, signal) }
    unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    let isWaiting = Thread.start(named: "dialtone-signals") { [set] in
      var set = set
      var signal: CInt = 0
      repeat {
        if signal == SIGHUP { hangUp?() }
        // The set is read during the call, and the signal filled.
        while unsafe sigwait(&set, &signal) != 0 {}
      } while signal == SIGHUP && hangUp != nil
      action(signal)
      end(by: signal)
    }
    // Without a thread, the signals do what they do by themselves.
    if !isWaiting { unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil) }
  }

  /// Ends the process as the signal does by itself.
  static func end(by signal: CInt) {
    // All zeros are SIG_DFL, without flags. The call keeps no pointer.
    var usual = sigaction()
    unsafe sigaction(signal, &usual, nil)
    var set = sigset_t()
    unsafe sigemptyset(&set)
    unsafe sigaddset(&set, signal)
    unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
    raise(signal)
    // The first process of a PID namespace, as in a container, is not ended by it (pid_namespaces(7)).
    _exit(128 + signal)
  }
}
