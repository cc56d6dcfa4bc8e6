"""What the lab makes of answers, of frames, and of its table. Run: python3 -m unittest discover Tests/FaultLab"""
import socket
import struct
import types
import unittest

import judging
import play
import table

HERE, THERE = socket.inet_aton("192.0.2.2"), socket.inet_aton("203.0.113.10")


def fault(causes, flags="4", where="router"):
    return table.Fault(f"x | {where} | internet | {causes} | {flags}", "x.faults", 1)


def said(cause, confidence="likely", status=1, user=False, failed=0):
    return {"verdict": {"cause": cause, "confidence": confidence}, "status": status, "user": user, "failed": failed}


def frame(seconds, outgoing, protocol, ports, body):
    ends = (HERE, THERE) if outgoing else (THERE, HERE)
    head = b"\x45\0" + struct.pack("!HHHBBH", 28 + len(body), 0, 0, 64, protocol, 0) + ends[0] + ends[1]
    return seconds, outgoing, bytes(12) + b"\x08\0" + head + struct.pack("!HH", *ports) + body


def segment(seconds, outgoing, ports, flags, data=b"", sequence=1):
    return frame(seconds, outgoing, 6, ports, struct.pack("!IIBBHHH", sequence, 0, 0x50, flags, 0, 0, 0) + data)


class Grades(unittest.TestCase):
    failed, works = [(False, "")], [(True, "")]

    def grade(self, one, run, judged=None):
        return judging.grade(one, run, judged or self.failed)

    def test_right_and_plausible(self):
        one = fault("silent; refused; prohibited")
        self.assertEqual(self.grade(one, said("silent")), "right")
        self.assertEqual(self.grade(one, said("refused")), "plausible")
        self.assertEqual(self.grade(one, said("prohibited")), "wrong")
        self.assertEqual(self.grade(one, said("prohibited", user=True)), "plausible")
        self.assertEqual(self.grade(one, said(None, "unknown", 2)), "unknown")

    def test_certain_has_to_be_right(self):
        one = fault("no-carrier; refused")
        self.assertEqual(self.grade(one, said("no-carrier", "certain")), "right")
        self.assertEqual(self.grade(one, said("refused", "certain")), "fatal")
        self.assertEqual(self.grade(one, said("no-route", "certain")), "fatal")

    def test_nothing_wrong_needs_the_judge(self):
        self.assertEqual(self.grade(fault("silent"), said(None, "likely", 0)), "fatal")
        self.assertEqual(self.grade(fault("address-dead -", "4 works"), said(None, "likely", 0), self.works), "right")

    def test_intermittent_nothing_needs_its_own_tries(self):
        one = fault("unreliable", "4 turns")
        self.assertEqual(self.grade(one, said(None, "certain", 0, failed=0)), "right")
        self.assertEqual(self.grade(one, said(None, "certain", 0, failed=1)), "fatal")

    def test_problems(self):
        result = {"failures": [], "judged": self.works}
        self.assertIn("no fault", judging.problem(fault("silent"), result))
        self.assertIn("not intermittent", judging.problem(fault("unreliable", "4 turns"), result))
        self.assertIsNone(judging.problem(fault("-", where="-"), result))
        self.assertIn("no packet", judging.problem(fault("silent"), {"failures": [], "judged": self.failed, "met": 0}))

    def test_hearsay_is_never_certain(self):
        self.assertTrue(judging.is_too_sure(said("refused", "certain")))
        self.assertFalse(judging.is_too_sure(said("no-carrier", "certain")))


class Capture(unittest.TestCase):
    def test_a_retransmission_is_no_question(self):
        frames = [segment(0, True, (4000, 443), 2), segment(1, True, (4000, 443), 2), segment(1, True, (4001, 443), 2)]
        self.assertEqual(play.questions(frames)["asked"], {"syn": 2})

    def test_failed_tries(self):
        answered = [segment(0, True, (4000, 443), 2), segment(0, False, (443, 4000), 0x12)]
        self.assertEqual(play.questions(answered)["failed"], 0)
        refused = [segment(0, True, (4000, 443), 2), segment(0, False, (443, 4000), 0x14)]
        self.assertEqual(play.questions(refused)["failed"], 1)
        mute = answered + [segment(0, True, (4000, 443), 0x18, b"GET"), segment(1, True, (4000, 443), 0x18, b"GET")]
        self.assertEqual(play.questions(mute)["failed"], 1)
        self.assertEqual(play.questions(mute + [segment(2, False, (443, 4000), 0x18, b"200")])["failed"], 0)

    def test_questions_to_name_servers(self):
        def query(seconds, outgoing, number, code=0):
            body = struct.pack("!HHHBB", 20, 0, number, 0, code) + bytes(8) + b"\1a\0\0\1\0\1"
            return frame(seconds, outgoing, 17, (5000, 53) if outgoing else (53, 5000), body)
        self.assertEqual(play.questions([query(0, True, 1), query(0, False, 1)]), {"asked": {"dns": 1}, "failed": 0})
        self.assertEqual(play.questions([query(0, True, 1), query(0, False, 1, 2), query(3, True, 2)])["failed"], 1)
        again = [query(0, True, 1), query(2, True, 2), query(2, False, 2), segment(4, True, (4000, 443), 2)]
        self.assertEqual(play.questions(again)["failed"], 0)

    def test_strange_frames(self):
        strange = [(0, False, bytes(n) + b"\x08\0\x45") for n in range(20)] + [(0, False, b"")]
        self.assertEqual(play.questions(strange), {"asked": {}, "failed": 0})


class Table(unittest.TestCase):
    def test_the_bars_of_the_issue(self):
        faults = [one for one in table.faults() if not one.heading]
        self.assertGreaterEqual(sum(not one.is_healthy for one in faults), 200)
        self.assertGreaterEqual(sum(one.is_healthy for one in faults), 30)
        self.assertTrue(all(one.words and one.words.endswith(".") for one in faults))

    def test_a_step_is_done_for_each_family(self):
        case = {"certificates": "", "ask": "$site:80", "judge": "", "families": [4, 6],
                "how": ["here x $f $gw", "here y"]}
        steps = play.Play(types.MappingProxyType(case) | {}).steps
        self.assertEqual(steps, ["here x -4 192.0.2.1", "here x -6 2001:db8:1::1", "here y"])


if __name__ == "__main__":
    unittest.main()
