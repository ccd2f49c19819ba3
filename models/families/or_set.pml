/* A replicated set in which an element may be added and removed everywhere at the same time: the observed-remove set.
 *
 * After Shapiro, Preguica, Baquero and Zawirski, "A comprehensive study of convergent and commutative replicated data
 * types" (2011). Each addition has a tag of its own; a removal removes the tags that were seen where it was asked for.
 * One element is modelled, by the set of its tags, and N replicas with OPERATIONS each.
 *
 * Holds: when all messages have arrived, all replicas agree. With -DBUG a removal removes whatever tags it finds
 * where it arrives, among them those of additions that it does not know of.
 */
#ifndef N
#define N 3
#endif
#ifndef OPERATIONS
#define OPERATIONS 1
#endif
#define FIRST 1                         /* the tag that is there from the start */

mtype = { add, remove };
chan inbox[N] = [N * OPERATIONS] of { mtype, short };
short added[N] = FIRST, removed[N];     /* sets of tags, one bit each */

#define TAGS(replica) (added[replica] & ~removed[replica])

active [N] proctype Replica() {
    byte me = _pid, operations, i;
    short tags;
    mtype what;

end:
    do
    :: operations < OPERATIONS ->
        if
        :: what = add; tags = 2 << (me * OPERATIONS + operations); added[me] = added[me] | tags
        :: TAGS(me) != 0 -> what = remove; tags = TAGS(me); removed[me] = removed[me] | tags
        :: skip -> operations++; goto end
        fi;
        operations++;
        for (i : 0 .. N - 1) {
            if
            :: i != me -> inbox[i] ! what(tags)
            :: else
            fi
        };
        i = 0;
        tags = 0
    :: inbox[me] ? add(tags) -> added[me] = added[me] | tags; tags = 0
    :: inbox[me] ? remove(tags) ->
#ifdef BUG
        removed[me] = removed[me] | TAGS(me);
#else
        removed[me] = removed[me] | tags;
#endif
        tags = 0
    od
}

/* When nothing can happen any more. */
active proctype Agreement() {
    byte i;

    timeout;
    for (i : 1 .. N - 1) {
        assert(TAGS(i) == TAGS(0))
    }
}
