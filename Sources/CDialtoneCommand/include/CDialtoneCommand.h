// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

// What the command needs of libc and the kernel beyond what the library does. No logic.
#ifndef CDIALTONECOMMAND_H
#define CDIALTONECOMMAND_H

#include <stddef.h>
#include <sys/socket.h>

// memfd_create(2), which libcs have had for a few years only: a file in memory with these bytes, to be read from its
// beginning, closed in programs that this process starts. Returns a descriptor, or -1 with errno.
int command_memory_file(const void *_Nullable bytes, size_t count);

// Whether that many bytes of address space are left. 1 if they are, or 0 with errno.
int command_has_address_space(size_t count);

// Opens a file to append to it, and makes it if there is none: open(2) takes a variable number of arguments. Returns a
// descriptor, or -1 with errno.
int command_open_to_append(const char *_Nonnull path);

// Takes the lock of an open file or folder (flock(2)), for this descriptor alone or with others; it goes with the
// descriptor. Returns 0, or -1 with errno; EWOULDBLOCK if somebody else has it.
int command_lock(int file, int is_shared);

// Sends a datagram to a local socket: a path, or a name after an '@' (unix(7)). Returns 0, or -1 with errno; EAGAIN if
// its reader has taken too few of those before.
int command_send_local(const char *_Nonnull name, const void *_Nullable bytes, size_t count);

// Whether a pipe or a terminal takes 4,096 bytes without blocking (poll(2), pipe(7), PIPE_BUF). A file always does.
int command_can_write(int file);

// The speed of a link in Mbit/s, as the driver tells it (linux/ethtool.h, ETHTOOL_GSET); 0 if it does not.
unsigned int command_link_speed(const char *_Nonnull name);

// Whether the link is a bridge (ETHTOOL_GDRVINFO), whose carrier is that of its ports.
int command_is_bridge(const char *_Nonnull name);

// A UDP socket connected to the address. Returns a descriptor, or -1 with errno.
int command_connect_datagram(const void *_Nonnull address, size_t length);

// Call it first. It ends what a constructor has begun: without /proc, Swift's runtime finds no static executable,
// and ends the process unless SWIFT_ROOT says where the runtime is. What this process starts is not to inherit that.
void command_prepare(void);

// Has glibc ask these sources for addresses, such as "files dns", and files alone for everything else, no matter what
// nsswitch.conf(5) says. It keeps nothing of the text.
void command_choose_name_sources(const char *_Nonnull hosts);

// As many descriptors as the system grants (setrlimit(2), RLIMIT_NOFILE). If it refuses, the former limit stays.
void command_raise_descriptor_limit(void);

// A program to run. It reads `input`, and its output goes to standard error.
struct command_program {
  // Its name or path, its arguments, and its variables, each list with NULL at its end.
  char *_Nullable const *_Nonnull arguments;
  char *_Nullable const *_Nonnull environment;
  int input;
  // How long it may take, and how long it has to end after SIGTERM, in milliseconds.
  long long timeout, grace;
};

// A run of a program, with the process that watches over it.
struct command_run {
  int channel;
  int guard;
};

enum {
  COMMAND_EXITED = 1,   // with a status
  COMMAND_SIGNALLED,    // by a signal
  COMMAND_NOT_STARTED,  // errno says why
  COMMAND_CUT,          // asked to end: 0, its time is over, or the signal that stopped it for the terminal's sake
};

struct command_event {
  int kind, value;
};

// Starts a program in a process group of its own. The run lasts until the last process of the group has ended; it is
// ended (SIGTERM, after the time of grace SIGKILL) when its time is over, and when this process ends, however that is.
// Returns 0, or -1 with errno.
int command_start_program(const struct command_program *_Nonnull program, struct command_run *_Nonnull run);

// Waits for an event of the run. Returns 0 if there is none any more, because the run is over.
int command_next_event(const struct command_run *_Nonnull run, struct command_event *_Nonnull event);

// Takes the guard's ending; a run that is not over is ended.
void command_end_run(const struct command_run *_Nonnull run);
#endif
