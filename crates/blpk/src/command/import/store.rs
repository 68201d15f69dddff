//! `import IN OUT.b2z`: a table of python-blosc2.

use bloscpack_open::exchange::{ImportOptions, import_store};

use super::Import;
use crate::dataset::source::ProgressSource;
use crate::failure::{About as _, Failure};
use crate::input;
use crate::layout::StoreForm;
use crate::session::Session;
use crate::status::Status;
use crate::store::{self, new_table};
use crate::text::count;

impl Import {
    /// Makes a store.
    pub(super) fn store(&self, form: StoreForm, session: &Session) -> Result<Status, Failure> {
        if self.index || self.expected_rows.is_some() {
            let title = format!("the layout {form} does not support --index or --expected-rows");
            return Err(Failure::usage(title).hint("python-blosc2 makes indexes itself"));
        }
        self.storage.refuse_axes()?;
        let name = input::name(&self.input);
        let new = store::new_target(&self.output, &self.input, form, session)?;
        let options = ImportOptions::new().keep_missing();
        let opened = self.reading.open(&self.input, options, session);
        let (source, file) = opened.about(&new)?;
        let import = || -> Result<u64, Failure> {
            let mut source = source.fields()?;
            if !source.schema().is_table {
                let title = format!("{name} is an array, and import makes stores of tables only");
                let hint = format!(
                    "blpk import makes a .b2nd of it, and blpk convert X.b2nd OUT.{form} a store of that"
                );
                return Err(Failure::usage(title).hint(hint));
            }
            let keeps_length = |name: &str| self.reading.has_type(name);
            let schema = source.schema().clone();
            let mut table = new_table(&new, &schema, keeps_length, &self.storage, session)?;
            let mut rows = ProgressSource::new(&mut *source, session);
            import_store(&mut rows, &mut table, &mut |_| ())?;
            table.finish().about(&new)
        };
        let rows = import().about(&new.made_from(&file))?;
        let made = new.commit(session)?.name;
        session.done(format_args!(
            "{name}, {}, imported into {made}",
            count(rows, "row")
        ));
        Ok(Status::Done)
    }
}
