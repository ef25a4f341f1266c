//! Into how many shards a job is cut, and what it will cost: a function of dataset, request and limits.

use std::rc::Rc;

use super::ask::{AnnotationAsked, Asked, Images, MedianAsked};
use super::document::{Document, Estimate};
use super::list::List;
use super::{MOST_SHARDS, assembly};
use crate::api::PROGRAM;
use crate::api::catalog::{Kind, StackEntry};
use crate::api::job::NewJob;
use crate::api::limits::Limits;
use crate::api::opened::Opened;
use crate::api::problem::Problem;
use crate::api::service::Service;
use crate::api::version::SourceVersion;
use crate::error::Error;
use crate::fits::Image;
use crate::ion::annotate::Ions;
use crate::ion::isotope::Instrument;
use crate::raster::pyramid::TILE;
use crate::results::Provenance;
use crate::results::part::whole::Depicted;
use crate::results::pyramid::{Cubes, PyramidJob};
use crate::results::shards::{self, Invocation, divide};
use crate::results::stack::headers::{last_name, without_query};
use crate::results::stack::{self, Input, Made};
use crate::stack::exposure::Stack;
use crate::stack::plan::{Plan, Wish};
use crate::stack::shards::{Limits as ShardLimits, Shards};
use crate::store::head::Head;

/// Requests in flight of one invocation.
pub const IN_FLIGHT: u32 = 6;

/// Requests of an invocation that are not for data: the catalog, what headers said, the job, listings, the part.
const ASIDE: u64 = 12;

/// Most bytes of a part of a median: it is held once here and once on its way into the bucket.
const MOST_PART: u64 = 8 << 20;

/// Nanoseconds of processor time that a pixel of a median takes in the assembly: copied, summed, and made tiles of.
const NANOSECONDS_A_PIXEL: u64 = 60;

/// What is planned: the estimate, and all that the parts depend on as text.
pub type Planned = (Estimate, String);

/// What a shard, and the assembly, may take: half of the memory, so that answers go on beside them.
#[must_use]
pub fn of_shards(limits: &Limits) -> Limits {
    Limits {
        memory: limits.memory / 2,
        ..*limits
    }
}

/// Plans a new job over an open dataset of a service; `list` is that of an annotation.
///
/// # Errors
/// Those of [`median`] and [`annotation`]; `busy` (503) if the dataset is not open any more.
pub fn plan(service: &Service, new: &NewJob, list: Option<&List>) -> Result<Document, Problem> {
    let limits = of_shards(service.limits());
    let name = &new.at.dataset;
    let declared = service
        .catalog()
        .dataset(name)
        .map(|declared| &declared.kind);
    let (estimate, work) = match (declared, service.dataset(name), &new.asked) {
        (
            Some(Kind::Stack(entry)),
            Some(Opened::Stack {
                stack,
                images,
                sources,
                ..
            }),
            Asked::Median(asked),
        ) => median(asked, entry, (stack, images, sources), &limits)?,
        (
            Some(Kind::Ions(_)),
            Some(Opened::Ions {
                head, instrument, ..
            }),
            Asked::Annotation(asked),
        ) => {
            let list = list.ok_or_else(|| Problem::new("internal", "the list was not read"))?;
            let subject = Subject {
                head: &Rc::new(Head::clone(head)),
                instrument: *instrument,
                list,
            };
            annotation(asked, &subject, &limits)?
        }
        _ => return Err(Problem::busy("the dataset is being opened; ask again", 1)),
    };
    Ok(Document::new(
        &new.at.id,
        new.asked.clone(),
        PROGRAM,
        estimate,
        &work,
    ))
}

/// What a shard of a median is computed with.
#[must_use]
pub fn wish(memory: u64) -> Wish {
    Wish {
        memory: memory.saturating_sub(part_bytes(memory)),
        in_flight: IN_FLIGHT,
        ..Wish::default()
    }
}

/// Bytes that a part of a median may have.
fn part_bytes(memory: u64) -> u64 {
    (memory / 4).min(MOST_PART)
}

/// Plans the median of a stack.
///
/// # Errors
/// `budget` (413) with the plan if not even the smallest shards, or not the assembly, stay within the limits; `job` for more
/// shards than the result has rows.
pub fn median(
    asked: &MedianAsked,
    entry: &StackEntry,
    (stack, images, sources): (&Stack, &[Image], &[SourceVersion]),
    limits: &Limits,
) -> Result<Planned, Problem> {
    let wish = wish(limits.memory);
    let whole = Plan::new(stack, &wish)?;
    let allowed = ShardLimits {
        requests: limits.requests.saturating_sub(ASIDE),
        cpu_ms: limits.cpu_ms,
        part_bytes: part_bytes(limits.memory),
    };
    let least = Shards::within(stack, &wish, &allowed).map_err(|error| too_much(error, limits))?;
    let shards = match asked.shards {
        Some(wanted) => Shards::new(whole.height(), wanted.max(least.count()))?,
        None => least,
    };
    let names: Vec<String> = (entry.exposures.iter())
        .map(|file| without_query(&file.url).to_owned())
        .collect();
    let first = images.first();
    let made = Made {
        stack,
        wish: &wish,
        plan: &whole,
        names: &names,
        hdu: first.map_or(0, |image| image.hdu),
        planes: first.map_or(1, |image| image.planes),
        plane: entry.plane,
    };
    let inputs = inputs(&names, stack, sources);
    let job = stack::Description::new(&made, inputs, shards.count())?;
    let cost = shards.cost(stack, &wish, shards.count() - 1)?;
    let estimate = Estimate {
        shards: shards.count(),
        requests: u64::from(shards.count()).saturating_mul(cost.requests + ASIDE),
        bytes: whole.payload_bytes,
        peak_bytes: cost.peak_bytes + cost.part_bytes,
        shard_cpu_ms: cost.cpu_ms,
        shard_requests: cost.requests + ASIDE,
        ..assembly_of(&job)?
    };
    allow(&estimate, &job, limits)?;
    Ok((estimate, job.to_text()?))
}

fn inputs(names: &[String], stack: &Stack, sources: &[SourceVersion]) -> Vec<Input> {
    let all = names.iter().zip(&stack.exposures).zip(sources);
    all.map(|((name, exposure), seen)| {
        let version = seen.etag.as_deref().or(seen.modified.as_deref());
        Input::new(exposure, name, seen.size, version)
    })
    .collect()
}

/// What putting the parts of a median together takes.
fn assembly_of(job: &stack::Description) -> Result<Estimate, Problem> {
    let layout = job.layout();
    let (cubes, _) = Cubes::new(&layout, TILE)?;
    let result_bytes = layout.total().saturating_add(cubes.total());
    Ok(Estimate {
        assembly_requests: assembly::requests(job)?.saturating_add(ASIDE),
        result_bytes,
        ..Estimate::default()
    })
}

/// Refuses a median whose parts cannot be put together in one invocation.
fn allow(estimate: &Estimate, job: &stack::Description, limits: &Limits) -> Result<(), Problem> {
    let (cubes, _) = Cubes::new(&job.layout(), TILE)?;
    let memory = PyramidJob::bytes(&cubes, job.shards as usize, 1);
    let pixels = u64::from(job.width) * u64::from(job.height);
    let cpu_ms = pixels.saturating_mul(NANOSECONDS_A_PIXEL) / 1_000_000;
    let takes = [
        ("shards", u64::from(estimate.shards), u64::from(MOST_SHARDS)),
        ("requests", estimate.assembly_requests, limits.requests),
        ("ms of processor time", cpu_ms, limits.cpu_ms),
        ("bytes of memory", memory, limits.memory),
    ];
    let Some((what, takes, allowed)) = takes.into_iter().find(|(_, takes, most)| takes > most)
    else {
        return Ok(());
    };
    let detail = format!(
        "putting the parts together takes {takes} {what}, of which {allowed} are allowed; run `sectile median --shard` and \
         `sectile assemble` where there is more"
    );
    Err(refused(detail, limits).with("plan", serde_json::json!(estimate)))
}

/// What an annotation is of: a store, its instrument, and a list.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The store's head.
    pub head: &'a Rc<Head>,
    /// The instrument that patterns are made for.
    pub instrument: Instrument,
    /// The molecules.
    pub list: &'a List,
}

/// Plans the annotation of a store; the ions are told too, for they are of use to whoever goes on.
///
/// # Cost
/// A pattern for each ion, some 10 µs.
///
/// # Errors
/// `parameter` (400) for a slice, adducts or a list that make no sense together; `budget` (413) if not even the smallest
/// shards stay within the limits.
pub fn annotation(
    asked: &AnnotationAsked,
    subject: &Subject<'_>,
    limits: &Limits,
) -> Result<Planned, Problem> {
    let head = subject.head;
    let ions = ions(asked, subject, limits.memory)?;
    let images = match asked.images {
        Images::All => Depicted::All,
        Images::First => Depicted::First,
        Images::None => Depicted::None,
    };
    let allowed = Invocation {
        requests: limits.requests.saturating_sub(ASIDE),
        cpu_ms: limits.cpu_ms,
        memory: beside(head, limits.memory),
        in_flight: IN_FLIGHT,
    };
    let division =
        divide(head, &ions, images, &allowed).map_err(|error| too_much(error, limits))?;
    let count = asked.shards.unwrap_or(0).max(division.shards);
    let mut provenance = Provenance::new(head, &subject.list.name, Some(subject.list.sha256));
    provenance.store = last_name(&provenance.store).to_owned();
    let job = shards::Description::new(&provenance, &ions, images, count)?;
    let shards = job.shards();
    if shards > MOST_SHARDS {
        let detail = format!(
            "{shards} shards are more than {MOST_SHARDS}; take a shorter list, or fewer adducts"
        );
        return Err(refused(detail, limits));
    }
    let estimate = Estimate {
        shards,
        requests: u64::from(shards).saturating_mul(division.requests + ASIDE),
        bytes: division.bytes,
        peak_bytes: division.memory,
        shard_cpu_ms: division.cpu_ms,
        shard_requests: division.requests + ASIDE,
        assembly_requests: u64::from(shards).saturating_mul(2).saturating_add(ASIDE),
        result_bytes: 0,
    };
    Ok((estimate, job.to_json()))
}

/// The ions that an annotation looks for.
///
/// # Errors
/// `parameter` (400); `budget` (413) if they do not fit the memory.
pub fn ions(
    asked: &AnnotationAsked,
    subject: &Subject<'_>,
    memory: u64,
) -> Result<Rc<Ions>, Problem> {
    let head = subject.head;
    let slice = slice(head, asked.slice)?;
    let polarity = &head.meta.polarity;
    let request = asked.request(&head.file, polarity, subject.instrument, slice)?;
    let left = memory.saturating_sub(head.held_bytes());
    let ions = Ions::new(subject.list.molecules.clone(), request, left)?;
    if ions.targets() == 0 {
        let detail = "no formula of the list has an ion with these adducts; nothing to look for";
        return Err(Problem::new("parameter", detail));
    }
    Ok(Rc::new(ions))
}

/// What of a memory is left for a shard's job: the head is held twice, by the open dataset and by the job.
#[must_use]
pub fn beside(head: &Head, memory: u64) -> u64 {
    memory.saturating_sub(head.held_bytes())
}

fn slice(head: &Head, asked: Option<i32>) -> Result<u32, Problem> {
    let known = &head.meta.slices;
    let Some(z) = asked else { return Ok(0) };
    let at = known.iter().position(|known| *known == z);
    at.and_then(|at| u32::try_from(at).ok()).ok_or_else(|| {
        let names: Vec<String> = known.iter().map(i32::to_string).collect();
        let detail = format!(
            "`slice` {z}: the store has slices at z = {}",
            names.join(", ")
        );
        Problem::new("parameter", detail)
    })
}

fn too_much(error: Error, limits: &Limits) -> Problem {
    match error {
        Error::Parameter { what, .. } => refused(what, limits),
        other => Problem::from(other),
    }
}

fn refused(detail: String, limits: &Limits) -> Problem {
    Problem::new("budget", detail).with("limits", serde_json::json!(limits))
}
