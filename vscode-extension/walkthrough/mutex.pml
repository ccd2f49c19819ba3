/* Two workers, one critical section. They should never be inside together.
 *
 * Each should announce its wish before it gives way. Here it gives way first.
 */
bool wants[2];
byte turn;
byte critical;

active [2] proctype Worker() {
    byte other = 1 - _pid;

again:
    turn = other;               /* swap this line ... */
    wants[_pid] = true;         /* ... with this one */
    !wants[other] || turn == _pid;

    critical++;
    assert(critical == 1);
    critical--;

    wants[_pid] = false;
    goto again
}
