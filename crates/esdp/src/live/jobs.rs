//! What becomes of a job: submitted, started, accepted or refused, ended, cancelled, lost.

use super::effect::Effect;
use super::event::EventError;
use super::{Job, JobTraits, Live, PORT_LEFT, REMEMBERED_NAMES};
use crate::model::{JobId, Observation, Outcome, Slot, Ticket};
use crate::scheduler::ClosedUse;

impl Live {
    pub(super) fn submit(
        &mut self,
        job: &str,
        port: &str,
        weight: f64,
        effects: &mut Vec<Effect>,
    ) -> Result<(), EventError> {
        if self.by_name.contains_key(job) {
            return self.again(format!("job `{job}` was submitted before"), effects);
        }
        if self.over.knows(job) {
            return self.again(format!("job `{job}` is over"), effects);
        }
        let at = self.names.port(port)?;
        check_weight(weight)?;
        let id = self.book.submit(at, weight, self.scheduler.slot());
        self.jobs.insert(id, Job { name: job.to_owned(), port: port.to_owned(), weight, traits: None });
        self.by_name.insert(job.to_owned(), id);
        Ok(())
    }

    pub(super) fn amend(
        &mut self,
        job: &str,
        weight: Option<f64>,
        traits: Option<&JobTraits>,
        effects: &mut Vec<Effect>,
    ) -> Result<(), EventError> {
        weight.map_or(Ok(()), check_weight)?;
        traits.map_or(Ok(()), JobTraits::check)?;
        let Some(&id) = self.by_name.get(job) else {
            if self.over.knows(job) {
                return self.again(format!("job `{job}` is over"), effects);
            }
            return Err(EventError::Unknown { what: "job", name: job.to_owned() });
        };
        if self.book.ticket_of(id).is_some() {
            return Err(EventError::Runs(job.to_owned()));
        }
        let known = self.jobs.get_mut(&id).expect("who has a name has an entry");
        let traits = traits.map(|traits| (!traits.is_empty()).then(|| Box::new(traits.clone())));
        let changes = (
            weight.filter(|&weight| weight != known.weight),
            traits.filter(|traits| *traits != known.traits),
        );
        if matches!(changes, (None, None)) {
            return self.again(format!("job `{job}` is as it should be"), effects);
        }
        if let Some(weight) = changes.0 {
            self.book.reweigh(self.names.port(&known.port)?, id, known.weight, weight);
            known.weight = weight;
        }
        if let Some(traits) = changes.1 {
            known.traits = traits;
        }
        Ok(())
    }

    pub(super) fn cancel(&mut self, job: &str, effects: &mut Vec<Effect>) -> Result<(), EventError> {
        let Some(&id) = self.by_name.get(job) else {
            if self.over.knows(job) {
                return self.again(format!("job `{job}` is over"), effects);
            }
            // The word of its submission may be late; it must not start then.
            self.over.add(job);
            return Ok(());
        };
        match self.book.ticket_of(id) {
            Some(ticket) => {
                let censored = self.book.lose(ticket)?;
                self.censor(&censored);
            }
            None => {
                let Job { port, weight, .. } = &self.jobs[&id];
                self.book.withdraw(self.names.port(port)?, id, *weight);
            }
        }
        self.forget_job(id);
        Ok(())
    }

    pub(super) fn end(&mut self, job: &str, effects: &mut Vec<Effect>) -> Result<(), EventError> {
        let Some(&id) = self.by_name.get(job) else {
            if self.over.knows(job) {
                return self.again(format!("job `{job}` is over"), effects);
            }
            return Err(EventError::Unknown { what: "job", name: job.to_owned() });
        };
        let Some(ticket) = self.book.ticket_of(id) else {
            return Err(EventError::Unknown { what: "running job", name: job.to_owned() });
        };
        self.accept_if_new(ticket)?;
        let started = self.book.started(ticket)?;
        let ran = started.port.map(|port| (port, started.slot));
        self.book.end(ticket)?;
        if let Some((port, started)) = ran {
            self.queue.ended(port, started, self.scheduler.slot());
        }
        self.forget_job(id);
        if self.directed && self.book.started(ticket).is_ok() {
            self.ended.add(job, ticket);
            if self.ended.len() > REMEMBERED_NAMES {
                self.give_up_on_old();
            }
        }
        Ok(())
    }

    /// Jobs that have ended and of which nobody reports: the older half is given up, or they would be kept
    /// for ever.
    fn give_up_on_old(&mut self) {
        for ticket in self.ended.oldest(REMEMBERED_NAMES / 2) {
            let censored = self.book.give_up(ticket);
            self.censor(&censored);
            self.ended.remove(ticket);
        }
    }

    /// A job that neither waits nor runs any more.
    pub(super) fn forget_job(&mut self, id: JobId) {
        self.queue.forget(id);
        if let Some(job) = self.jobs.remove(&id) {
            self.by_name.remove(&job.name);
            self.over.add(&job.name);
        }
    }

    pub(super) fn accept(&mut self, ticket: Ticket) -> Result<(), EventError> {
        let (slot, channels) = self.book.accept(ticket)?;
        self.scheduler.commit(slot, &channels);
        Ok(())
    }

    /// Who speaks of how a start went has accepted it.
    pub(super) fn accept_if_new(&mut self, ticket: Ticket) -> Result<(), EventError> {
        match self.book.started(ticket)?.accepted {
            true => Ok(()),
            false => self.accept(ticket),
        }
    }

    pub(super) fn refuse(&mut self, ticket: Ticket, effects: &mut Vec<Effect>) -> Result<(), EventError> {
        let refused = self.book.refuse(ticket)?;
        self.censor(&refused.censored);
        self.requeued(ticket, refused.job, refused.waits, effects);
        Ok(())
    }

    fn requeued(&mut self, ticket: Ticket, job: JobId, waits: bool, effects: &mut Vec<Effect>) {
        let name = self.jobs.get(&job).map_or_else(String::new, |job| job.name.clone());
        if waits {
            effects.push(Effect::Requeued { job: name, ticket });
        } else {
            // Whatever the reason not to run it there: nothing is left at which it could wait.
            self.lost(job, PORT_LEFT, effects);
        }
    }

    /// Takes uses back whose outcomes will not come.
    pub(super) fn censor(&mut self, uses: &[ClosedUse]) {
        for closed in uses {
            if let Some(channel) = closed.channel {
                let seen = Observation { slot: closed.slot, channel, outcome: Outcome::Censored };
                // The slot was decided and the channel is there: it was committed.
                let _ = self.scheduler.observe(&seen);
            }
        }
    }

    pub(super) fn lost(&mut self, job: JobId, why: &str, effects: &mut Vec<Effect>) {
        let name = self.jobs.get(&job).map_or_else(String::new, |job| job.name.clone());
        self.forget_job(job);
        effects.push(Effect::Lost { job: name, why: why.to_owned() });
    }

    pub(super) fn expire(&mut self, before: Slot, effects: &mut Vec<Effect>) -> Result<(), EventError> {
        let expired = self.book.expire(before);
        self.censor(&expired.censored);
        for (ticket, refused) in expired.refused {
            self.requeued(ticket, refused.job, refused.waits, effects);
        }
        Ok(())
    }
}

fn check_weight(weight: f64) -> Result<(), EventError> {
    match weight.is_finite() && weight > 0.0 {
        true => Ok(()),
        false => {
            let accepted = "a finite number above 0";
            Err(EventError::Number { key: "weight", value: weight, accepted })
        }
    }
}
