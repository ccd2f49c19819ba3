/* Readers may read together, a writer writes alone.
 *
 * Shows: atomic sections as locks, several instances, assertions over shared counters. Holds.
 */
#define READERS 3
#define WRITERS 2

byte reading, writing;

active [READERS] proctype Reader() {
    do
    :: atomic { writing == 0 -> reading++ };
       assert(writing == 0);
       reading--
    od
}

active [WRITERS] proctype Writer() {
    do
    :: atomic { writing == 0 && reading == 0 -> writing++ };
       assert(writing == 1 && reading == 0);
       writing--
    od
}
