/* Electing a leader in a ring where messages go one way (Dolev, Klawe and Rodeh).
 *
 * Shows: processes that are started with arguments, channel arrays, and a property that holds:
 * at most one leader is elected.
 */
#ifndef N
#define N 3
#endif
#define CAPACITY (2 * N)

mtype = { one, two, winner };
chan ring[N] = [CAPACITY] of { mtype, byte };
byte leaders;

proctype Node(chan in, out; byte mine) {
    byte number, maximum = mine, neighbour;
    bool active_node = true, knows_winner;

    xr in;
    xs out;

    out ! one(mine);
end:
    do
    :: in ? one(number) ->
        if
        :: active_node ->
            if
            :: number != maximum ->
                out ! two(number);
                neighbour = number
            :: else ->
                knows_winner = true;
                out ! winner(number)
            fi
        :: else -> out ! one(number)
        fi
    :: in ? two(number) ->
        if
        :: active_node ->
            if
            :: neighbour > number && neighbour > maximum ->
                maximum = neighbour;
                out ! one(neighbour)
            :: else -> active_node = false
            fi
        :: else -> out ! two(number)
        fi
    :: in ? winner(number) ->
        if
        :: number != mine
        :: else ->
            leaders++;
            assert(leaders == 1)
        fi;
        if
        :: knows_winner
        :: else -> out ! winner(number)
        fi;
        break
    od
}

init {
    byte i;

    atomic {
        for (i : 1 .. N) {
            run Node(ring[i - 1], ring[i % N], (N + 1 - i) % N + 1)
        }
    }
}
