//! A maximum spanning forest, by which the parts of an image are counted at all levels together.

use crate::budget::Budget;
use crate::error::Result;

/// Heights that a node or an edge can have.
const HEIGHTS: usize = super::levels::MOST as usize + 1;

/// No further edge.
const END: u32 = u32::MAX;

/// Nodes and the edges between them by height.
///
/// At a level there are as many parts as nodes above it less the forest's edges above it. Over all levels that is
/// the sum of the nodes' heights less the sum of the forest's.
///
/// # Source
/// Kruskal, Proc. Am. Math. Soc. 7 (1956) 48.
#[derive(Debug)]
pub(super) struct Forest {
    /// The node above, itself for a root.
    above: Vec<u32>,
    /// Two nodes, and the next edge of the same height.
    edges: Vec<[u32; 3]>,
    /// The first edge of each height.
    first: [u32; HEIGHTS],
}

impl Forest {
    /// An empty forest with room for so many nodes and edges.
    pub(super) fn new(nodes: usize, edges: usize, budget: &mut Budget) -> Result<Self> {
        Ok(Self {
            above: room(nodes, budget)?,
            edges: room(edges, budget)?,
            first: [END; HEIGHTS],
        })
    }

    /// Bytes of a forest with room for so many.
    pub(super) fn bytes(nodes: u64, edges: u64) -> u64 {
        let edges = edges.saturating_mul(size_of::<[u32; 3]>() as u64);
        nodes
            .saturating_mul(size_of::<u32>() as u64)
            .saturating_add(edges)
    }

    /// How many nodes and edges there is room for.
    #[cfg(test)]
    pub(super) fn room(&self) -> [usize; 2] {
        [self.above.capacity(), self.edges.capacity()]
    }

    /// Forgets all nodes and edges.
    pub(super) fn clear(&mut self) {
        self.above.clear();
        self.edges.clear();
        self.first = [END; HEIGHTS];
    }

    /// Adds a node; its number.
    pub(super) fn node(&mut self) -> u32 {
        let node = number(self.above.len());
        self.above.push(node);
        node
    }

    /// Adds an edge. One of height 0 is none.
    pub(super) fn edge(&mut self, one: u32, other: u32, height: u8) {
        let at = number(self.edges.len());
        if let (1.., Some(first)) = (height, self.first.get_mut(usize::from(height))) {
            self.edges.push([one, other, *first]);
            *first = at;
        }
    }

    /// The sum of the heights of a maximum spanning forest. Edges are used up.
    pub(super) fn height(&mut self) -> u64 {
        let mut sum = 0;
        for (height, first) in self.first.into_iter().enumerate().rev() {
            let mut taken = 0;
            let mut at = first;
            while let Some(&[one, other, next]) = self.edges.get(at as usize) {
                let one = root(&mut self.above, one);
                let other = root(&mut self.above, other);
                if one != other {
                    self.above[one.max(other) as usize] = one.min(other);
                    taken += height as u64;
                }
                at = next;
            }
            sum += taken;
        }
        self.first = [END; HEIGHTS];
        sum
    }
}

/// The root of a node, whose way up is halved.
fn root(above: &mut [u32], mut node: u32) -> u32 {
    loop {
        let next = above[node as usize];
        if next == node {
            return node;
        }
        let further = above[next as usize];
        above[node as usize] = further;
        node = further;
    }
}

/// There are fewer nodes and edges than pixels, whose numbers are u32.
fn number(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(END)
}

fn room<T: Default + Clone>(len: usize, budget: &mut Budget) -> Result<Vec<T>> {
    let mut room = budget.allocate(len, "the parts of an image that is scored")?;
    room.clear();
    Ok(room)
}
