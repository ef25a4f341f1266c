//! The random numbers of numpy's `RandomState`, bit for bit.

/// Words of the state.
const WORDS: usize = 624;
/// How far behind the word lies that a new one is mixed with.
const OFFSET: usize = 397;

/// MT19937 with 32-bit outputs, seeded by one number (Matsumoto & Nishimura 1998, `init_genrand`).
///
/// [`shuffle`](Self::shuffle) and [`up_to`](Self::up_to) draw as `numpy.random.RandomState` does, whose sequences numpy
/// has frozen (NEP 19).
#[derive(Debug, Clone)]
pub struct Twister {
    words: [u32; WORDS],
    next: usize,
}

impl Twister {
    /// The generator that `numpy.random.RandomState(seed)` starts as.
    #[must_use]
    pub fn new(seed: u32) -> Self {
        let mut words = [seed; WORDS];
        let mut before = seed;
        for (word, n) in words.iter_mut().zip(0_u32..).skip(1) {
            before = (before ^ (before >> 30))
                .wrapping_mul(1_812_433_253)
                .wrapping_add(n);
            *word = before;
        }
        Self { words, next: WORDS }
    }

    /// The next 32 bits.
    pub fn bits(&mut self) -> u32 {
        if self.next == WORDS {
            self.turn();
        }
        let mut bits = self.words[self.next];
        self.next += 1;
        bits ^= bits >> 11;
        bits ^= (bits << 7) & 0x9D2C_5680;
        bits ^= (bits << 15) & 0xEFC6_0000;
        bits ^ (bits >> 18)
    }

    /// Computes the next 624 words.
    fn turn(&mut self) {
        for n in 0..WORDS {
            let upper = self.words[n] & 0x8000_0000;
            let mixed = upper | (self.words[(n + 1) % WORDS] & 0x7FFF_FFFF);
            let odd = (mixed & 1) * 0x9908_B0DF;
            self.words[n] = self.words[(n + OFFSET) % WORDS] ^ (mixed >> 1) ^ odd;
        }
        self.next = 0;
    }

    /// A whole number from 0 to `most`, both possible and all equally likely.
    ///
    /// Bits are masked to the next 2ᵏ − 1 and drawn again until they are small enough: numpy's `random_interval`, and
    /// `RandomState.randint(0, most + 1)`.
    pub fn up_to(&mut self, most: u32) -> u32 {
        let mask = u32::MAX.checked_shr(most.leading_zeros()).unwrap_or(0);
        loop {
            let drawn = self.bits() & mask;
            if drawn <= most {
                return drawn;
            }
        }
    }

    /// Shuffles as `RandomState.shuffle` does: Fisher–Yates from the last element down. Of more than 2³² elements
    /// those beyond stay.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            if let Ok(most) = u32::try_from(last) {
                items.swap(last, self.up_to(most) as usize);
            }
        }
    }
}
