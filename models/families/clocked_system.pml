/* A clocked system: N cells in a ring hand a pulse on, one cell further with each tick of a clock.
 *
 * Synchronous hardware described by asynchronous processes, as in Desai, Qadeer and Rajamani, "Iterative cycle
 * detection via delaying explorers" (2015), who seal the broadcast of the clock: while the clock tells the cells of a
 * phase, nobody is held back. Each tick has two phases: all read their neighbour, then all write.
 *
 * Holds: there is always exactly one pulse, and it comes round. With -DBUG the cells read and write in one phase.
 */
#ifndef N
#define N 3
#endif

mtype = { read, write };
chan phase[N] = [1] of { mtype };
chan ready    = [N] of { byte };
bool output[N];
byte at;                                /* where the pulse has to be */

active [N] proctype Cell() {
    byte me = _pid;
    bool input;

    do
    :: phase[me] ? read ->
        input = output[(me + N - 1) % N];
#ifdef BUG
        output[me] = input;
#endif
        ready ! me
    :: phase[me] ? write ->
        output[me] = input;
        ready ! me
    od
}

#define tell(what)                                              \
    /*@ seal rr */                                              \
    for (i : 0 .. N - 1) { phase[i] ! what };                   \
    /*@ unseal */                                               \
    for (i : 0 .. N - 1) { ready ? _ }

active proctype Clock() {
    byte i;

    output[0] = true;
    do
    :: tell(read);
#ifndef BUG
        tell(write);
#endif
        at = (at + 1) % N;
        for (i : 0 .. N - 1) {
            assert(output[i] == (i == at))
        };
progress:
        i = 0
    od
}
