/* The alternating bit protocol over channels that may lose messages.
 *
 * Shows: channels with several fields, non-deterministic loss, timeout, and a property
 * (nothing is delivered twice or out of order) that holds.
 */
#define MAX 4

mtype = { msg, ack };

chan to_receiver = [1] of { mtype, bit, byte };
chan to_sender   = [1] of { mtype, bit };

active proctype Sender() {
    bit seq;
    byte item;

    do
    :: to_receiver ! msg(seq, item) ->
        if
        :: to_sender ? ack(eval(seq)) ->
            seq = 1 - seq;
            item = (item + 1) % MAX
        :: to_sender ? ack(eval(1 - seq))   /* an old one */
        :: timeout                          /* lost: send again */
        fi
    od
}

active proctype Receiver() {
    bit expected, seq;
    byte item, next_item;

    do
    :: to_receiver ? msg(seq, item) ->
        if
        :: seq == expected ->
            assert(item == next_item);
            next_item = (next_item + 1) % MAX;
            expected = 1 - expected
        :: else                             /* a copy */
        fi;
        to_sender ! ack(seq)
    od
}

active proctype Loss() {
    do
    :: to_receiver ? msg(_, _)
    :: to_sender ? ack(_)
    od
}
