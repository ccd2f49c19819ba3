//! A printable text form of a program.
