/* A producer and a consumer around a ring buffer of N places.
 *
 * The producer's test for a free place is off by one, so an item that nobody has read is
 * overwritten once the buffer is full. Shows: an assertion that fails only after a long way.
 */
#define N 3
#define KINDS 5

byte buffer[N];
byte stored;                /* how many items wait */

active proctype Producer() {
    byte tail, item;

    do
    :: stored <= N ->       /* should be: stored < N */
       d_step {
           buffer[tail] = item;
           tail = (tail + 1) % N;
           item = (item + 1) % KINDS;
           stored++
       }
    od
}

active proctype Consumer() {
    byte head, expected;

    do
    :: stored > 0 ->
       assert(buffer[head] == expected);
       d_step {
           head = (head + 1) % N;
           expected = (expected + 1) % KINDS;
           stored--
       }
    od
}
