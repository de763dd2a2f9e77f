//! What a caller may not do although its role allows it: a token for some ports reports for no others.

use super::{Command, Engine};
use crate::wire::{ApiError, Code, ObservationWire, TicketName};

impl Engine {
    /// Whether the caller may ask for this.
    pub(super) fn check_ports(&self, command: &Command) -> Result<(), ApiError> {
        if self.actor.ports.is_empty() {
            return Ok(());
        }
        match command {
            Command::Observe(observations) => {
                for (index, one) in observations.list.iter().enumerate() {
                    self.check_observation(one).map_err(|error| observations.at(index, error))?;
                }
                Ok(())
            }
            Command::Trainer { job, .. } => {
                self.port_of(job).map_or(Ok(()), |port| self.check_port("job", &port))
            }
            _ => Err(ApiError::new(Code::Forbidden, "this token only reports, for its own ports")),
        }
    }

    /// Whatever names the port of an observation must name one of the caller's. What nobody knows is refused
    /// or ignored where it is learned.
    fn check_observation(&self, one: &ObservationWire) -> Result<(), ApiError> {
        if let Some(port) = &one.port {
            self.check_port("port", port)?;
        }
        if let Some(port) = one.job.as_deref().and_then(|job| self.port_of(job)) {
            self.check_port("job", &port)?;
        }
        let ticket = one.ticket.as_deref().and_then(|ticket| ticket.parse::<TicketName>().ok());
        let start = ticket.and_then(|name| self.core.live().ok()?.start(name.ticket));
        start.map_or(Ok(()), |start| self.check_port("ticket", &start.port))
    }

    fn port_of(&self, job: &str) -> Option<String> {
        let live = self.core.live().ok()?;
        let started = live.ticket_of(job).and_then(|ticket| live.start(ticket));
        started.map(|start| start.port).or_else(|| live.port_of(job).map(str::to_owned))
    }

    fn check_port(&self, field: &str, port: &str) -> Result<(), ApiError> {
        let ports = &self.actor.ports;
        match ports.iter().any(|allowed| allowed == port) {
            true => Ok(()),
            false => Err(ApiError {
                field: Some(field.to_owned()),
                accepted: Some(ports.join(", ")),
                ..ApiError::new(Code::Forbidden, format!("this token does not report for port `{port}`"))
            }),
        }
    }
}
