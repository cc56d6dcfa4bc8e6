# What `dialtone explain` says of faults of Wi-Fi: switched off, blocked, lost, not let in, without address or router.
radios 2
access_point wlan1 ap home 192.168.77.1/24

step "before anything is switched on"
explained link-down link "Wi-Fi: the interface is switched off." internet

step "the radio is blocked"
block 0
explained radio-blocked link "Wi-Fi: the radio is blocked by software." internet
advised "rfkill unblock wifi"
unblock 0

step "switched on, and no network chosen"
must ip link set wlan0 up
explained no-carrier link "Wi-Fi: no access point is chosen." internet

step "associated, without an address"
station home "$key" home "$wrong_key"
eventually is_associated
explained no-address address "Wi-Fi: associated, and no address has come." internet -4

step "an address, and no route"
must ip address add 192.168.77.2/24 dev wlan0
explained no-route route "Wi-Fi: an address, and no default route." internet -4

# Without resolv.conf(5), this machine itself is the name server.
step "all of it but a name server; only the target is not there"
must ip route add default via 192.168.77.1
explained name-server-refuses name "Wi-Fi: there is no name server." internet -4
explained refused connect "Wi-Fi: nothing listens at the access point." 192.168.77.1:80

step "the access point has lost its address"
must ip -n ap address flush dev wlan1
must ip neighbour flush dev wlan0
explained gateway-silent neighbour "Wi-Fi: the access point has lost its address." internet -4
must ip -n ap address add 192.168.77.1/24 dev wlan1

step "disconnected"
wpa disconnect
explained no-carrier link "Wi-Fi: disconnected." internet
advised "wpa_cli -i wlan0 reconnect"
wpa reconnect
eventually is_associated

step "the radio is blocked while it is in use"
block 0
explained radio-blocked link "Wi-Fi: the radio is blocked while it is in use." internet
unblock 0
eventually is_associated
must ip route add default via 192.168.77.1

step "the access point dies: nobody tells the station, at first"
access_point_dies wlan1
eventually file_is /sys/class/net/wlan0/operstate down
explained no-carrier link "Wi-Fi: the access point has died." internet

step "a wrong key: associated, and not let in"
handshakes=30
access_point wlan1 ap home
wpa select_network 1
eventually file_is /sys/class/net/wlan0/operstate dormant
explained dormant link "Wi-Fi: the key is wrong." internet
advised "wpa_cli -i wlan0 status"
