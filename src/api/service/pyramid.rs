//! Tiles from the pyramid of a finished job.

use std::sync::Arc;

use super::Service;
use crate::api::jobs::document::Document;
use crate::api::jobs::held::Held;
use crate::api::jobs::keys::Key;
use crate::api::opened::{Opened, Pyramid};
use crate::api::version::SourceVersion;
use crate::error::Result;
use crate::raster::pyramid::TILE;
use crate::results::pyramid::Cubes;
use crate::results::stack::Description;

impl Service {
    /// Serves the tiles of an open stack from the pyramid of its [job](Self::pyramid_job), if that is done; tells the
    /// pyramid's key, which then is the source behind the exposures.
    ///
    /// Nothing of the pyramid is read: its shape follows from what the job was asked for. The dataset's version is not
    /// another one by it, for its tiles are not: a declared pyramid stays.
    ///
    /// # Errors
    /// Those of [`Description::parse`] and [`Cubes::new`].
    pub fn serve_pyramid(
        &mut self,
        dataset: &str,
        document: &Document,
        held: &Held,
    ) -> Result<Option<String>> {
        let job = self.pyramid_job(dataset);
        let is_it = job.is_some_and(|job| job.at.job == document.id);
        let Some(open) = self.open.get_mut(dataset).filter(|_| is_it && held.done) else {
            return Ok(None);
        };
        let Opened::Stack {
            pyramid: pyramid @ None,
            sources,
            ..
        } = &mut open.opened
        else {
            return Ok(None);
        };
        let job = Description::parse(&Key::Job.of(&document.id), document.work.as_bytes())?;
        let (cubes, head) = Cubes::new(&job.layout(), TILE)?;
        let key = Key::Result("pyramid.fits".to_owned()).of(&document.id);
        let seen = SourceVersion {
            size: Some(cubes.total()),
            ..SourceVersion::default()
        };
        *pyramid = Some(Arc::new(Pyramid::new(&key, cubes, &head)));
        *sources = sources.iter().cloned().chain([seen]).collect();
        Ok(Some(key))
    }
}
