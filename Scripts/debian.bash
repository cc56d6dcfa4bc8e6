# Roots of Debian, and systemd in them, for Scripts/package-test and Scripts/boot-lab. Sourced after options.bash.
roots=/tmp/dialtone-roots
mkdir -p "$roots"

# make_root NAME SUITE [PACKAGE,…]: makes $roots/NAME.tar, unless it is there. The oldest suite is in the archive when
# its time is over.
make_root() {
  local mirror
  [[ ! -f $roots/$1.tar ]] || return 0
  for mirror in http://deb.debian.org/debian http://archive.debian.org/debian; do
    # An unfinished one, or a folder: mmdebstrap makes that of a name it does not know, without --format.
    rm -rf --one-file-system "$roots/$1.tar.part"
    if timeout 5m mmdebstrap --quiet --mode=root --variant=minbase --format=tar ${3:+"--include=$3"} \
      "$2" "$roots/$1.tar.part" "$mirror" > "$roots/$1.log" 2>&1; then
      mv "$roots/$1.tar.part" "$roots/$1.tar"
      return
    fi
  done
  return 1
}

# Units that a machine in namespaces does not have.
masked=(systemd-udevd.service systemd-udevd-{kernel,control}.socket systemd-udev-trigger.service getty.target
  systemd-resolved.service)

# boot ROOT FILE SECONDS LOG [OPTION COMMAND]: starts systemd as PID 1 of namespaces, until there is something in that
# file of the root, so long at most. The log also has the journal. The option is for unshare(1); the command is run
# before, in the same namespaces.
boot() {
  local root=$1 deadline=$((SECONDS + $3)) unit
  for unit in "${masked[@]}"; do ln -sf /dev/null "$root/etc/systemd/system/$unit"; done
  cat > "$4.init" << END
set -e
mount --make-rprivate /
# What chroot(1) has needed before.
umount --recursive --lazy "$root/dev" "$root/proc" 2> /dev/null || true
mount --rbind "$root" "$root"
cd "$root"
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=755 tmpfs dev
for device in null zero full random urandom tty; do
  touch dev/\$device
  mount --bind /dev/\$device dev/\$device
done
mkdir dev/shm dev/pts
${6-}
exec env -i container=lab PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  chroot . /lib/systemd/systemd --show-status=no --unit=multi-user.target
END
  unshare --mount --pid --fork --kill-child --uts --ipc --cgroup ${5-} -- bash "$4.init" > "$4" 2>&1 &
  until [[ -s $root/$2 ]] || [[ $SECONDS -ge $deadline ]] || ! kill -0 $! 2> /dev/null; do sleep 0.1; done
  kill -KILL $! 2> /dev/null || true
  wait $! 2> /dev/null || true
  journalctl --directory="$root/var/log/journal" --no-pager --output=short-precise >> "$4" 2>&1 || true
  for unit in "${masked[@]}"; do rm "$root/etc/systemd/system/$unit"; done
}
