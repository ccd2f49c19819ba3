byte turn, critical;
chan c = [2] of { byte };
active [2] proctype Worker() {
    turn = _pid;
    c!turn;
    critical++;
    /* 🙂 ä */ assert(critical == 1);
    critical--;
    c?turn
}
