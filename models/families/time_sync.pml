/* Time synchronisation: a master asks N slaves how far their clocks are off, and tells them by how much to correct them.
 *
 * After R. Gusella and S. Zatti, "The accuracy of the clock synchronization achieved by TEMPO in Berkeley UNIX 4.3BSD"
 * (1989). Answers may be late: then the master asks anew, with the number of the round, and what belongs to
 * an earlier round is not used. A clock runs away by at most one unit from one correction to the next.
 *
 * Holds: no clock is ever more than two units off. With -DBUG the master does not look at the number of the round.
 */
#ifndef N
#define N 2
#endif
#define ROUNDS 4
#define FAR    2

mtype = { ask, correct };
chan to_slave[N] = [3] of { mtype, byte, short };
chan answers[N]  = [3] of { byte, short };

active [N] proctype Slave() {
    byte me = _pid, round;
    short off, by;
    bool ran_away;

    do
    :: !ran_away && off < FAR  -> off++; ran_away = true
    :: !ran_away && off > -FAR -> off--; ran_away = true
    :: to_slave[me] ? ask(round, _) -> answers[me] ! round(off); round = 0
    :: to_slave[me] ? correct(_, by) ->
        off = off + by;
        assert(-FAR <= off && off <= FAR);
        by = 0;
        ran_away = false
    od
}

active proctype Master() {
    byte round, number, i;
    short off;

    do
    :: for (i : 0 .. N - 1) {
            to_slave[i] ! ask(round, 0);
            do
            :: answers[i] ? number, off ->
#ifdef BUG
                to_slave[i] ! correct(round, -off);
                break
#else
                if
                :: number == round -> to_slave[i] ! correct(round, -off); break
                :: else
                fi
#endif
            :: len(to_slave[i]) + len(answers[i]) < 2 ->       /* no answer in time */
                round = (round + 1) % ROUNDS;
                to_slave[i] ! ask(round, 0)
            od;
            off = 0;
            number = 0
        };
        i = 0;
        round = (round + 1) % ROUNDS
    od
}
