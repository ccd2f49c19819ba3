//! Spin's own optimisations of automata, so that numbers of states agree with its defaults.
