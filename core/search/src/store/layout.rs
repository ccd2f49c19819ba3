//! Which nodes make up a key, and where.

/// The fields of a key.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// Words of the states it is for.
    pub length: u32,
    /// Its number among all layouts.
    pub number: u32,
    pub fields: Vec<Field>,
    pub bits: u32,
}

/// The name of a node, in a key.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    pub node: u32,
    pub shift: u8,
    pub width: u8,
}

/// Some bits of a key, and how far they go round.
#[derive(Clone, Copy, Debug)]
pub struct Shift {
    bits: u64,
    by: u32,
}

impl Shift {
    /// The bits of a key, where they go.
    #[inline]
    pub fn of(self, key: u64) -> u64 {
        (key & self.bits).rotate_left(self.by)
    }
}

impl Layout {
    /// Without fields: every word has one value.
    pub fn empty(length: usize, number: u32) -> Self {
        Self { length: length as u32, number, ..Self::default() }
    }

    /// Adds a field for a node; says where it begins.
    pub fn push(&mut self, node: u32, width: u8) -> u8 {
        let shift = self.bits as u8;
        self.bits += u32::from(width);
        self.fields.push(Field { node, shift, width });
        shift
    }

    /// Writes the names of its fields; all others are 0.
    pub fn read(&self, key: u64, names: &mut [u32]) {
        names.fill(0);
        for field in &self.fields {
            names[field.node as usize] = (key >> field.shift & low_bits(field.width)) as u32;
        }
    }

    /// The key in which the fields have these names.
    pub fn write(&self, names: &[u32]) -> u64 {
        self.fields.iter().map(|field| u64::from(names[field.node as usize]) << field.shift).sum()
    }

    /// How to move the bits of a key of an old layout to where they are in this one; `None` if a field of the old one
    /// is none of this one's. Neighbours that go equally far go together.
    pub fn shifts_from(&self, old: &Self) -> Option<Vec<Shift>> {
        let mut shifts: Vec<Shift> = Vec::new();
        for field in &old.fields {
            let new = self.fields.iter().find(|new| new.node == field.node)?;
            let bits = low_bits(field.width) << field.shift;
            let by = u32::from(new.shift.wrapping_sub(field.shift) & 63);
            match shifts.last_mut() {
                Some(last) if last.by == by => last.bits |= bits,
                _ => shifts.push(Shift { bits, by }),
            }
        }
        Some(shifts)
    }

    /// Memory in use, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        (size_of::<Self>() + self.fields.capacity() * size_of::<Field>()) as u64
    }
}

fn low_bits(width: u8) -> u64 {
    (1_u64 << width) - 1
}
