# Interfaces that are renamed, moved between namespaces or get an index again; radios that are unplugged.
radios 2
access_point wlan1 ap home 192.168.77.1/24
watch internet internet
expect internet << 'END'
  unreachable          -- -------  wlan0/wifi  because link-down
END

step "renamed: names prove nothing"
must ip link set wlan0 name eth7
expect internet << 'END'
  unreachable          -- -------  eth7/wifi  because link-down
END
must ip link set eth7 name wlan0
expect internet << 'END'
  unreachable          -- -------  wlan0/wifi  because link-down
END

step "moved to a namespace where sysfs shows another one, with a wired wlan0: it is Wi-Fi all the same"
must ip netns add room
must iw phy phy0 set netns name room
expect internet << 'END'
  unreachable          -- -------  -           because no-route
END
must ip link add wlan0 type veth peer name far
expect_interface wlan0 type 1 devtype - link-kind veth is wired
within="nsenter --net=/run/netns/room"
must $within ip link set wlan0 up
watch room internet
within=
expect room << 'END'
  unreachable          -- -------  wlan0/wifi  because no-carrier
END
must ip link delete wlan0

step "and back"
must ip netns exec room iw phy phy0 set netns 1
expect room << 'END'
  unreachable          -- -------  -           because no-route
END
expect internet << 'END'
  unreachable          -- -------  wlan0/wifi  because link-down
END

step "all radios unplugged, and plugged in again"
index=$(< /sys/class/net/wlan0/ifindex)
must rmmod mac80211_hwsim
expect internet << 'END'
  unreachable          -- -------  -           because no-route
END
radios 1
must test "$(< /sys/class/net/wlan0/ifindex)" != "$index"
expect internet << 'END'
  unreachable          -- -------  wlan0/wifi  because link-down
END

step "an index used again, by a link of another kind"
must ip link add wired index 77 type veth peer name far
must ip link set far up
must ip link set wired up
must ip address add 10.1.0.1/24 dev wired
must ip route add default via 10.1.0.2
expect internet << 'END'
  ? unreachable        -- -------  wired/wired     because no-carrier
  ? unreachable        -- -------  -               because no-route
  reachable            -R -------  wired/wired     via 10.1.0.2
END
must ip link delete wired
must ip link add tunnel index 77 type wireguard
must ip address add 10.2.0.1/24 dev tunnel
must ip link set tunnel up
must ip route add default dev tunnel
expect internet << 'END'
  unreachable          -- -------  wlan0/wifi      because link-down
  ? unreachable        -- -------  tunnel/tunnel   because link-down
  ? unreachable        -- -------  -               because no-route
  reachable            -R t------  tunnel/tunnel
END
