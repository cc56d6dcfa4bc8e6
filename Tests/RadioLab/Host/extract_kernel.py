# This source file is part of Dialtone.
# SPDX-License-Identifier: Apache-2.0
"""Unpacks the kernel out of a vmlinuz: QEMU starts it 4 s sooner than it would unpack itself there.

extract_kernel.py VMLINUZ VMLINUX
"""

import lzma
import sys

XZ_MAGIC = b"\xfd7zXZ\x00"


def unpack(image: bytes) -> bytes:
    start = image.find(XZ_MAGIC)
    while start >= 0:
        try:
            kernel = lzma.LZMADecompressor().decompress(image[start:])
            if kernel.startswith(b"\x7fELF"):
                return kernel
        except lzma.LZMAError:
            pass  # those bytes did not begin an archive
        start = image.find(XZ_MAGIC, start + 1)
    sys.exit("extract_kernel.py: no xz-compressed kernel in " + sys.argv[1])


def main() -> None:
    with open(sys.argv[1], "rb") as file:
        kernel = unpack(file.read())
    with open(sys.argv[2], "wb") as file:
        file.write(kernel)


main()
