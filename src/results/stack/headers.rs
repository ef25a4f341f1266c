//! The headers of a median's FITS file: the same for whoever computes it.

use super::layout::Layout;
use crate::error::Result;
use crate::fits::pixel::Bitpix;
use crate::fits::thinned::thinned;
use crate::fits::write::ImageHeader;
use crate::stack::exposure::Stack;
use crate::stack::plan::{Plan, Rect, Wish};

/// What a median is made of and how, as far as its headers say.
#[derive(Debug, Clone, Copy)]
pub struct Made<'a> {
    /// The exposures.
    pub stack: &'a Stack,
    /// What was asked for; of it, only whether a part of the image was.
    pub wish: &'a Wish,
    /// The plan of the whole median, even if it is computed in shards.
    pub plan: &'a Plan,
    /// The exposures' names as they are to stand in the file, one each; see [`without_query`].
    pub names: &'a [String],
    /// Index of the first exposure's HDU.
    pub hdu: u32,
    /// Planes of the first exposure's image.
    pub planes: u64,
    /// Which plane was taken, from 0 on.
    pub plane: u64,
}

impl Made<'_> {
    /// The layout of the FITS file, headers included. Nothing in them depends on when, where or how often it was
    /// computed, nor on a budget.
    ///
    /// # Errors
    /// Those of [`Layout::new`].
    pub fn layout(&self) -> Result<Layout> {
        let (carried, origin) = self.carried();
        let counted = carried
            .iter()
            .filter(|card| !card.starts_with("BUNIT"))
            .cloned();
        let (width, height) = (self.plan.width(), self.plan.height());
        let count = ImageHeader {
            origin,
            carried: counted.collect(),
            ..ImageHeader::count(width, height)
        };
        let primary = ImageHeader {
            origin,
            carried,
            unit: self.stack.unit.clone(),
            combined: u32::try_from(self.plan.exposures).ok(),
            history: self.history(),
            ..ImageHeader::primary(self.bitpix(), width, height)
        };
        Layout::new(&primary, &count)
    }

    /// Whether sky coordinates had to be left out, since those of a preview cannot be stated.
    #[must_use]
    pub fn loses_sky(&self) -> bool {
        let origin = [self.plan.rect.x0, self.plan.rect.y0];
        self.plan.step > 1 && thinned(&self.stack.cards, origin, self.plan.step).1
    }

    /// What is said of where the result comes from, one entry a line.
    #[must_use]
    pub fn history(&self) -> Vec<String> {
        let plan = self.plan;
        let mut lines = vec![format!(
            "sectile {}: per-pixel median without NaN of {} exposures, HDU {}",
            env!("CARGO_PKG_VERSION"),
            plan.exposures,
            self.hdu
        )];
        if self.planes > 1 {
            lines.push(format!("plane {} of {}", self.plane, self.planes));
        }
        lines.extend(self.stack.left_out.clone());
        if self.wish.rect.is_some() {
            let Rect { x0, y0, x1, y1 } = plan.rect;
            lines.push(format!(
                "pixels {x0},{y0} to {x1},{y1} (zero-based, half-open)"
            ));
        }
        if plan.step > 1 {
            lines.push(format!(
                "every {}th pixel of every {}th row",
                plan.step, plan.step
            ));
        }
        lines.extend(self.names.iter().cloned());
        lines
    }

    fn bitpix(&self) -> Bitpix {
        if self.stack.wide {
            Bitpix::F64
        } else {
            Bitpix::F32
        }
    }

    /// The cards that are carried over, and the first pixel that they are moved to.
    fn carried(&self) -> (Vec<String>, [u32; 2]) {
        let origin = [self.plan.rect.x0, self.plan.rect.y0];
        if self.plan.step > 1 {
            let (cards, _) = thinned(&self.stack.cards, origin, self.plan.step);
            return (cards, [0, 0]);
        }
        (self.stack.cards.clone(), origin)
    }
}

/// A URL up to its query; a path as it is.
///
/// A signed link's query is a secret and does not belong into a file that is passed on.
#[must_use]
pub fn without_query(name: &str) -> &str {
    match name.split_once("://") {
        Some(_) => name.split(['?', '#']).next().unwrap_or(name),
        None => name,
    }
}

/// The last part of a path or of a URL without its query.
///
/// Results call a store and a list by it: the folder that they were in is nobody's business.
#[must_use]
pub fn last_name(name: &str) -> &str {
    let name = without_query(name);
    name.rsplit(['/', '\\']).next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::without_query;

    #[test]
    fn secrets_of_links_are_left_out() {
        for (name, shown) in [
            (
                "https://a.example/b.fits?sig=1#x",
                "https://a.example/b.fits",
            ),
            ("a/what?.fits", "a/what?.fits"),
        ] {
            assert_eq!(without_query(name), shown);
        }
    }
}
