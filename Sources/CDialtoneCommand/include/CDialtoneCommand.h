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

// Sends a datagram to a local socket: a path, or a name after an '@' (unix(7)). Returns 0, or -1 with errno.
int command_send_local(const char *_Nonnull name, const void *_Nullable bytes, size_t count);

// A UDP socket connected to the address. Returns a descriptor, or -1 with errno.
int command_connect_datagram(const void *_Nonnull address, size_t length);

// Waits for a datagram for so many milliseconds at most. Returns how many bytes it had, or -1 with errno.
long command_receive(int socket, void *_Nonnull buffer, size_t size, int milliseconds);

// Whether Dispatch finds its threads. If there is more to do than its threads take on, it looks once a second whether
// they run, in /proc/THREAD/stat (proc(5)), and ends the process if there is no such file.
//
// The executables of Scripts/package do without /proc: they are linked so that Dispatch opens an empty file instead.
// Then it takes its threads for ones that wait, and starts another.
int command_dispatch_finds_threads(void);

// Call it first. It does two things for an executable that was linked statically.
//
// It ends what a constructor has begun: without /proc, Swift's runtime does not find the executable, and ends the
// process unless SWIFT_ROOT says where the runtime is. What this process starts is not to inherit that.
//
// It has names looked up in hosts(5) and DNS alone, whatever nsswitch.conf(5) says: a static glibc would load the
// modules of the machine's own glibc, and crash if that is of another version.
void command_prepare(void);

#endif
