/* German's cache coherence protocol: N caches and a directory that knows who has the line.
 *
 * After S. German's challenge of 2000, as described by Pnueli, Ruah and Zuck (TACAS 2001): a cache asks for the line, to
 * read it or to write it; the home directory has others give it up first if need be, and grants it.
 *
 * Holds: who may write is alone. With -DBUG the directory does not wait until the owner has given up the line
 * before it grants it to a reader.
 */
#ifndef N
#define N 3
#endif

mtype:line  = { invalid, shared, exclusive };
mtype:asked = { to_read, to_write };
mtype:order = { give_up, may_read, may_write };

chan request    = [N] of { mtype:asked, byte };
chan order[N]   = [1] of { mtype:order };
chan given_up   = [N] of { byte };
mtype:line cache[N] = invalid;
byte readers, writers;                  /* what the caches believe that they may do */

active [N] proctype Cache() {
    byte me = _pid;
    bool waiting;

    do
    :: !waiting && cache[me] == invalid   -> waiting = true; request ! to_read(me)
    :: !waiting && cache[me] != exclusive -> waiting = true; request ! to_write(me)
    :: order[me] ? give_up ->
        d_step {
            readers = readers - (cache[me] == shared);
            writers = writers - (cache[me] == exclusive);
            cache[me] = invalid
        };
        given_up ! me
    :: order[me] ? may_read ->
        atomic { cache[me] = shared; readers++; waiting = false; assert(writers == 0) }
    :: order[me] ? may_write ->
        atomic { cache[me] = exclusive; writers++; waiting = false; assert(writers == 1 && readers == 0) }
    od
}

active proctype Home() {
    bool has[N], writes;
    byte who, i, awaited;
    mtype:asked what;

    do
    :: request ? what(who) ->
        if
        :: what == to_write || writes ->
            for (i : 0 .. N - 1) {
                if
                :: has[i] -> order[i] ! give_up; has[i] = false; awaited++
                :: else
                fi
            };
#ifdef BUG
#define MUST_WAIT (awaited > 0 && what == to_write)
#else
#define MUST_WAIT (awaited > 0)
#endif
            do
            :: MUST_WAIT -> given_up ? i; awaited--
            :: else -> break
            od
        :: else
        fi;
        has[who] = true;
        writes = (what == to_write);
        if
        :: writes -> order[who] ! may_write
        :: else   -> order[who] ! may_read
        fi;
        i = 0
    od
}
