/* Lifts under the wheels of a truck, one each, that must rise and sink together: N lifts in a ring.
 *
 * After Groote, Pang and Wouters, "Analysis of a distributed system for lifting trucks" (2003). A button may be pressed at
 * any lift. The lift asks the others to follow, and moves them when its request has been all around the ring. If
 * buttons are pressed at several lifts, the one with the smallest number wins.
 *
 * Holds: no two lifts are ever more than one step apart. With -DBUG a lift that waits for the others passes on any
 * request that comes.
 */
#ifndef N
#define N 3
#endif
#define TOP 2

mtype = { follow, move };
chan ring[N] = [2 * N] of { mtype, byte, bool };
byte height[N];

#define GO(up)                                                      \
    d_step {                                                        \
        height[me] = (up -> height[me] + 1 : height[me] - 1);       \
        assert(height[me] + 1 >= height[0] && height[me] <= height[0] + 1);             \
        assert(height[me] + 1 >= height[N - 1] && height[me] <= height[N - 1] + 1)      \
    }

active [N] proctype Lift() {
    byte me = _pid, who, master = N;    /* whom it follows; N means nobody, itself that it has asked */
    bool up, wanted;
    chan in = ring[me], out = ring[(me + 1) % N];

    xr in;
    xs out;

    do
    :: master == N ->
        if
        :: height[me] < TOP -> wanted = true
        :: height[me] > 0   -> wanted = false
        fi;
        master = me;
        out ! follow(me, wanted)
    :: in ? follow(who, up) ->
        if
        :: who == me ->                 /* all the others follow */
            if
            :: master == me -> out ! move(me, up)
            :: else         -> assert(false)
            fi
#ifdef BUG
        :: who != me && master == me -> out ! follow(who, up)
#else
        :: who != me && master == me && who < me -> master = who; out ! follow(who, up)
        :: who != me && master == me && who > me -> skip    /* it will hear of this one's request */
#endif
        :: who != me && master != me -> master = who; out ! follow(who, up)
        fi
    :: in ? move(who, up) ->
        GO(up);
        if
        :: who == me -> skip
        :: else      -> out ! move(who, up)
        fi;
        master = N
    od
}
