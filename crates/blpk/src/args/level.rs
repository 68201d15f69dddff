//! `-1` to `-9`, `--fast` and `--best`: the level, as gzip and zstd have it.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

/// The level of `-1`, also `--fast`, to `-9`, also `--best`; the last one counts.
#[derive(Clone, Copy, Debug)]
pub struct LevelFlags(pub Option<u8>);

/// Their names in the definition, in order.
const IDS: [&str; 9] = [
    "level_1", "level_2", "level_3", "level_4", "level_5", "level_6", "level_7", "level_8",
    "level_9",
];

impl Args for LevelFlags {
    fn augment_args(command: Command) -> Command {
        IDS.into_iter()
            .zip('1'..)
            .fold(command, |command, (id, digit)| {
                let flag = Arg::new(id).short(digit).action(ArgAction::SetTrue);
                let flag = match digit {
                    '1' => flag.long("fast"),
                    '9' => flag.long("best"),
                    _ => flag,
                };
                command.arg(
                    flag.hide(true)
                        .conflicts_with("level")
                        .overrides_with_all(IDS),
                )
            })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for LevelFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut given = IDS.into_iter().zip(1..);
        let given = given.find(|(id, _)| matches.get_flag(id));
        Ok(Self(given.map(|(_, level)| level)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
