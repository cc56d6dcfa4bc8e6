# A USB modem, which is Ethernet to the kernel except for DEVTYPE=wwan. It is unplugged, and plugged in again.
must modprobe xhci_pci
must modprobe cdc_ether
eventually test -e /sys/class/net/usb0
expect_interface usb0 type 1 devtype - link-kind - is wired
expect_over usb0/wired "-R -------"
must ip link set usb0 down
watch internet internet
watch local local-network
wait_without_cellular internet
expect internet << 'END'
  unreachable          -- -------  usb0/wired      because link-down
END
expect local << 'END'
  unreachable          -- -------  usb0/wired      because link-down
END

step "bound as a modem: to the driver, QEMU's network card is now one of a known vendor and product"
port=$(basename "$(readlink -f /sys/class/net/usb0/device)")
printf '0525 a4a2 2 12d1 15c1' > /sys/bus/usb/drivers/cdc_ether/new_id
printf '%s' "$port" > /sys/bus/usb/drivers/cdc_ether/unbind
expect internet << 'END'
  unreachable          -- -------  -               because no-route
END
printf '%s' "$port" > /sys/bus/usb/drivers/cdc_ether/bind
eventually test -e /sys/class/net/wwan0
must ip link set wwan0 up
expect_interface wwan0 type 1 devtype wwan link-kind - is cellular
expect internet << 'END'
  requires-connection  WR tc-----  wwan0/cellular  because no-session
END

step "a session"
must ip address add 192.168.8.100/24 dev wwan0
must ip route add default via 192.168.8.1 dev wwan0
expect internet << 'END'
  unreachable          -- -------  -               because no-route
  reachable            WR t------  wwan0/cellular  via 192.168.8.1
END
expect_path satisfied expensive wwan0/cellular/expensive
expect local << 'END'
  unreachable          -- -------  -               because no-interface
END
still_waits

step "moved to a namespace where sysfs shows another one: a modem all the same"
must ip netns add room
must ip link set wwan0 netns room
expect internet << 'END'
  unreachable          -- -------  -               because no-route
END
within="nsenter --net=/run/netns/room"
expect_over wwan0/cellular "WR t------" expensive
watch room internet
within=
expect room << 'END'
  requires-connection  WR tc-----  wwan0/cellular  because no-session
END
must ip -n room link set wwan0 netns 1
expect room << 'END'
  unreachable          -- -------  -               because no-route
END
expect internet << 'END'
  requires-connection  WR tc-----  wwan0/cellular  because no-session
END

step "unplugged, and plugged in again: another index, and the session is gone"
device=/sys/bus/usb/devices/${port%%:*}
index=$(< /sys/class/net/wwan0/ifindex)
printf 0 > "$device/authorized"
expect internet << 'END'
  unreachable          -- -------  -               because no-route
END
printf 1 > "$device/authorized"
eventually test -e /sys/class/net/wwan0
must test "$(< /sys/class/net/wwan0/ifindex)" != "$index"
expect internet << 'END'
  requires-connection  WR tc-----  wwan0/cellular  because no-session
END
expect_nothing local
still_waits
