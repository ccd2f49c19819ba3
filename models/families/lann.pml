/* Le Lann's ring: a token gives the right to a resource, and if it is lost the stations elect who makes a new one.
 *
 * After G. Le Lann, "Distributed systems: towards a formal approach" (1977). A station that notices the loss, or
 * that hears of it, sends its number around the ring and collects those of the others; when its own number is back it knows them
 * all, and the smallest makes the token.
 *
 * Holds: one station at a time uses the resource, and somebody does again and again. With -DBUG a station
 * makes the token as soon as it hears a greater number. With -DLIVELOCK stations are polite, and may hand on
 * the token unused.
 */
#ifndef N
#define N 3
#endif

mtype = { token, claim };
chan ring[N] = [N + 1] of { mtype, byte };
byte users;

active [N] proctype Station() {
    byte me = _pid, smallest = N, number;
    bool claims;
    chan in = ring[me], out = ring[(me + 1) % N];

    xr in;
    xs out;

    do
    :: in ? token(_) ->
#ifdef LIVELOCK
        if
        :: goto pass_on
        :: skip
        fi;
#endif
use:    users++;
        assert(users == 1);
progress:
        users--;
pass_on:
        if
        :: out ! token(me)
        :: skip                                 /* the token is lost */
        fi
    :: in ? claim(number) ->
        if
        :: number == me && claims ->            /* all numbers have been here */
            claims = false;
            if
            :: smallest == me -> smallest = N; goto use
            :: else           -> smallest = N
            fi
        :: else ->
            assert(number != me);
            if
            :: !claims -> claims = true; smallest = me; out ! claim(me)
            :: else
            fi;
            out ! claim(number);
#ifdef BUG
            if
            :: me < number && smallest == me -> out ! token(me)
            :: else
            fi;
#endif
            if
            :: number < smallest -> smallest = number
            :: else
            fi
        fi
    :: timeout ->
        claims = true;
        smallest = me;
        out ! claim(me)
    od
}
