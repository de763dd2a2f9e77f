//! Which member a job waits for, where tasks wait for each other, and what would be faster.

use super::Live;
use super::explain::StartReason;
use crate::model::{ChannelId, PortId};

impl Live {
    /// Says of a job that runs as fast as its slowest task whose pace that is, in the reason of that server.
    pub(super) fn tell_pace(&self, port: PortId, reasons: &mut [StartReason]) {
        let cluster = self.scheduler.cluster();
        let Some(crossing) = cluster.crossing(port).filter(|_| reasons.len() > 1) else { return };
        let slower = |a: &usize, b: &usize| {
            reasons[*a].belief.estimate.total_cmp(&reasons[*b].belief.estimate).then(a.cmp(b))
        };
        let Some(at) = (0..reasons.len()).min_by(slower) else { return };
        let used = |server: &str| reasons.iter().any(|reason| reason.belief.channel.server == server);
        let spans =
            reasons.iter().any(|other| other.belief.channel.server != reasons[at].belief.channel.server);
        let slowest = &reasons[at];
        let kept = match spans && crossing < 1.0 {
            true => format!(", times {crossing} for spanning servers"),
            false => String::new(),
        };
        let name = |channel: ChannelId| &cluster.servers()[cluster.channel(channel).server.index()];
        let group = |channel: ChannelId| cluster.group_name(cluster.task_group(channel));
        let known = |channel: ChannelId| Some((self.belief(channel)?.estimate, channel));
        let faster =
            cluster.channels_of(port).iter().copied().filter_map(known).filter(|&(estimate, channel)| {
                estimate > slowest.belief.estimate
                    && group(channel) == slowest.belief.channel.group
                    && !used(name(channel))
            });
        // The next better set is the one whose slowest member is as little faster as can be.
        let next = faster.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let better = match next {
            None => "no server that it does not use is faster".to_owned(),
            Some((estimate, channel)) => {
                let (server, tasks) = (name(channel), slowest.tasks);
                match self.missing(channel) {
                    Some(missing) => format!(
                        "the next better set would wait for {server} with {estimate:.3}: {missing} for \
                         each of {tasks} tasks"
                    ),
                    None => format!(
                        "the next better set has {server} with {estimate:.3}, where one more task \
                         has room and {tasks} are asked for"
                    ),
                }
            }
        };
        let told = format!(
            "; the job runs at the pace of {}, {:.3}{kept}; {better}",
            slowest.belief.channel.server, slowest.belief.estimate
        );
        reasons[at].sentence.push_str(&told);
    }
}
