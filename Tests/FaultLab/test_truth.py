"""What Benchmarks/outages holds to be due. Run: python3 -m unittest discover Tests/FaultLab"""
import unittest

from truth import ALL, truths

# A moment of the wall clock at which the first act begins.
NOON = 1_000_000_000.0
URL = "https://site.example/"


def judged(*acts, target=URL, gaps=(), carrier=()):
    """The truths of acts of a kind, from second to second; each takes no time, and all judges see them."""
    spans = [(NOON + first, NOON + last) for _, first, last in acts]
    played = {
        "acts": {number: [name, (NOON + first, NOON + first), (NOON + last, NOON + last)]
                 for number, (name, first, last) in enumerate(acts)},
        "gaps": [(NOON + first, NOON + last, verb) for first, last, verb in gaps],
        "carrier": [(NOON + when, up) for when, up in carrier],
        "failing": {name: spans for name in ALL}}
    return truths(played, target)


class TestTruth(unittest.TestCase):
    def begins(self, truth, first, last):
        self.assertAlmostEqual(truth.begin[0] - NOON, first, places=3)
        self.assertAlmostEqual(truth.begin[1] - NOON, last, places=3)

    def ends(self, truth, first, last):
        self.assertAlmostEqual(truth.end[0] - NOON, first, places=3)
        self.assertAlmostEqual(truth.end[1] - NOON, last, places=3)

    def test_what_the_kernel_tells_is_exact(self):
        truth, = judged(("link switched off", 0, 3))
        self.assertTrue(truth.due)
        self.begins(truth, -0.2, 0.2)
        self.ends(truth, 2.8, 3.2)

    def test_silence_takes_two_checks(self):
        for seconds, due in [(11.9, False), (12.1, True)]:
            truth, = judged(("provider dead", 0, seconds))
            self.assertEqual(truth.due, due)
        self.begins(truth, -0.2, 1.2)
        self.ends(truth, 11.9, 18.3)

    def test_what_overlaps_silence_fails_as_well(self):
        for second in ["router dead", "site refuses"]:
            for last, due in [(11.9, False), (12.1, True)]:
                truth, = judged(("provider dead", 0, 8), (second, 4, last))
                self.assertEqual(truth.due, due, second)
            self.begins(truth, -0.2, 1.2)

    def test_who_gets_no_answer_sees_no_refusal(self):
        """A check that began while all was silent waits for five seconds, whatever is refused then."""
        truth, = judged(("name server silent", 0, 6), ("site refuses", 2, 6))
        self.assertFalse(truth.due)
        truth, = judged(("site refuses", 0, 4), ("provider dead", 2, 4))
        self.assertTrue(truth.due, "two checks were refused before")
        self.begins(truth, -0.2, 1.2)

    def test_a_lost_path_confirms_a_check_that_has_failed(self):
        for lost, begin in [(6.6, 1.2), (6.4, 6.6)]:
            for last in [9, 30]:
                truth, = judged(("router dead", 0, last), ("link switched off", lost, last))
                self.assertTrue(truth.due)
                self.begins(truth, -0.2, begin)
                self.ends(truth, last - 0.2, last + 6.2)

    def test_a_carrier_of_which_nobody_was_told_confirms_nothing(self):
        truth, = judged(("router dead", 0, 9), ("carrier lost", 7, 7.3))
        self.assertFalse(truth.due)

    def test_nothing_is_promised_while_no_recorder_runs(self):
        truth, = judged(("site refuses", 0, 4), gaps=[(1, 3, "kill")])
        self.assertFalse(truth.due)
        truth, = judged(("site refuses", 0, 6), gaps=[(1, 3, "kill")])
        self.assertTrue(truth.due)
        self.begins(truth, -0.2, 4.2)

    def test_a_recorder_that_has_just_begun_has_to_look_a_name_up(self):
        for target, verb, begin in [(URL, "kill", 4.2), (URL, "stop", 3.2), ("http://203.0.113.11/", "kill", 3.2)]:
            truth, = judged(("link switched off", 2, 9), target=target, gaps=[(1, 3, verb)])
            self.assertTrue(truth.due)
            self.begins(truth, 1.8, begin)

    def test_the_end_may_be_cut_if_too_little_is_left_for_the_next_recorder(self):
        for seconds, cut in [(19, True), (28, False)]:
            truth, = judged(("uplink pulled", 0, seconds), gaps=[(14, 15, "kill")])
            self.assertTrue(truth.due)
            self.assertEqual(truth.cut, cut)



if __name__ == "__main__":
    unittest.main()
