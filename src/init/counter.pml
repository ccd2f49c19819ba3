/* Workers add to a counter that they share, one at a time.
 *
 *   fabius check counter.pml                everything holds
 *   fabius check counter.pml -D UNLOCKED    an update is lost: see how
 *   fabius check counter.pml -D N=3         with one worker more
 */
#ifndef N
#define N 2
#endif

byte counter;     /* what the workers share; variables begin with 0 */
byte finished;    /* how many workers are done */
bool locked;

/* A condition such as `!locked` waits until it is true. `atomic` lets nobody move between the two statements. */
inline acquire() { atomic { !locked -> locked = true } }
inline release() { locked = false }

active [N] proctype Worker() {
    byte seen;
#ifndef UNLOCKED
    acquire();
#endif
    seen = counter;        /* between these two lines, */
    counter = seen + 1;    /* another worker may move */
#ifndef UNLOCKED
    release();
#endif
    finished++
}

/* Safety: this is checked in every run. */
active proctype Auditor() {
    finished == N;
    assert(counter == N)
}

/* Liveness: in every run, all workers are done at some time. `[]` is always, `<>` is at some time. */
ltl all_finish { <> (finished == N) }
