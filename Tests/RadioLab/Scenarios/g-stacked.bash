# Links on top of others: a VLAN on a bond, bridges over wired links and over Wi-Fi, macvlans, a dummy without a
# carrier.
radios 2
must modprobe netdevsim
must modprobe dummy numdummies=0
must modprobe bonding max_bonds=0

step "a VLAN on a bond of two network cards"
printf '1 2' > /sys/bus/netdevsim/new_device
eventually test -e /sys/bus/netdevsim/devices/netdevsim1/net
cards=(/sys/bus/netdevsim/devices/netdevsim1/net/*)
cards=("${cards[@]##*/}")
expect_interface "${cards[0]}" type 1 devtype - link-kind - is wired
must ip link add bond0 type bond mode active-backup miimon 100
for card in "${cards[@]}"; do must ip link set "$card" master bond0; done
must ip link set bond0 up
must ip link add link bond0 name office type vlan id 7
must ip link set office up
must ip address add 10.7.0.2/24 dev office
must ip route add default via 10.7.0.1
expect_interface bond0 type 1 devtype bond link-kind bond is wired
expect_interface office type 1 devtype vlan link-kind vlan is wired
watch internet -4 internet
expect internet << 'END'
  reachable            -R -------  office/wired  via 10.7.0.1
END
expect_path satisfied office/wired

step "the bond's active port fails, then the other one, then one is back"
must ip link set "${cards[0]}" down
eventually file_is /sys/class/net/bond0/bonding/active_slave "${cards[1]}"
expect_nothing internet
must ip link set "${cards[1]}" down
expect internet << 'END'
  unreachable          -- -------  office/wired  because no-carrier
END
must ip link set "${cards[1]}" up
expect internet << 'END'
  reachable            -R -------  office/wired  via 10.7.0.1
END

step "a bridge: looked through to a wired port; Wi-Fi that is no access point is refused as one"
must ip link add port type veth peer name far
must ip link set far up
must ip link set port up
must ip link add br0 type bridge
must ip link set br0 up
expect_interface br0 type 1 devtype bridge link-kind bridge is other
refused ip link set wlan0 master br0
must ip link set port master br0
expect_interface br0 type 1 devtype bridge link-kind bridge is wired
expect_interface port type 1 devtype - link-kind veth is wired
expect_nothing internet

step "over Wi-Fi: in 4-address mode a bridge's port, and always below a macvlan or a VLAN"
must ip link set port nomaster
must iw dev wlan0 set 4addr on
must ip link set wlan0 master br0
expect_interface br0 type 1 devtype bridge link-kind bridge is wifi
must ip link add link wlan0 name guest type vlan id 9
expect_interface guest type 1 devtype vlan link-kind vlan is wifi
must ip link add link port name neighbour type macvlan mode bridge
expect_interface neighbour type 1 devtype - link-kind macvlan is wired
expect_nothing internet

step "a macvlan falls with the link below it"
must ip link set neighbour up
must ip address add 10.8.0.2/24 dev neighbour
must ip route replace default via 10.8.0.1
expect internet << 'END'
  reachable            -R -------  neighbour/wired  via 10.8.0.1
END
expect_path satisfied neighbour/wired office/wired
must ip link set far down
expect internet << 'END'
  unreachable          -- -------  neighbour/wired  because no-carrier
END

step "a dummy has no kind; its carrier is taken away and given back"
must ip link add dummy0 type dummy
must ip link set dummy0 up
expect_interface dummy0 type 1 devtype - link-kind dummy is other
must ip address add 10.9.0.2/24 dev dummy0
must ip route replace default via 10.9.0.1
expect internet << 'END'
  reachable            -R -------  dummy0/other  via 10.9.0.1
END
expect_path satisfied dummy0/other office/wired
must ip link set dummy0 carrier off
expect internet << 'END'
  unreachable          -- -------  dummy0/other  because no-carrier
END
must ip link set dummy0 carrier on
expect internet << 'END'
  reachable            -R -------  dummy0/other  via 10.9.0.1
END
