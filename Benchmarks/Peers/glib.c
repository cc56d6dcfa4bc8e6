// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

// GLib's GNetworkMonitor. Without an argument it tells of each change, as the peers do; with `once` it ends at the
// first answer, and with `first` it tells how many nanoseconds that took.
#include <gio/gio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void say(int64_t value) {
  if (write(1, &value, sizeof value) < 0) _exit(1);
}

static void tell(void) { say(now()); }

static gboolean last;

static void changed(GNetworkMonitor *monitor, gboolean is_available, gpointer nothing) {
  (void)monitor, (void)nothing;
  // A state that differs, as the other peers tell it.
  if (is_available == last) return;
  last = is_available;
  tell();
}

int main(int count, char **arguments) {
  // The monitor that asks the kernel, not one that asks a service.
  g_setenv("GIO_USE_NETWORK_MONITOR", "netlink", TRUE);
  int64_t begin = now();
  GNetworkMonitor *monitor = g_network_monitor_get_default();
  last = g_network_monitor_get_network_available(monitor);
  if (count > 1 && strcmp(arguments[1], "first") == 0) say(now() - begin);
  if (count > 1) return 0;
  g_signal_connect(monitor, "network-changed", G_CALLBACK(changed), NULL);
  tell();
  g_main_loop_run(g_main_loop_new(NULL, FALSE));
  return 0;
}
