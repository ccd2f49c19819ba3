/* A counter in a byte, and a division that nobody expected to be by zero.
 *
 * Shows: values wrap on storing, and an evaluation error as a violation with its trace.
 */
byte ticks = 250;
byte rate;

active proctype Clock() {
    do
    :: ticks != 3 -> ticks++
    :: ticks == 3 -> break
    od
}

active proctype Meter() {
    ticks < 5;                  /* after the wrap */
    rate = 100 / ticks
}
