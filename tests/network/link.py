"""A link with a delay between this machine's own network and a new network namespace. Needs root.

    python3 link.py NAMESPACE OWN_ADDRESS OTHER_ADDRESS

It prints a line once the link is up. Each line of its standard input is a delay for each direction, in milliseconds. The
link and the namespace end with its standard input.
"""

import ctypes
import fcntl
import os
import selectors
import struct
import subprocess
import sys
import time
from collections import deque

# From linux/if_tun.h and linux/sched.h.
TUNSETIFF = 0x400454CA
IFF_TUN = 0x0001
IFF_NO_PI = 0x1000
CLONE_NEWNET = 0x40000000

PACKET_BYTES = 65_536
# More than a connection has on its way.
QUEUE_PACKETS = "10000"


def ip(*args: str) -> None:
    subprocess.run(["ip", *args], check=True)


def open_device(name: str, address: str, *namespace: str) -> int:
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TUN | IFF_NO_PI))
    ip(*namespace, "address", "add", f"{address}/24", "dev", name)
    ip(*namespace, "link", "set", name, "txqueuelen", QUEUE_PACKETS, "up")
    return device


def enter(namespace: str) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    with open(f"/run/netns/{namespace}", "rb") as file:
        if libc.setns(file.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")


def forward(devices: tuple[int, int]) -> None:
    """Reads packets of each device, and writes them to the other one after the delay, until standard input ends."""
    delay = 0.0
    waiting: dict[int, deque[tuple[float, bytes]]] = {device: deque() for device in devices}
    others = {devices[0]: devices[1], devices[1]: devices[0]}
    selector = selectors.DefaultSelector()
    for file in (*devices, 0):
        selector.register(file, selectors.EVENT_READ)
    while True:
        now = time.monotonic()
        for device, packets in waiting.items():
            while packets and packets[0][0] <= now:
                os.write(device, packets.popleft()[1])
        due = [packets[0][0] for packets in waiting.values() if packets]
        timeout = max(0.0, min(due) - time.monotonic()) if due else None
        for key, _ in selector.select(timeout):
            if key.fd == 0:
                line = sys.stdin.readline()
                if not line:
                    return
                delay = float(line) / 1000
                print("set", flush=True)
                continue
            packets = waiting[others[key.fd]]
            for _ in range(64):
                try:
                    packet = os.read(key.fd, PACKET_BYTES)
                except BlockingIOError:
                    break
                packets.append((time.monotonic() + delay, packet))


def main() -> None:
    namespace, own, other = sys.argv[1:]
    ip("netns", "add", namespace)
    try:
        here = open_device(f"{namespace[:13]}-a", own)
        enter(namespace)
        there = open_device(f"{namespace[:13]}-b", other, "-n", namespace)
        ip("-n", namespace, "link", "set", "lo", "up")
        # Firefox sends from the address of this machine's default route.
        ip("-n", namespace, "route", "add", "default", "dev", f"{namespace[:13]}-b")
        print("up", flush=True)
        forward((here, there))
    finally:
        ip("netns", "delete", namespace)


main()
