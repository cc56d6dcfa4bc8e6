# Each kind of interface: what the kernel says of it, and how the Internet is reachable over it.
radios 2
must modprobe netdevsim
must modprobe bonding max_bonds=0
access_point wlan1 ap home

step "a network card, and a bond of two"
printf '1 2' > /sys/bus/netdevsim/new_device
eventually test -e /sys/bus/netdevsim/devices/netdevsim1/net
cards=(/sys/bus/netdevsim/devices/netdevsim1/net/*)
cards=("${cards[@]##*/}")
expect_interface "${cards[0]}" type 1 devtype - link-kind - is wired
expect_over "${cards[0]}/wired" "-R -------"
must ip link add bond0 type bond mode active-backup miimon 100
for card in "${cards[@]}"; do
  must ip link set "$card" down
  must ip link set "$card" master bond0
done
must ip link set bond0 up
expect_interface bond0 type 1 devtype bond link-kind bond is wired
expect_over bond0/wired "-R -------"

step "a bridge: nothing without ports, wired by a wired one"
must ip link add port type veth peer name far
must ip link set far up
must ip link set port up
expect_over port/wired "-R -------"
must ip link add br0 type bridge
expect_interface br0 type 1 devtype bridge link-kind bridge is other
must ip link set br0 up
must ip address add 10.77.0.2/24 dev br0
must ip route replace default via 10.77.0.1
expect_now "unreachable -- ------- br0/other because no-carrier"
must ip -4 address flush dev br0
must ip link set port master br0
expect_interface br0 type 1 devtype bridge link-kind bridge is wired
expect_over br0/wired "-R -------"
must ip link set port nomaster

step "Wi-Fi, and a VLAN on it"
station home "$key"
eventually is_associated
expect_interface wlan0 type 1 devtype wlan link-kind - is wifi
expect_over wlan0/wifi "-R -------"
must ip link add link wlan0 name guest type vlan id 9
expect_interface guest type 1 devtype vlan link-kind vlan is wifi
expect_over guest/wifi "-R -------"
must ip link delete guest

step "in 4-address mode it is a bridge's port, and the bridge is Wi-Fi"
refused ip link set wlan0 master br0
wpa disconnect
must iw dev wlan0 set 4addr on
must ip link set wlan0 master br0
wpa reconnect
expect_interface br0 type 1 devtype bridge link-kind bridge is wifi
expect_over br0/wifi "-R -------"

step "the monitor device of simulated radios"
expect_interface hwsim0 type 803 devtype - link-kind - is other
expect_over hwsim0/other "-R -------"
