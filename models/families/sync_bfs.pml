/* Breadth-first search by processes that work in rounds: each learns how far it is from the root.
 *
 * After N. Lynch, "Distributed Algorithms" (1996), section 4.2, with a simple synchroniser: in each round everybody sends
 * a message to both neighbours in a ring of N, and goes on when one has come from each of them.
 *
 * Holds: everybody learns the distance of a shortest way. With -DBUG a process goes on when it has heard of
 * one of its neighbours only.
 */
#ifndef N
#define N 5
#endif
#define ROUNDS (N / 2 + 1)
#define SHORTEST (me <= N - me -> me : N - me)

chan from_left[N]  = [ROUNDS] of { bool };      /* is this the way to the root? */
chan from_right[N] = [ROUNDS] of { bool };

active [N] proctype Node() {
    byte me = _pid, round, distance;
    bool marked = (_pid == 0), tells = (_pid == 0), left, right;

    do
    :: round < ROUNDS ->
        from_left[(me + 1) % N] ! tells;
        from_right[(me + N - 1) % N] ! tells;
        tells = false;
        left = false;
        right = false;
#ifdef BUG
        if
        :: from_left[me] ? left
        :: from_right[me] ? right
        fi;
#else
        from_left[me] ? left;
        from_right[me] ? right;
#endif
        round++;
        if
        :: (left || right) && !marked ->
            marked = true;
            tells = true;
            distance = round;
            assert(distance == SHORTEST)
        :: else
        fi
    :: else -> break
    od;
#ifndef BUG
    assert(marked)
#endif
}
