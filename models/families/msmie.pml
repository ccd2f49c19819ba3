/* Multiprocessor shared-memory information exchange: one slave writes images, N masters read the newest.
 *
 * After Santoline, Bowers, Crew, Roth and Ghezzi (1989) and the analysis of Bruns and Anderson (1993): three buffers,
 * each idle, being written, newest, or being read. All masters that read at the same time read the same buffer;
 * the last to leave frees it, unless there is nothing newer. A semaphore guards the states of the buffers: what it guards is atomic here.
 *
 * Holds: nobody sees an image that is half old and half new. With -DBUG every master that leaves frees the buffer.
 */
#ifndef N
#define N 2
#endif
#define NONE 3

mtype = { idle, written, newest, read };

mtype state[3] = idle;
bool first_half[3], second_half[3];
byte reading;                           /* number of masters that read */

#define find(what, where)                                   \
    if                                                      \
    :: state[0] == what -> where = 0                        \
    :: state[1] == what -> where = 1                        \
    :: state[2] == what -> where = 2                        \
    :: else             -> where = NONE                     \
    fi

active proctype Slave() {
    byte buffer, old;
    bool image;

    do
    :: atomic {
            find(idle, buffer);
            assert(buffer != NONE);     /* three buffers are enough */
            state[buffer] = written
        };

        image = !image;
        first_half[buffer] = image;
        second_half[buffer] = image;

        atomic {
            find(newest, old);
            if
            :: old != NONE -> state[old] = idle
            :: else
            fi;
            state[buffer] = newest
        }
    od
}

active [N] proctype Master() {
    byte buffer, other;
    bool half;

    do
    :: atomic {
            if
            :: reading > 0 -> find(read, buffer)
            :: else        -> find(newest, buffer)
            fi;
            buffer != NONE;             /* somebody has written */
            state[buffer] = read;
            reading++
        };

        half = first_half[buffer];
        assert(half == second_half[buffer]);

        atomic {
            reading--;
#ifdef BUG
            if
            :: true ->
#else
            if
            :: reading == 0 ->
#endif
                find(newest, other);
                if
                :: other == NONE -> state[buffer] = newest
                :: else          -> state[buffer] = idle
                fi
            :: else
            fi;
            half = false
        }
    od
}
