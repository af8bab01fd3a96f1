# SPDX-License-Identifier: Apache-2.0
import contextlib
import io
import json
import unittest

import compare_reports

SERVERS = {"model": "m", "strategy": {"kind": "ps", "asynchronous": True}}


def answer(step, communication, waiting=0):
    return {"step_time_s": {"value": step}, "communication_s": communication, "breakdown_s": {"input": waiting}}


class CompareReports(unittest.TestCase):
    def test_only_saturated_servers_are_exempt(self):
        self.assertIn("saturated", compare_reports.exempt(SERVERS, answer(2.0, 2.0)))
        self.assertIn("saturated", compare_reports.exempt(SERVERS, answer(2.5, 2.0, 0.5)))
        self.assertEqual(compare_reports.exempt(SERVERS, answer(2.0, 1.99)), "")
        self.assertEqual(compare_reports.exempt(SERVERS, {"error": {"kind": "BadInput"}}), "")
        self.assertEqual(compare_reports.exempt(SERVERS | {"mode": "inference"}, answer(2.0, 2.0)), "")
        self.assertEqual(compare_reports.exempt({"model": "m"}, answer(2.0, 2.0)), "")

    def test_input_and_described_devices_are_exempt(self):
        self.assertIn("input", compare_reports.exempt({"input_rate": 5}, answer(2, 1)))
        self.assertIn("described", compare_reports.exempt({"device": {}, "workers": 2}, answer(2, 1)))
        self.assertEqual(compare_reports.exempt({"device": {}, "workers": 1}, answer(2, 1)), "")

    def test_numbers_are_compared_by_their_characters(self):
        old = compare_reports.parse('{"a": 1.0, "b": ["x"], "c": 2}')
        new = compare_reports.parse('{"a": 1.00, "b": ["y"], "c": 2, "d": 3}')
        numbers, texts = compare_reports.differences(old, new)
        self.assertEqual([path for path, *_ in numbers], ["a"])
        self.assertEqual([path for path, *_ in texts], ["b[0]"])

    def test_another_number_fails_unless_it_is_exempt(self):
        def passes(before, after, count):
            answers = [json.dumps(one) for one in (before, after)]
            with contextlib.redirect_stdout(io.StringIO()):
                return compare_reports.report([SERVERS] + [{"model": "m"}] * (count - 1),
                                              *([one] + [answers[0]] * (count - 1) for one in answers))
        self.assertFalse(passes(answer(2.0, 1.0), answer(3.0, 1.0), 10))
        self.assertTrue(passes(answer(2.0, 1.0), answer(3.0, 3.0), 10))
        self.assertFalse(passes(answer(2.0, 1.0), answer(3.0, 3.0), 3))  # a third is exempt


if __name__ == "__main__":
    unittest.main()
