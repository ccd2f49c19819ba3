/* Two clerks sell the last seat of a train, and a third one gives seats back.
 *
 * The desk looks at the number of seats before it takes one; so does the telephone. Shows: an assertion that fails in
 * different ways, and a deadlock in another one: fabius causes models/last_seat.pml
 */
byte seats = 1;
byte sold;
bool paid;

active proctype Desk() {
    if
    :: seats > 0 ->                 /* somebody else may sell it here */
       sold++;
       assert(sold < 2);
       seats--
    :: else
    fi;
    paid                            /* the customer pays later, or somebody cancels */
}

active proctype Telephone() {
    if
    :: seats > 0 -> sold++; assert(sold < 2); seats--; paid = true
    :: else -> paid = true
    :: skip                         /* nobody calls */
    fi
}

active proctype Refund() {
    if
    :: sold > 0 -> seats++; paid = true
    :: skip
    fi
}
