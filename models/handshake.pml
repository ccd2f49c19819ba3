/* A client and a server that shake hands, each waiting for the other to speak first.
 *
 * Shows: rendezvous channels and a deadlock because nobody is left to receive.
 */
mtype = { request, reply, done };

chan call   = [0] of { mtype };
chan answer = [0] of { mtype };

active proctype Client() {
    call ! request;
    if
    :: answer ? reply
    :: answer ? done -> goto finished
    fi;
    call ! done;
    answer ? done;
finished:
    skip
}

active proctype Server() {
    do
    :: call ? request -> answer ! reply
    :: call ? done -> break             /* forgets to answer */
    od
}
