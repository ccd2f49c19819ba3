/* Exercise 3. A server answers whoever asks; once the client has its answers, it is left alone, and Fabius calls that a deadlock.
 *
 * Say in the model that the server may wait for ever at this place (a label that begins with `end`), and nowhere else.
 */
chan request = [0] of { byte };
chan answer = [0] of { byte };

active proctype Server() {
    byte number;
    do
    :: request ? number -> answer ! number + number
    od
}

active proctype Client() {
    byte twice;
    request ! 21;
    answer ? twice;
    assert(twice == 42)
}
