/* Electing a leader in a ring: only numbers greater than one's own are passed on (Le Lann, Chang and Roberts).
 *
 * After E. Chang and R. Roberts, "An improved algorithm for decentralized extrema-finding in circular configurations of
 * processes" (CACM 1979). Stations wake up by themselves, or because a message comes.
 *
 * Holds: one leader, the one with the greatest number, and everybody learns who it is. With -DBUG a station
 * that sleeps passes on what comes without looking at it, and takes part once it has woken up.
 */
#ifndef N
#define N 4
#endif

mtype = { candidate, elected };
chan ring[N] = [2 * N] of { mtype, byte };
byte leaders;
bool descending;                        /* how the numbers are given out */

proctype Station(byte place) {
    byte mine = (descending -> N - place : place + 1), number;
    bool awake;
    chan in = ring[place], out = ring[(place + 1) % N];

    xr in;
    xs out;

    do
    :: !awake -> awake = true; out ! candidate(mine)
    :: in ? candidate(number) ->
        if
        :: number == mine ->
            leaders++;
            assert(leaders == 1);
            out ! elected(mine)
#ifdef BUG
        :: !awake -> out ! candidate(number)
        :: awake && number > mine -> out ! candidate(number)
#else
        :: number > mine ->
            if
            :: !awake -> awake = true; out ! candidate(mine)
            :: else
            fi;
            out ! candidate(number)
#endif
        :: else
        fi
    :: in ? elected(number) ->
        assert(number == N);
        if
        :: number != mine -> out ! elected(number)
        :: else
        fi;
        break
    od
}

init {
    byte i;

    if
    :: descending = true
    :: skip
    fi;
    atomic {
        for (i : 0 .. N - 1) {
            run Station(i)
        }
    }
}
