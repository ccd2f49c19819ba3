//! The colours of a state, in the byte that the visited set keeps with it.

/// What is kept with each state: its colour, whether it is red, whether it was expanded in full although
/// the model left something out, and how many accepting transitions the stack had when it became cyan.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Mark(u8);

/// How far the blue search is with a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Colour {
    White,
    Cyan,
    Blue,
}

impl Mark {
    const CYAN: u8 = 1;
    const BLUE: u8 = 2;
    const RED: u8 = 4;
    const FULL: u8 = 8;
    const COUNT_SHIFT: u32 = 4;
    pub(super) const COUNT_MAX: u8 = 15;

    pub(super) fn colour(self) -> Colour {
        match self.0 & 3 {
            0 => Colour::White,
            Self::CYAN => Colour::Cyan,
            _ => Colour::Blue,
        }
    }

    pub(super) fn is_red(self) -> bool {
        self.0 & Self::RED != 0
    }

    pub(super) fn is_full(self) -> bool {
        self.0 & Self::FULL != 0
    }

    pub(super) fn count(self) -> u8 {
        self.0 >> Self::COUNT_SHIFT
    }

    pub(super) fn enter(&mut self, count: u8) {
        self.0 = (self.0 & (Self::RED | Self::FULL)) | Self::CYAN | (count << Self::COUNT_SHIFT);
    }

    pub(super) fn leave(&mut self, red: bool, full: bool) {
        self.0 = (self.0 & !3) | Self::BLUE;
        if red {
            self.0 |= Self::RED;
        }
        if full {
            self.0 |= Self::FULL;
        }
    }

    pub(super) fn redden(&mut self) {
        self.0 |= Self::RED;
    }
}
