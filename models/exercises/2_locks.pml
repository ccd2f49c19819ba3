/* Exercise 2. Two transfers need both accounts for themselves, and each takes one lock after the other.
 *
 * Who waits for whom in the deadlock? Change the order in which one of them takes its locks.
 */
bool locked[2];

inline take(account) { atomic { !locked[account]; locked[account] = true } }
inline give(account) { locked[account] = false }

active proctype There() {
    take(0);
    take(1);
    give(0);
    give(1)
}

active proctype Back() {
    take(1);
    take(0);
    give(1);
    give(0)
}
