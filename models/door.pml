/* A door, as a program writes it from a table: a row of the table for each option.
 *
 * The last row is wrong: it bolts the door while it is open. Shows: the row of the table that each step comes
 * from, in place of the line of the model that nobody wrote by hand.
 */
mtype = { closed, open, locked };
mtype door = closed;
bool bolt;

active proctype Door() {
    do
#line 2 "door.table"
    :: door == closed -> door = open
#line 3 "door.table"
    :: door == open -> door = closed
#line 4 "door.table"
    :: door == closed -> bolt = true; door = locked
#line 5 "door.table"
    :: door == locked -> bolt = false; door = closed
#line 6 "door.table"
    :: door == open -> bolt = true
#line 2 "door.rules"
    od
}

active proctype Rule() {
    assert(!(bolt && door == open))
}
