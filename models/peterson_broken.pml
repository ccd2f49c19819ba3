/* Mutual exclusion after Peterson, with one line in the wrong place.
 *
 * Each process should announce its wish before it gives way. Here it gives way first, so both can
 * pass. Shows: a failing assertion and the schedule that leads to it.
 */
bool wants[2];
byte turn;
byte critical;

active [2] proctype Worker() {
    byte other = 1 - _pid;

again:
    turn = other;          /* should come after the next line */
    wants[_pid] = true;
    !wants[other] || turn == _pid;

    critical++;
    assert(critical == 1);
    critical--;

    wants[_pid] = false;
    goto again
}
