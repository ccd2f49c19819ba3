/* Two workers take a lock in turns. */
bool locked;
byte inside;

active [2] proctype Worker() {
    do
    :: atomic { !locked -> locked = true };
       inside++;
       assert(inside == 1);
       inside--;
       locked = false
    od
}

/* Somebody is inside again and again. */
ltl used { []<> (inside == 1) }
