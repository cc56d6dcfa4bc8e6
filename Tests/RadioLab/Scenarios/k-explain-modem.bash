# What `dialtone explain` says of faults of a modem: no session, no route, and nobody behind it.
must modprobe wwan_hwsim devices=1
eventually test -e /sys/class/net/wwan0

step "no session"
explained no-session link "A modem: there is no session." internet
advised "mmcli -m any --simple-connect"

step "switched on, without an address"
must ip link set wwan0 up
explained no-address address "A modem: a session, and no address." internet -4

step "an address, without a route"
must ip address add 10.64.0.2/32 dev wwan0
explained no-route route "A modem: an address, and no route." internet -4

# Without resolv.conf(5), this machine itself is the name server.
step "a session; there is no name server, and nobody answers"
must ip route add default dev wwan0 metric 700
explained name-server-refuses name "A modem: there is no name server." internet -4
explained silent connect "A modem: a session, and nobody answers." 198.51.100.7:80

step "the session ends"
must ip link set wwan0 down
explained no-session link "A modem: the session has ended." internet
