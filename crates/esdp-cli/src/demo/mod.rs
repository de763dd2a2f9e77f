//! `esdp demo`: a service, a simulated cluster behind it, and the dashboard.

mod cluster;

use crate::load::client::Target;
use crate::load::player::Player;
use crate::output;
use anyhow::anyhow;
use clap::Args;
use esdp_serve::settings::SettingsFile;
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

const DETAILS: &str = "\
Starts a service with a temporary data directory, which is removed in the end, and behind it a
simulated cluster of 18 servers. One server runs at half of its speed. The service does not know
which; it finds out from the speeds of the jobs it places, usually within a minute.

Examples:
  esdp demo                             on a free port; opens the browser
  esdp demo --listen 127.0.0.1:7070     on this port
  esdp demo --no-open --pace 10         ten slots per second, and no browser";

/// Shows the service at work: a simulated cluster with a slow server, and the dashboard.
#[derive(Debug, Args)]
#[command(after_long_help = DETAILS, after_help = "See `esdp demo --help` for examples.")]
pub struct DemoArgs {
    /// The address to listen on; port 0 is a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Do not open a browser
    #[arg(long)]
    no_open: bool,
    /// Slots per second
    #[arg(long, value_name = "N", default_value_t = 4.0)]
    pace: f64,
}

/// Runs the demonstration until Ctrl-C.
pub(crate) fn run(args: &DemoArgs) -> anyhow::Result<()> {
    if !(args.pace > 0.0 && args.pace <= 1000.0) {
        anyhow::bail!("--pace {}: expected a number above 0, at most 1000", args.pace);
    }
    let data = tempfile::Builder::new().prefix("esdp-demo-").tempdir()?;
    let file = SettingsFile {
        data: Some(data.path().to_owned()),
        listen: Some(args.listen.into()),
        no_token: Some(true),

        log_level: Some("warn".to_owned()),
        ..SettingsFile::default()
    };
    let settings = crate::serve::settled(file)?;
    esdp_serve::log::start(&settings.log_level, settings.log_json).map_err(|error| anyhow!(error))?;
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let served = esdp_serve::run(&settings, |started| {
            let url = started.url();
            // Nobody to read it is no reason to stop.
            let _ = output::print(&introduction(&url, args.pace));
            if !args.no_open {
                open(&url);
            }
            let stop = &stop;
            scope.spawn(move || {
                // Once the service stops, it is expected not to answer.
                if let Err(error) = play(&url, args.pace, stop)
                    && !stop.load(Relaxed)
                {
                    output::note(&format!("the simulated cluster has stopped: {error:#}"));
                }
            });
        });
        stop.store(true, Relaxed);
        served
    })?;
    Ok(())
}

fn introduction(url: &str, pace: f64) -> String {
    format!(
        "The dashboard is at {url}\n\n\
         A simulated cluster of 18 servers runs behind it, {pace} slots per second. Look at:\n\
         - Servers: within a minute or so, {} is found to be slow. The service was not told.\n\
         - Learned speeds: every job type on every server, as far as it was tried.\n\
         - Last decisions: press Why to see why a job went where it did.\n\
         - Press on {} to drain it, and watch the jobs go elsewhere.\n\n\
         Ctrl-C ends it; nothing is kept.\n",
        cluster::SLOW,
        cluster::SLOW,
    )
}

/// Plays slots at a steady pace until told to stop.
fn play(url: &str, pace: f64, stop: &AtomicBool) -> anyhow::Result<()> {
    let target = Target::parse(url, None, None)?;
    let mut player = Player::new(&cluster::setting(), &target, "", 1)?.with_units(cluster::units());
    player.describe_to_service(&cluster::described(), false)?;
    let step = Duration::from_secs_f64(1.0 / pace);
    let mut due = Instant::now();
    while !stop.load(Relaxed) {
        player.play()?;
        player.tally = Default::default();
        // A slot that took long does not make the next ones hurry.
        due = (due + step).max(Instant::now());
        while !stop.load(Relaxed) && Instant::now() < due {
            let left = due.saturating_duration_since(Instant::now());
            std::thread::sleep(left.min(Duration::from_millis(100)));
        }
    }
    Ok(())
}

/// Opens a browser if there is one; silent if not.
fn open(url: &str) {
    let mut command = if cfg!(target_os = "macos") {
        Command::new("open")
    } else if cfg!(windows) {
        let mut command = Command::new("cmd");
        command.args(["/C", "start", ""]);
        command
    } else {
        // Without a screen, xdg-open would look for a browser in the terminal and take it over.
        if ["DISPLAY", "WAYLAND_DISPLAY"]
            .iter()
            .all(|name| std::env::var_os(name).is_none_or(|value| value.is_empty()))
        {
            return;
        }
        Command::new("xdg-open")
    };
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Ok(mut child) = command.spawn() {
        std::thread::spawn(move || child.wait());
    }
}
