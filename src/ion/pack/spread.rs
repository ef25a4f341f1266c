//! Rows to partitions: the first load is sorted to see where the m/z lie, then each partition has a
//! buffer.

use super::pile::Part;
use super::row::key;

/// Where rows go.
#[derive(Debug)]
pub(super) struct Spread {
    /// Most partitions.
    most: usize,
    /// First key of each partition but the first, ascending.
    pub(super) bounds: Vec<u64>,
    /// Rows in each buffer.
    fill: Vec<u32>,
    pub(super) parts: Vec<Part>,
    /// Rows that a buffer holds.
    pub(super) room: usize,
}

impl Spread {
    /// For `most` partitions in an arena of `rows` rows.
    pub(super) fn new(most: usize, rows: usize) -> Self {
        Self {
            most,
            bounds: Vec::new(),
            fill: Vec::new(),
            parts: Vec::new(),
            room: rows / most.max(1),
        }
    }

    /// Cuts the range of m/z by the first load, which is sorted; the answer is how many rows of the
    /// load belong to each partition.
    ///
    /// `range` are the smallest and the greatest key of all rows, where they are known: then a share
    /// of the bounds halves the range of keys again and again, so that even rows that are nothing like
    /// the load are split.
    pub(super) fn cut<const K: usize, const W: usize>(
        &mut self,
        load: &[[u8; W]],
        range: Option<(u64, u64)>,
    ) -> Vec<usize> {
        let mut bounds = Vec::with_capacity(self.most);
        let even = if range.is_some() { self.most / 4 } else { 0 };
        let quantiles = self.most - even;
        for i in 1..quantiles {
            let at = load.len() as u64 * i as u64 / quantiles as u64;
            let Some(row) = usize::try_from(at).ok().and_then(|at| load.get(at)) else {
                continue;
            };
            let own = key::<K, W>(row);
            // A key that takes a whole partition, or more, gets one of its own.
            bounds.push(if bounds.last() == Some(&own) {
                own + 1
            } else {
                own
            });
        }
        if let Some((min, max)) = range {
            let step = ((max - min) / (even as u64 + 1)).max(1);
            bounds.extend((1..=even as u64).map_while(|i| min.checked_add(step.checked_mul(i)?)));
        }
        bounds.sort_unstable();
        bounds.dedup();
        self.bounds = bounds;
        let partitions = self.bounds.len() + 1;
        self.parts = vec![Part::EMPTY; partitions];
        self.refill();
        let mut counts = vec![0; partitions];
        let mut from = 0;
        for (part, count) in counts.iter_mut().enumerate() {
            let end = match self.bounds.get(part) {
                Some(bound) => load.partition_point(|row| key::<K, W>(row) < *bound),
                None => load.len(),
            };
            *count = end - from;
            self.note::<K, W>(part, &load[from..end]);
            from = end;
        }
        counts
    }

    /// Makes buffers, all empty, for partitions that were cut before.
    pub(super) fn refill(&mut self) {
        self.fill = vec![0; self.parts.len()];
    }

    /// Partitions, after the cut.
    pub(super) fn len(&self) -> usize {
        self.parts.len()
    }

    /// Counts rows of one partition, which ascend.
    fn note<const K: usize, const W: usize>(&mut self, part: usize, rows: &[[u8; W]]) {
        if let [first, .., last] | [first @ last] = rows {
            let part = &mut self.parts[part];
            part.rows += rows.len() as u64;
            part.min = part.min.min(key::<K, W>(first));
            part.max = part.max.max(key::<K, W>(last));
        }
    }

    /// Moves rows into their buffers, from `*from` on, until all are moved or a buffer is full: the
    /// answer is which.
    ///
    /// # Cost
    /// Fastest for rows that ascend: a partition is looked for near that of the row before.
    pub(super) fn push<const K: usize, const W: usize>(
        &mut self,
        arena: &mut [[u8; W]],
        rows: &[[u8; W]],
        from: &mut usize,
    ) -> Option<usize> {
        while let Some(row) = rows.get(*from) {
            let own = key::<K, W>(row);
            let part = self.find(own);
            let below = self.bounds.get(part).copied();
            let start = part * self.room + self.fill[part] as usize;
            let free = &mut arena[start..(part + 1) * self.room];
            let (mut count, mut last) = (0, own);
            for (to, row) in free.iter_mut().zip(&rows[*from..]) {
                let own = key::<K, W>(row);
                if own < last || below.is_some_and(|below| own >= below) {
                    break;
                }
                *to = *row;
                last = own;
                count += 1;
            }
            self.note::<K, W>(part, &rows[*from..*from + count]);
            *from += count;
            self.fill[part] += u32::try_from(count).unwrap_or(u32::MAX);
            if self.fill[part] as usize == self.room {
                return Some(part);
            }
        }
        None
    }

    /// The partition of a key.
    fn find(&self, key: u64) -> usize {
        self.bounds.partition_point(|bound| *bound <= key)
    }

    /// Takes the rows of a buffer: how many there were. They stay where they are.
    pub(super) fn empty(&mut self, part: usize) -> usize {
        std::mem::take(&mut self.fill[part]) as usize
    }

    /// Moves the rows of all buffers together to the arena's start; the answer is how many of each.
    pub(super) fn gather<const W: usize>(&mut self, arena: &mut [[u8; W]]) -> Vec<usize> {
        let mut to = 0;
        let mut counts = Vec::with_capacity(self.parts.len());
        for part in 0..self.parts.len() {
            let count = self.empty(part);
            let start = part * self.room;
            arena.copy_within(start..start + count, to);
            to += count;
            counts.push(count);
        }
        counts
    }
}
