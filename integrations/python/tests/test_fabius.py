"""The package against the real program, which the variable FABIUS names."""

import unittest
from pathlib import Path

import fabius

MODELS = Path(__file__).resolve().parents[3] / "models"


class Check(unittest.TestCase):
    def test_a_violation_has_a_trace(self):
        report = fabius.check(MODELS / "peterson_broken.pml")
        self.assertIs(report.verdict, fabius.Verdict.VIOLATED)
        self.assertFalse(report)
        violation = report.violations[0]
        self.assertEqual(violation.kind, "assertion")
        self.assertEqual([step.number for step in violation.trace], list(range(1, len(violation.trace) + 1)))
        changed = {change.name for step in violation.trace for change in step.changes}
        self.assertIn("turn", changed)

    def test_a_model_holds(self):
        report = fabius.check(MODELS / "peterson.pml")
        self.assertTrue(report)
        self.assertTrue(all(one.verdict is fabius.Verdict.HOLDS and one.exhaustive for one in report.properties))

    def test_a_text_with_macros_and_a_formula(self):
        text = "byte x; active proctype P() { do :: x < N -> x++ :: else -> break od }"
        report = fabius.check(text=text, defines={"N": 3}, ltl="<> (x == 3)")
        self.assertIn("ltl", {one.kind for one in report.properties})

    def test_an_infinite_run_says_where_its_loop_begins(self):
        text = "byte x; active proctype P() { do :: x = 1 - x od }"
        report = fabius.check(text=text, ltl="<> (x == 2)")
        violation = next(one for one in report.violations if one.loop_start is not None)
        self.assertIn("↻", violation._repr_html_())

    def test_a_deadlock_says_who_waits(self):
        report = fabius.check(text="chan c = [0] of { byte }; active proctype P() { c!1 }")
        self.assertEqual(report.violations[0].blocked[0].process, "P")

    def test_a_limit_leaves_it_undecided(self):
        report = fabius.check(MODELS / "peterson.pml", max_states=3, flags=["--no-cache"])
        self.assertIs(report.verdict, fabius.Verdict.UNDECIDED)

    def test_a_faulty_model_is_an_error_with_its_places(self):
        with self.assertRaises(fabius.FabiusError) as raised:
            fabius.check(text="active proctype P() { x = }")
        self.assertEqual(raised.exception.findings[0].line, 1)

    def test_a_missing_file_and_a_missing_program_are_errors(self):
        with self.assertRaises(fabius.FabiusError) as raised:
            fabius.check("nowhere.pml")
        self.assertTrue(str(raised.exception).startswith("F0108: "), str(raised.exception))
        with self.assertRaises(fabius.FabiusError):
            fabius.check("no_such_model.pml")
        with self.assertRaises(fabius.FabiusError):
            fabius.check(MODELS / "peterson.pml", program="no_such_program")
        with self.assertRaises(ValueError):
            fabius.check()


class Others(unittest.TestCase):
    def test_a_schedule_avoids_the_error(self):
        schedule = fabius.schedule(MODELS / "peterson_broken.pml")
        self.assertEqual(schedule.verdict, "avoidable")
        self.assertTrue(schedule.waits)

    def test_executions_are_counted_and_listed(self):
        text = "byte x; active [2] proctype P() { x = _pid }"
        found = fabius.executions(text=text, listed=5)
        self.assertEqual((found.total, found.failing, len(found.runs)), (2, 0, 2))

    def test_a_simulation_is_repeated_by_its_seed(self):
        runs = [fabius.simulate(MODELS / "peterson.pml", steps=12, seed=4) for _ in range(2)]
        self.assertEqual(runs[0].steps, runs[1].steps)
        self.assertTrue(0 < len(runs[0].steps) <= 12)

    def test_codes_are_explained(self):
        self.assertIn("Deadlock", fabius.explain("F0602"))
        with self.assertRaises(fabius.FabiusError):
            fabius.explain("F9999")


class Notebook(unittest.TestCase):
    def test_results_are_html_and_escaped(self):
        html = fabius.check(text="byte x; active proctype P() { assert(x < 0 && x > 1) }")._repr_html_()
        self.assertIn("assert(x &lt; 0 &amp;&amp; x &gt; 1)", html)
        self.assertNotIn("x < 0", html)
        self.assertEqual(html.count("<table>"), html.count("</table>"))
        self.assertIn("<td", fabius.simulate(MODELS / "peterson.pml", steps=5)._repr_html_())
        self.assertIn("<li>", fabius.schedule(MODELS / "peterson_broken.pml")._repr_html_())


if __name__ == "__main__":
    unittest.main()
