/* Mutual exclusion after Peterson, as it should be.
 *
 * Shows: a model that holds, checked exhaustively.
 */
bool wants[2];
byte turn;
byte critical;

active [2] proctype Worker() {
    byte other = 1 - _pid;

again:
    wants[_pid] = true;
    turn = other;
    !wants[other] || turn == _pid;

    critical++;
    assert(critical == 1);
    critical--;

    wants[_pid] = false;
    goto again
}
