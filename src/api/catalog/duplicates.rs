//! Members of a JSON document that are there twice, of which readers would silently take the last.

use std::cell::RefCell;
use std::fmt;

use serde::de::{
    Deserialize as _, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor,
};

/// Paths of members that are there twice, as names from the outermost to the innermost.
pub(super) fn find(bytes: &[u8]) -> serde_json::Result<Vec<Vec<String>>> {
    let found = Found::default();
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    Look(&found).deserialize(&mut reader)?;
    reader.end()?;
    Ok(found.twice.into_inner())
}

#[derive(Default)]
struct Found {
    path: RefCell<Vec<String>>,
    twice: RefCell<Vec<Vec<String>>>,
}

#[derive(Clone, Copy)]
struct Look<'f>(&'f Found);

impl<'de> DeserializeSeed<'de> for Look<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Look<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut names: std::collections::BTreeSet<String> = std::collections::BTreeSet::new();
        while let Some(name) = map.next_key::<String>()? {
            self.0.path.borrow_mut().push(name.clone());
            if !names.insert(name) {
                let path = self.0.path.borrow().clone();
                self.0.twice.borrow_mut().push(path);
            }
            map.next_value_seed(self)?;
            self.0.path.borrow_mut().pop();
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(self)?.is_some() {}
        Ok(())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| ())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}
