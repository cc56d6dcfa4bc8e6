# Wi-Fi interfaces that move between namespaces, are renamed, whose index is used again; radios that are unplugged.
radios 2
access_point wlan1 ap home 192.168.77.1/24
watch internet internet
expect internet << 'END'
  unreachable          -- -------  wlan0/wifi  because link-down
END

step "renamed"
must ip link set wlan0 name eth7
expect internet << 'END'
  unreachable          -- -------  eth7/wifi  because link-down
END
must ip link set eth7 name wlan0
expect internet << 'END'
  unreachable          -- -------  wlan0/wifi  because link-down
END

step "moved to a namespace, where sysfs shows another one: a wired wlan0 here, Wi-Fi there"
must ip netns add room
must iw phy phy0 set netns name room
expect internet << 'END'
  unreachable          -- -------  -           because no-route
END
must ip link add wlan0 type veth peer name far
within="nsenter --net=/run/netns/room"
must $within ip link set wlan0 up
watch room internet
within=
expect room << 'END'
  unreachable          -- -------  wlan0/wifi  because no-carrier
END
expect_interface wlan0 type 1 devtype - link-kind veth is wired
must ip link delete wlan0
