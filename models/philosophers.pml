/* Five philosophers who all take the left fork first.
 *
 * Shows: a deadlock, with who waits for whom.
 * With -D POLITE the last one starts with the right fork, and nobody starves the table.
 */
#ifndef N
#define N 5
#endif

byte fork_of[N];           /* 0: on the table, else 1 + the number of who holds it */

inline take(f) { atomic { fork_of[f] == 0 -> fork_of[f] = 1 + _pid } }
inline put(f)  { fork_of[f] = 0 }

active [N] proctype Philosopher() {
    byte first = _pid;
    byte second = (_pid + 1) % N;

#ifdef POLITE
    if
    :: _pid == N - 1 -> first = 0; second = N - 1
    :: else
    fi;
#endif

end:
    do
    :: take(first);
       take(second);
       put(second);
       put(first)
    od
}
