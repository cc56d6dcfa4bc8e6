// This source file is part of Dialtone.
// SPDX-License-Identifier: Apache-2.0

// GLib's GNetworkMonitor. Without an argument it tells of each change, as the peers do; with `once` it ends at the
// first answer.
#include <gio/gio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void tell(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  int64_t now = time.tv_sec * 1000000000LL + time.tv_nsec;
  if (write(1, &now, sizeof now) < 0) _exit(1);
}

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
  GNetworkMonitor *monitor = g_network_monitor_get_default();
  last = g_network_monitor_get_network_available(monitor);
  if (count > 1 && strcmp(arguments[1], "once") == 0) return 0;
  g_signal_connect(monitor, "network-changed", G_CALLBACK(changed), NULL);
  tell();
  g_main_loop_run(g_main_loop_new(NULL, FALSE));
  return 0;
}
