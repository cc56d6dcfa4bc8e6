# This source file is part of Dialtone.
# SPDX-License-Identifier: Apache-2.0
"""Writes what `dialtone explain` said of radios into its page, from the transcripts of the scenarios that asked it.

  write_explained.py RUNS
"""
import pathlib
import sys

PAGE = next(pathlib.Path("Sources").glob("*/*.docc/FaultsTried.md"))
BEGIN, END = "<!-- radios: Scripts/radio-lab --write -->", "<!-- end of radios -->"

lines = ["| what was done | cause | sure | how it is said |", "|---|---|---|---|"]
for transcript in sorted(pathlib.Path(sys.argv[1]).glob("k-explain-*/transcript.log")):
    for line in transcript.read_text().splitlines():
        if "  explain | " not in line:
            continue
        words, cause, confidence, summary = line.split("  explain | ", 1)[1].split(" | ", 3)
        lines.append(f"| {words} | {'nothing' if cause == '-' else f'`{cause}`'} | {confidence} | {summary} |")
if len(lines) == 2:
    sys.exit("write_explained.py: no scenario has asked; play k-explain-wifi, k-explain-modem and k-explain-wireguard")
text = PAGE.read_text()
head, rest = text.split(BEGIN)
tail = rest.split(END)[1]
PAGE.write_text(head + BEGIN + "\n\n" + "\n".join(lines) + "\n\n" + END + tail)
