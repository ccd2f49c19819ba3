/* Exercise 1. Two clerks count visitors on one slip of paper: each reads the number, adds one in his head, and writes it down.
 *
 * Find out how the count can be wrong (step through the counterexample), then change the clerks so that it cannot.
 */
byte count;
byte done;

active [2] proctype Clerk() {
    byte mine;
    mine = count;
    count = mine + 1;
    done++
}

ltl all_counted { [] (done == 2 -> count == 2) }
