/* Which node is the root? The tree identification of IEEE 1394 (FireWire), in a tree of N nodes.
 *
 * After Devillers, Griffioen, Romijn and Vaandrager, "Verification of a leader election protocol" (2000). A node that
 * all neighbours but one have asked to be their parent asks the last one; whom all have asked is the root. Two that
 * ask each other are in contention.
 *
 * Holds: there is one root, and it is found; here the node with the smaller number gives in. With -DBUG a node in
 * contention takes the other's request for an ordinary one. With -DLIVELOCK both toss a coin, as in the standard,
 * and if both coins fall the same way they are in contention again.
 */
#ifndef N
#define N 4
#endif

mtype = { be_my_parent, you_are_my_child };

/* Edge e joins the nodes e and (e - 1) / 2. */
chan upwards[N]   = [2] of { mtype };
chan downwards[N] = [2] of { mtype };
byte roots, done;

#define PARENT me
#define LEFT   (2 * me + 1)
#define RIGHT  (2 * me + 2)

#define send(edge, what)                                    \
    if                                                      \
    :: edge == me -> upwards[edge] ! what                   \
    :: else       -> downwards[edge] ! what                 \
    fi

proctype Node(byte me) {
    bool parent = (me > 0), left = (LEFT < N), right = (RIGHT < N);
    byte left_over = parent + left + right, edge;
    mtype what;

    do
    :: left_over == 0 -> goto root
    :: left_over == 1 -> break
    :: left_over > 1 && parent && downwards[PARENT] ? [be_my_parent] ->
        downwards[PARENT] ? be_my_parent; parent = false; left_over--; upwards[PARENT] ! you_are_my_child
    :: left_over > 1 && left && upwards[LEFT % N] ? [be_my_parent] ->
        upwards[LEFT % N] ? be_my_parent; left = false; left_over--; downwards[LEFT % N] ! you_are_my_child
    :: left_over > 1 && right && upwards[RIGHT % N] ? [be_my_parent] ->
        upwards[RIGHT % N] ? be_my_parent; right = false; left_over--; downwards[RIGHT % N] ! you_are_my_child
    od;
    edge = (parent -> PARENT : (left -> LEFT : RIGHT));
    if
    :: edge == me && downwards[edge] ? [be_my_parent] -> goto asked
    :: edge != me && upwards[edge] ? [be_my_parent]   -> goto asked
    :: else
    fi;
ask:
    send(edge, be_my_parent);
answer:
    if
    :: edge == me -> downwards[edge] ? what
    :: else       -> upwards[edge] ? what
    fi;
    if
    :: what == you_are_my_child -> goto child
    :: else
    fi;
    /* Contention: the other one asked at the same time. */
#if defined(BUG)
    send(edge, you_are_my_child);
    goto root;
#elif defined(LIVELOCK)
    if
    :: goto ask
    :: if                                       /* wait whether the other one asks again */
       :: edge == me && downwards[edge] ? [be_my_parent] -> downwards[edge] ? be_my_parent
       :: edge != me && upwards[edge] ? [be_my_parent]   -> upwards[edge] ? be_my_parent
       :: timeout -> goto ask
       fi
    fi;
#else
    if
    :: edge == me -> goto answer                /* the other one's number is smaller */
    :: else
    fi;
#endif
    send(edge, you_are_my_child);
    goto root;
asked:
    if
    :: edge == me -> downwards[edge] ? be_my_parent
    :: else       -> upwards[edge] ? be_my_parent
    fi;
    send(edge, you_are_my_child);
root:
    roots++;
    assert(roots == 1);
child:
progress:
    done++;
    assert(done < N || roots == 1)
}

init {
    byte i;

    atomic {
        for (i : 0 .. N - 1) {
            run Node(i)
        }
    }
}
